import { application, HOOKS, kebabCased } from './application.js'

const MODULES = Object.keys(application)
const CONTROLLERS = [...new Set(Object.values(application).flatMap(Object.keys))]
const ACTIONS = [
  ...new Set(Object.values(application).flatMap(Object.values).flat().map(kebabCased)),
]
const RESERVED = words`module controller action q error_handler`
const WORDS = words`id a b A tag page 42 true abc continue client_id lifecycle signin v2 index.php .env`
// Names that JavaScript objects inherit or treat specially.
const HAZARDS = words`__proto__ constructor hasOwnProperty toString then prototype length name get default`
const ZEROS = words`0 00 0.0 -0 +0 %30 0e0 1 -1 01 false null undefined NaN`
const ODD = words`
  . .. ... %2e %2e%2e - -- _ __ ! ~ * ' " ( ) , ; : @ $ & = + | \ ^ { } [ ] < > # % %% %z %2 %u0041
  %20 %09 %0d%0a %00 %7f %1b %2F %5C %25 %252F %2500 %26 %3D %23 %3F %3B %2B %41 %6E %5B %5D
  %C3%A9 %E2%82%AC %F0%9F%98%80 %E2%84%AA %C4%B0 %EF%BB%BF %E2%80%A8 %C2%85 %C2%A0 %C2%AD
  %FF %C3 %C3%28 %E2%82 %ED%A0%80 %C0%AF %F4%90%80%80 %80 k=v a&b a%26b=c a%26q=x %26module=admin
`
// Keys that PHP's parser for queries and forms changes.
const KEYS = words`
  a[] a[b] a[b][] a[b][c] a[ a] [a] [] [ a[b a[b]c a[[b]] a[0] a.b .a a. +a %20a + a+b a%20b a%5Bb%5D
  a%00b %00 x.y[z.w] a[b.c] a[+b] q[] q[x] module[] error_handler[type] q. +q GLOBALS _GET this
  0 5 -1 9223372036854775808 __proto__[x]
`
const PREFIXES = words`// /// /./ /../ /index.php/ /index.php /%2F`
const SUFFIXES = words`/ // /// /. /.. %2F /0 /%30 /module /action /controller /error_handler`
const ORIGINS = words`
  http://127.0.0.1:8081 http://other.test HTTP://127.0.0.1:8081 https://u:p@h:1 http://[::1]:80 http://
  a+b.c://h 1a://h http:/ mailto:x //host * foo h:80 ?a=1
`
const ROUTED_HEADERS = words`X-Original-URL X-Rewrite-URL X-Forwarded-Prefix X-HTTP-Method-Override`
// Instructions for hooks and actions, such as `preDispatch1=throw`: portico.js and application.php follow them.
const HOOKED = words`guarded guarded trapping trapping news admin/report`
const KINDS = [...HOOKS, 'action']
const INSTRUCTIONS = words`
  throw redirect end status.304 status.404 status.302 forward.list forward.index forward.orders
  forward.index.guarded forward.list.guarded forward.list.trapping forward.index.trapping forward.list.news
`
const METHODS = words`HEAD PUT PATCH DELETE OPTIONS TRACE PROPFIND`
const FORM = 'application/x-www-form-urlencoded'
const TYPES = [
  ...['', '', '', ';', ',', ' x', ' ; x', ', text/plain', 'x', '; foo=bar', ';charset=utf-8'],
  ...['; charset="UTF-8"', '; charset=utf8', '; charset=', '; charset=ISO-8859-1'],
].map((rest) => FORM + rest)
TYPES.push('Application/X-WWW-Form-URLEncoded', 'application/json', 'multipart/x', '')
// Just below and above the limits of section 7 of the specification.
const MANY = [998, 999, 1000, 1001, 1002, 2000]
const LONG = [8191, 8192, 8193]

function words({ raw: [text] }) {
  return text.trim().split(/\s+/)
}

/** Yields `count` different requests: changed vectors, and requests from a grammar. A seed always gives the same requests. */
export function* generate(seed, count, vectors) {
  const grammar = new Grammar(seed, vectors)
  const seen = new Set()
  while (seen.size < count) {
    const request = grammar.request()
    const id = JSON.stringify(request)
    if (seen.has(id) || !isSendable(request)) continue
    seen.add(id)
    yield request
  }
}

/** Returns whether a client can send the request, and PHP on the command line can parse it: it does not parse multipart forms. */
export function isSendable({ target, headers, body }) {
  const isMultipart = headers.some(([, value]) => value.startsWith('multipart/form-data'))
  return /^[\x21-\x7e]{1,20000}$/.test(target) && body.isWellFormed() && !isMultipart
}

class Grammar {
  #state
  #vectors

  constructor(seed, vectors) {
    this.#state = seed
    this.#vectors = vectors.map(({ request }) => request)
  }

  request() {
    if (this.#chance(0.2)) return this.#hooked()
    return this.#chance(0.35) ? this.#changed() : { ...this.#message(), target: this.#target() }
  }

  // Returns a request whose hooks and actions throw, redirect and forward.
  #hooked() {
    const action = this.#pick(['index', 'list', 'orders', this.#name(ACTIONS)])
    const instruction = () =>
      `${this.#pick(KINDS)}${this.#pick([1, 1, 2])}=${this.#pick(INSTRUCTIONS)}`
    const instructions = this.#times(this.#below(5), instruction)
    const method = this.#pick(['GET', 'GET', 'HEAD', 'DELETE'])
    const target = `/${this.#pick(HOOKED)}/${action}?${instructions.join('&')}`
    return { method, target, headers: [], body: '' }
  }

  // Returns a vector with one to three changes to its target and its body.
  #changed() {
    const { method, target, headers, body } = this.#pick(this.#vectors)
    return { method, target: this.#mangled(target), headers, body: body && this.#mangled(body) }
  }

  #mangled(text) {
    let changed = text
    for (let left = 1 + this.#below(3); left > 0; left--) {
      const at = this.#below(changed.length + 1)
      const end = at + this.#below(5)
      const part = changed.slice(at, end)
      const replacements = [part + part, '', this.#text(), this.#pick(SUFFIXES), otherCase(part)]
      changed = changed.slice(0, at) + this.#pick(replacements) + changed.slice(end)
    }
    return changed
  }

  #message() {
    const headers = this.#chance(0.01) ? [[this.#pick(ROUTED_HEADERS), this.#path()]] : []
    if (this.#chance(0.6)) return { method: 'GET', headers, body: '' }
    headers.push(['Content-Type', this.#pick(TYPES)])
    if (this.#chance(0.02)) {
      headers.push(['Content-Encoding', this.#pick(['gzip', 'identity', 'Identity', ''])])
    }
    const method = this.#chance(0.8) ? 'POST' : this.#pick(METHODS)
    return { method, headers, body: this.#fields() + (this.#chance(0.03) ? '&é=ü\r\n' : '') }
  }

  #target() {
    const target = this.#path() + (this.#chance(0.5) ? `?${this.#fields()}` : '')
    if (this.#chance(0.02)) return this.#pick(ORIGINS) + target
    if (this.#chance(0.002)) return target.padEnd(this.#pick(LONG), 'x')
    return this.#chance(0.002) ? target + '/a/'.repeat(this.#pick(MANY)) : target
  }

  #path() {
    const segments = []
    if (this.#chance(0.35)) segments.push(this.#name(MODULES))
    segments.push(this.#name(CONTROLLERS))
    if (this.#chance(0.85)) segments.push(this.#name(ACTIONS))
    if (this.#chance(0.6)) segments.push(...this.#pairs())
    if (this.#chance(0.1)) segments.splice(this.#below(segments.length + 1), 0, '')
    const start = this.#chance(0.08) ? this.#pick(PREFIXES) : '/'
    return start + segments.join('/') + (this.#chance(0.2) ? this.#pick(SUFFIXES) : '')
  }

  #pairs() {
    const keys = [this.#text(), this.#text()]
    return this.#times(this.#below(9), (i) =>
      i % 2 === 0 && this.#chance(0.5) ? this.#pick(keys) : this.#text(),
    )
  }

  #fields() {
    const keys = [this.#key(), this.#key()]
    const field = () => {
      const key = this.#chance(0.4) ? this.#pick(keys) : this.#key()
      return this.#pick([key, ...this.#times(8, () => `${key}=${this.#text()}`), '', '='])
    }
    const fields = this.#times(this.#below(6), field)
    if (this.#chance(0.004)) {
      const key = this.#pick(['a', 'a[]=', ''])
      fields.push(...this.#times(this.#pick(MANY), (i) => key || `k${i}`))
    }
    return fields.join(this.#chance(0.03) ? this.#pick(['&&', ';', '?', '#']) : '&')
  }

  #name(registered) {
    if (this.#chance(0.5)) return this.#pick(registered)
    if (this.#chance(0.4)) return this.#twisted(this.#pick(registered))
    return this.#pick(this.#pick([HAZARDS, WORDS, ZEROS, ODD, CONTROLLERS, ACTIONS]))
  }

  #key() {
    return this.#chance(0.3) ? this.#pick(KEYS) : this.#text()
  }

  #text() {
    const text = this.#pick(this.#pick([WORDS, WORDS, HAZARDS, ODD, ZEROS, RESERVED, CONTROLLERS]))
    return this.#chance(0.1) ? this.#twisted(text) : text
  }

  // Returns a variant of a name: some fold to the name, and some only look similar.
  #twisted(name) {
    const at = this.#below(name.length + 1)
    const [before, after] = [name.slice(0, at), name.slice(at)]
    return this.#pick([
      name.toUpperCase(),
      before + otherCase(after),
      name.replace(/-(.)/g, (_, letter) => letter.toUpperCase()),
      name.replaceAll('-', this.#pick(['', '.', '_', '--', '+', '%2D'])),
      before + after.slice(1),
      before + after.replace(/^./, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
      before + this.#pick(['-', '.', '_', '!', '+', '0', '%20']) + after,
      before + this.#pick(ODD) + after,
    ])
  }

  #times(length, make) {
    return Array.from({ length }, (_, i) => make(i))
  }

  #pick(list) {
    return list[this.#below(list.length)]
  }

  #chance(probability) {
    return this.#random() < probability
  }

  #below(limit) {
    return Math.floor(this.#random() * limit)
  }

  // mulberry32
  #random() {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function otherCase(text) {
  const upper = text.toUpperCase()
  return text === upper ? text.toLowerCase() : upper
}
