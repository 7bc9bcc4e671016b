// Generates routes, requests to them, and URLs to build. A seed always gives the same jobs.

const words = ({ raw: [text] }) => text.trim().split(/\s+/)

const CONTROLLERS = words`news account full`
const VALUES = words`5 2006 07 de en x abc a-b A News admin %41b a%2Fb a+b %C3%A4 a%20b edit new index`
const ODD = ['', '%61rchive', 'ARCHIVE', '1e1']
const KEYS = words`k page sort id lang account action controller year`
const LITERALS = words`archive news a b x10`
const REQUIREMENTS = words`\d+ [a-z]+ [a-z]{2} \d{4}|last [A-Z]\w*`
const HOSTS = words`:account.news.example www.:tld shop.example :account.:tld`
const SENT_HOSTS = [
  ...words`acme.news.example ACME.news.example:8080 www.de www.AT shop.example Shop.Example.`,
  ...words`other.example .shop.example acme.news.example:x a%62.news.example x.y.z [::1] acme.de`,
]
// With texts that match, or almost.
const REGEXES = [
  {
    regex: 'archive/(\\d{4})-(\\w+)\\.html',
    map: { 1: 'year', 2: 'slug' },
    reverse: 'archive/%d-%s.html',
    texts: words`archive/2006-x.html Archive/2006-abc.HTML archive/0206-x.html archive/2006-x%2Ehtml`,
  },
  {
    regex: 'blog(?:/(\\d+))?(?:/([a-z]+))?',
    map: { 1: 'id' },
    reverse: 'blog/%s/%s',
    texts: words`blog blog/5 blog/x blog/5/x BLOG/X blog%2F5`,
  },
  {
    regex: 'to/(\\w+)/(\\w*)',
    map: { controller: 1, action: 2 },
    reverse: 'to/%s/%s',
    texts: words`to/news/list to/n%65ws/list to/news/ to/news`,
  },
  { regex: 'a|b', texts: words`a b ax xb` },
  {
    regex: 'u/(.{2})',
    map: { 1: 'id' },
    reverse: 'u/%s',
    texts: words`u/ab u/%C3%A4 u/%C3%A4b u/a+ u/abc`,
  },
  {
    regex: '(.*)/end',
    reverse: '%s/end',
    texts: words`x/end /end a/b/end x%2Fend %2F/end end/end`,
  },
  { regex: 's-(\\d+)', map: { n: 1 }, reverse: 's-%d', texts: words`s-5 S-12 s-x s-%35 s-5x` },
  { regex: '([a-z]+)', map: { lang: 1 }, reverse: '%s', texts: words`de EN d3 %64e` },
]
const RESTS = [
  true,
  ['admin'],
  { default: ['news', 'full'], admin: ['report'] },
  { default: ['full'] },
]
const REST_PATHS = [
  ...words`news news/5 news/new news/5/edit news/edit news/1/2/edit news/index/page/2 news/id/5 news/new/a/1`,
  ...words`full full/5 admin admin/report admin/report/5 admin/news api/x/5 default/news account/5 news/k/1/k/2/x`,
]
const METHODS = words`GET GET GET GET POST PUT PATCH DELETE HEAD OPTIONS`

/** Yields `count` jobs: routes, a request, and in some a URL to build. */
export function* generateJobs(seed, count, hasRest) {
  const random = new Random(seed)
  for (let left = count; left > 0; ) {
    const job = new Job(random).toJson()
    if (!isSendable(job.request.target)) continue
    if (!hasRest && job.routes.some(([, { rest }]) => rest)) continue
    left--
    yield job
  }
}

class Job {
  #random
  #routes = []
  #hosts = []

  constructor(random) {
    this.#random = random
  }

  toJson() {
    const { pick, chance, below } = this.#random
    for (let left = 1 + below(4); left > 0; left--) this.#addRoute()
    const [name] = pick(this.#routes)
    const path = chance(0.85) ? this.#pathOf(name) : pick([...REST_PATHS, 'news/list/k/v', ''])
    const search = chance(0.05) ? pick(['?id=5', '?_method=PUT', '?k=v']) : ''
    const request = {
      method: pick(METHODS),
      target: `/${chance(0.05) ? path.toUpperCase().replace(/%\w/g, '%2') : path}${chance(0.1) ? '/' : ''}${search}`,
      host: pick(
        this.#hosts.length > 0 ? [...this.#hosts, ...this.#hosts, ...SENT_HOSTS] : SENT_HOSTS,
      ),
      scheme: pick(['http', 'https']),
      override: chance(0.02) ? 'DELETE' : '',
    }
    return { routes: this.#routes, request, ...(chance(0.4) ? { url: this.#url() } : {}) }
  }

  #addRoute() {
    const { pick, chance } = this.#random
    const name = `r${this.#routes.length}`
    const parents = this.#routes.filter(([, { rest, path = '' }]) => !rest && !path.endsWith('*'))
    const parent = parents.length > 0 && chance(0.4) ? pick(parents) : undefined
    const kind =
      parent === undefined
        ? pick(words`path path path regex host rest`)
        : pick(words`path path regex rest`)
    const pattern = this.#pattern(kind)
    if (parent !== undefined) {
      pattern.under = parent[0]
      const isText = parent[1].regex || /^(?!.*:).+$/.test(parent[1].path ?? ':')
      if (isText && chance(0.3)) {
        pattern.separator = pick(['-', '..'])
        if (parent[1].path) parent[1].static = true
      }
    }
    if (chance(0.15)) pattern.abstract = true
    this.#routes.push([name, pattern])
  }

  #pattern(kind) {
    const { pick, chance } = this.#random
    const own = {}
    const defaults = {}
    if (chance(0.8)) defaults.controller = pick(CONTROLLERS)
    if (chance(0.3)) defaults.action = pick(['list', 'view'])
    if (chance(0.2)) defaults[pick(['page', 'lang', 'id'])] = pick(['7', 'en', ''])
    if (kind === 'host' || chance(0.12)) {
      own.host = pick(HOSTS)
      const sent = own.host.replace(':account', 'acme').replace(':tld', 'de')
      this.#hosts.push(sent, sent.toUpperCase(), pick(SENT_HOSTS))
      if (own.host.includes(':tld') && chance(0.5)) defaults.tld = 'de'
      if (chance(0.3)) own.scheme = 'https'
      if (kind === 'host' && chance(0.7)) return { ...own, defaults }
    }
    if (kind === 'regex') {
      const { texts: _, ...regex } = pick(REGEXES)
      if (!chance(0.9)) delete regex.reverse
      return { ...own, ...regex, defaults }
    }
    if (kind === 'rest') return { ...own, rest: pick(RESTS) }
    return { ...own, ...this.#path(defaults), defaults }
  }

  #path(defaults) {
    const { pick, chance, below } = this.#random
    const requirements = {}
    const names = ['id', 'lang', 'year', 'page']
    const parts = Array.from({ length: below(4) }, () => {
      if (chance(0.5)) return pick(LITERALS)
      const name = chance(0.1)
        ? pick(['controller', 'action'])
        : names.splice(below(names.length), 1)[0]
      if (chance(0.4)) requirements[name] = pick(REQUIREMENTS)
      if (chance(0.3) && !defaults[name])
        defaults[name] = name === 'controller' || name === 'action' ? 'news' : pick(['1', 'en'])
      return `:${name}`
    })
    const unique = parts.filter((part, i) => !part.startsWith(':') || parts.indexOf(part) === i)
    if (chance(0.25)) unique.push('*')
    return {
      path: unique.join('/'),
      ...(Object.keys(requirements).length > 0 ? { requirements } : {}),
    }
  }

  // Returns a path that the route probably matches.
  #pathOf(name) {
    const [, pattern] = this.#routes.find(([each]) => each === name)
    const own = this.#ownPathOf(pattern)
    if (pattern.under === undefined) return own
    const parent = this.#pathOf(pattern.under)
    const isEmpty = own === '' || (parent === '' && this.#random.chance(0.5))
    return isEmpty ? parent + own : parent + (pattern.separator ?? '/') + own
  }

  #ownPathOf({ path, regex, rest }) {
    const { pick, chance, below } = this.#random
    if (regex) return pick(REGEXES.find((each) => each.regex === regex).texts)
    if (rest) return pick(REST_PATHS)
    if (path === undefined) return ''
    const parts = path === '' ? [] : path.split('/')
    const segments = parts.flatMap((part) => {
      if (part === '*')
        return Array.from({ length: below(6) }, (_, i) => (i % 2 ? this.#value() : pick(KEYS)))
      if (part.startsWith(':')) return chance(0.05) ? pick(ODD) : this.#value()
      return chance(0.05) ? pick(ODD) : part
    })
    return segments.slice(0, chance(0.15) ? below(4) : undefined).join('/')
  }

  #value() {
    return this.#random.pick(VALUES)
  }

  #url() {
    const { pick, chance, below } = this.#random
    const params = {}
    for (let left = below(4); left > 0; left--) {
      const value = chance(0.1)
        ? null
        : pick([...words`5 2006 abc de x 07 news`, 'a b', 'a/b', 'ä'])
      params[pick([...KEYS, 'slug', 'n', 'tld', '1', '2'])] = value
    }
    if (chance(0.3)) params.controller = pick(CONTROLLERS)
    const name = chance(0.5) ? null : pick(this.#routes)[0]
    return { params, name, reset: chance(0.3) }
  }
}

function isSendable(target) {
  try {
    return !/\p{Cc}/u.test(decodeURIComponent(target.split('?')[0]))
  } catch {
    return false
  }
}

class Random {
  #state

  constructor(seed) {
    this.#state = seed
  }

  pick = (list) => list[this.below(list.length)]
  chance = (probability) => this.#next() < probability
  below = (limit) => Math.floor(this.#next() * limit)

  // mulberry32
  #next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
