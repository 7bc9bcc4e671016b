import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { describe, it } from 'node:test'
import { FormBody } from '../../lib/http/body.ts'
import { HttpRequest, stateOf, withState } from '../../lib/http/request.ts'
import { scrubAll } from '../../lib/scrubbing/scrub.ts'
import { timeRatio } from '../support/time-ratio.ts'

const TOKEN = 'c4n4ry-Token'

interface Sent {
  readonly search?: string
  readonly pairs?: string
  readonly form?: string
  readonly headers?: Record<string, string | string[]>
}

function requestOf({ search = '', pairs = '', form = '', headers = {} }: Sent): HttpRequest {
  const path = `/news/list${pairs && `/${pairs}`}`
  return withState(new HttpRequest({ target: `${path}?${search}`, headers }), {
    path,
    q: path,
    route: { module: 'default', controller: 'news', action: 'list', pairs },
    form: new FormBody(Buffer.from(form)),
    settings: { maxBodyBytes: 1, trusted: new BlockList() },
  })
}

// A text without repetitions, which would cost the search of short values more.
function varied(length: number): string {
  let state = 1
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647
    return (state % 36).toString(36)
  }).join('')
}

// The value is that of one parameter, as it was sent.
function sent(value: string): HttpRequest {
  return requestOf({ search: `p=${value}` })
}

const NOT_SEARCHED = '(not searched)'

// Returns a text as reports show it, if it is searched.
function scrub(text: string, request: HttpRequest): string {
  return scrubAll([text], request)[0] ?? NOT_SEARCHED
}

describe('scrubAll() of one text', () => {
  it('replaces a value by the name of its parameter, from every source', () => {
    const table: [Sent, string][] = [
      [{ search: `dsh=${TOKEN}&page=2` }, '[dsh]'],
      [{ search: `dsh=x&dsh=${TOKEN}&dsh=y` }, '[dsh]'],
      [{ pairs: `dsh/${TOKEN}` }, '[path]'],
      [{ pairs: `a/b/${TOKEN}/x` }, '[path]'],
      [{ pairs: TOKEN }, '[path]'],
      [{ form: `dsh=${TOKEN}` }, '[dsh]'],
      [{ search: `a%20b=${TOKEN}&c=d` }, '[value]'],
      [{ form: `a%20b=${TOKEN}&c=d` }, '[value]'],
      [{ search: TOKEN }, '[name]'],
      [{ headers: { authorization: TOKEN } }, '[header]'],
      [{ headers: { 'proxy-authorization': `Bearer ${TOKEN}` } }, '[header]'],
      [{ headers: { cookie: `sid=${TOKEN}; b=c` } }, '[header]'],
      [{ headers: { cookie: ['b=cccc', `sid="${TOKEN}"`] } }, '[header]'],
      [{ headers: { 'x-api-key': TOKEN } }, '[header]'],
      [{ headers: { referer: `https://h/x?a=b&dsh=${TOKEN}#f` } }, '[header]'],
      // Values that are no secrets.
      [{ headers: { 'user-agent': TOKEN } }, TOKEN],
      [{}, TOKEN],
    ]
    for (const [from, shown] of table) {
      const text = scrub(`<${TOKEN}> and ${TOKEN}!`, requestOf(from))
      assert.equal(text, `<${shown}> and ${shown}!`, JSON.stringify(from))
    }
  })

  it('treats a parameter name that does not look like a name as a value', () => {
    const name = 'aB3dE6gH9jK2mN5p'
    for (const search of [`x&${name}`, `x&${name}=1`, `x&%61${name.slice(1)}`]) {
      assert.equal(scrub(`no ${name}`, requestOf({ search })), 'no [name]', search)
    }
  })

  it('finds a value as it was sent, and decoded once and twice, plus signs and all', () => {
    const request = sent('c4n4ry%252Fa%2Bb%20c+d')
    const forms = [
      'c4n4ry%252Fa%2Bb%20c+d',
      'c4n4ry%2Fa+b c d',
      'c4n4ry/a b c d',
      encodeURIComponent('c4n4ry%2Fa+b c d'),
      encodeURIComponent('c4n4ry/a b c d'),
      'c4n4ry%2Fa+b+c+d',
    ]
    for (const form of forms) assert.equal(scrub(`x ${form} y`, request), 'x [p] y', form)
  })

  it('finds it as JSON, HTML and a URL would escape it', () => {
    const value = `"c4n4ry" & <'é'>\\\n\u0001 ü`
    const request = sent(encodeURIComponent(value))
    const forms = [
      value,
      JSON.stringify(value),
      '&quot;c4n4ry&quot; &amp; &lt;&#39;é&#39;&gt;\\\n\u0001 ü',
      encodeURIComponent(value),
      new URLSearchParams({ value }).toString().slice('value='.length),
    ]
    for (const form of forms) {
      const text = scrub(`x ${form} y`, request)
      assert.equal(text, form.startsWith('"\\"') ? 'x "[p]" y' : 'x [p] y', form)
    }
    const named = sent(encodeURIComponent("'c4n4' \u{1f600}"))
    assert.equal(scrub('x &apos;c4n4&apos; &#x1f600; y', named), 'x [p] y')
    assert.equal(scrub('x &apos;c4n4&apos; &#128512; y', named), 'x [p] y')
    assert.equal(scrub('a \ud800c4n4 b', sent('%ff%ff')), 'a \ud800c4n4 b')
  })

  it('shows nothing of two texts that node:assert compares in colours', () => {
    const colours = [...TOKEN].map((character) => `\u001b[32m${character}\u001b[39m`).join('')
    const line = `\u001b[39m'\u001b[39m\u001b[32m😀\u001b[39m${colours}\u001b[31me\u001b[39m`
    const text = scrub(`Expected values to be strictly equal:\n${line}\n\n`, sent(TOKEN))
    assert.equal(text, 'Expected values to be strictly equal:\n[text]')
    const coloured = '\u001b[32m+ actual\u001b[39m'
    assert.equal(scrub(coloured, sent(TOKEN)), coloured)
  })

  it('finds a value with bad escapes', () => {
    for (const value of ['c4n4ry%', 'c4n4ry%zz', '%ffc4n4ry', 'c4n4ry%c3']) {
      assert.equal(scrub(`x ${value} y`, sent(value)), 'x [p] y')
    }
  })

  it('finds the values inside nested URLs, 4 deep, under the name of their parameter', () => {
    let url = `https://e/?deep=${TOKEN}`
    for (const host of ['d', 'c', 'b']) {
      url = `https://${host}/?in_${host}=${encodeURIComponent(url)}`
    }
    const request = requestOf({ search: `continue=${encodeURIComponent(url)}` })
    assert.equal(scrub(`x ${TOKEN} y`, request), 'x [continue] y')
    assert.equal(scrub(`x https://e/?deep=${TOKEN} y`, request), 'x [continue] y')
    const parts = ['https://h/#state=c4n4ry1&x=c4n4ry2', 'a=c4n4ry3&b', 'https://h?a=1#b=c4n4ry4']
    for (const [i, part] of parts.entries()) {
      const from = requestOf({ search: `opparams=${encodeURIComponent(part)}` })
      const text = scrub('c4n4ry1 c4n4ry2 c4n4ry3 c4n4ry4', from)
      const expected = [
        '[opparams] [opparams] c4n4ry3 c4n4ry4',
        'c4n4ry1 c4n4ry2 [opparams] c4n4ry4',
        'c4n4ry1 c4n4ry2 c4n4ry3 [opparams]',
      ]
      assert.equal(text, expected[i])
    }
  })

  it('leaves words of the protocol, and the names of the server', () => {
    const text =
      'HttpError: GET http://app.example.com:8443/ is true in /srv/app/http.js of app.example.com'
    const headers = {
      host: 'app.example.com:8443',
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'app.example.com',
      'x-forwarded-port': '8443',
      'x-forwarded-prefix': '/srv/app',
      forwarded: 'for=203.0.113.7;host="app.example.com:8443";proto=https',
      'x-origin': 'http://app.example.com:8443/',
    }
    const search = 'a=true&b=http&c=HttpError&d=app.example.com&e=https://app.example.com'
    const request = requestOf({ headers, search })
    assert.equal(scrub(text, request), text)
    assert.equal(scrub(`${text} for 203.0.113.7`, request), `${text} for [header]`)
    const extended = requestOf({ headers: { forwarded: 'host=app.example;x-host=zorb9' } })
    assert.equal(scrub('app.example zorb9', extended), 'app.example [header]')
    const secret = `https://app.example.com/?a=${TOKEN}`
    const url = requestOf({ headers, search: `continue=${encodeURIComponent(secret)}` })
    assert.equal(scrub(`no ${secret}`, url), 'no [continue]')
  })

  it('finds trimmed values and items of lists, from every source', () => {
    const lists = ['%20c4n4%20', 'x,c4n4', '+c4n4+', 'a%3Bc4n4', '%5B%22c4n4%22,1%5D', 'x%7Cc4n4']
    for (const list of lists) {
      for (const from of [{ search: `p=${list}` }, { form: `p=${list}` }, { pairs: `p/${list}` }]) {
        assert.match(scrub('no c4n4 here', requestOf(from)), /^no \[(p|path)\] here$/, list)
      }
    }
    const params = { p: ' c4n4 ', list: 'a,7b7b' }
    const request = requestOf({}).forward({ action: 'view', params })
    assert.equal(scrub('no c4n4, 7b7b', request), 'no [p], [list]')
  })

  it('finds the number that an application reads in a value', () => {
    const table: [sent: string, read: string][] = [
      ['0042999', '42999'],
      ['1.75e4', '17500'],
      ['482+913', '482913'],
      ['0x1F40', '8000'],
      ['42999.50', '42999.5'],
      ['42999.50', '42999'],
      ['42999.20', '43000'],
      ['-42999.20', '42999'],
      ['4299.0kg', '4299'],
      ['1,234,567', '1234567'],
      ['$42,999.00', '42999'],
      ['%E2%82%AC0042999', '42999'],
      ['1,00042999', '42999'],
      ['+00.12340', '0.1234'],
      ['-.12340', '-0.1234'],
      ['12345678.90e1', '123456789'],
      ['００４２９９９', '42999'],
    ]
    for (const [value, read] of table) {
      for (const from of [{ search: `p=${value}` }, { pairs: `p/${value}` }]) {
        assert.match(scrub(`no ${read}!`, requestOf(from)), /^no -?\[(p|path)\]!$/, value)
      }
    }
    assert.equal(scrub('no 42', sent('0042')), 'no 42')
  })

  it('finds the short value of a cookie, with any separators', () => {
    const cookie = 'a=1; s=k9&z8; t="k7,z6" ; u=x%239%20y; v=(a1)b'
    const request = requestOf({ headers: { cookie } })
    for (const value of ['k9&z8', 'k7,z6', 'x#9 y', '(a1)b']) {
      assert.equal(scrub(`no ${value} here`, request), 'no [header] here')
    }
  })

  it('finds the name of a header that does not look like a name', () => {
    const request = requestOf({ headers: { 'x-k7rq9zm2x4vw8bt1': '1', 'x-tenant': '1' } })
    const text = 'Invalid character in header content ["x-k7rq9zm2x4vw8bt1"], not x-tenant'
    const shown = 'Invalid character in header content ["[name]"], not x-tenant'
    assert.equal(scrub(text, request), shown)
  })

  it('searches for a header that code has removed, and for one that it has added', () => {
    const request = requestOf({ headers: { 'X-Key': TOKEN } })
    const headers = request.headers as Record<string, string>
    delete headers['x-key']
    headers['x-user'] = 'marla-77'
    assert.equal(scrub(`no ${TOKEN} marla-77`, request), 'no [header] [header]')
  })

  it('searches for a header that has no text', () => {
    const headers = { 'x-user': 4711 as never, 'x-key': TOKEN }
    assert.equal(scrub(`no 4711 ${TOKEN}`, requestOf({ headers })), 'no [header] [header]')
  })

  it('shows words of the protocol that a header has', () => {
    const table: [name: string, value: string, text: string][] = [
      ['authorization', 'Digest username="marla"', 'Unsupported scheme Digest'],
      ['access-control-request-headers', 'content-type,authorization', 'Missing content-type'],
      ['sec-websocket-protocol', 'graphql-ws', 'graphql-ws failed'],
      ['accept-charset', 'iso-8859-1', 'cannot encode iso-8859-1'],
    ]
    for (const [name, value, text] of table) {
      assert.equal(scrub(text, requestOf({ headers: { [name]: value } })), text)
    }
  })

  it('finds combining marks in any order', () => {
    const typed = '\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f\u064f'
    const hebrew = '\u05e9\u05c1\u05b0\u05dc\u05b9\u05de\u05b9\u05d4'
    // Only the first 30 marks of a longer run count.
    const many = `${typed}${'\u0651\u064e'.repeat(50)}`
    for (const name of [typed, hebrew, many]) {
      const request = sent(encodeURIComponent(name))
      for (const text of [name, name.normalize('NFC'), name.normalize('NFD')]) {
        assert.equal(scrub(`no ${text}`, request), 'no [p]')
      }
    }
  })

  it('finds values that contain lone surrogates', () => {
    const json = Buffer.from(JSON.stringify({ x: 'abc\ud83dz9', y: 'abcdefgh\ud800Zxqwerty' }))
    const request = requestOf({})
    stateOf(request).message.json = json
    const { x, y } = JSON.parse(json.toString()) as Record<string, string>
    assert.equal(scrub(`no ${x} ${y}`, request), 'no [x] [y]')
  })

  it('finds a name in a script without spaces', () => {
    const table: [value: string, text: string, shown: string][] = [
      ['山田太郎', '顧客山田太郎は存在しません', '顧客[p]は存在しません'],
      ['สมชาย', 'ไม่พบสมชายในระบบ', 'ไม่พบ[p]ในระบบ'],
      ['김철수', 'no 김철수', 'no [p]'],
    ]
    for (const [value, text, shown] of table) {
      assert.equal(scrub(text, sent(encodeURIComponent(value))), shown)
    }
  })

  it('finds values in encoded cookies and headers', () => {
    const table: [cookie: string, value: string][] = [
      ['s=%7B%22pw%22%3A%22hunter2%22%7D', 'hunter2'],
      ['s=%257B%2522pw%2522%253A%2522hunter2%2522%257D', 'hunter2'],
      ['s=bob%7Chunter2', 'hunter2'],
      ['s=j%3A{"pin":482913}', '482913'],
    ]
    for (const [cookie, value] of table) {
      assert.equal(
        scrub(`no ${value}!`, requestOf({ headers: { cookie } })),
        'no [header]!',
        cookie,
      )
    }
  })

  it('leaves what every browser sends', () => {
    const headers = {
      'sec-fetch-dest': 'document',
      'sec-fetch-mode': 'navigate',
      'sec-ch-ua': '"Chromium";v="124"',
      'sec-gpc': '1',
      priority: 'u=0, i',
      'service-worker': 'script',
      'x-requested-with': 'XMLHttpRequest',
      'if-modified-since': 'Wed, 21 Oct 2015 07:28:00 GMT',
      'cdn-loop': 'cloudflare; loops=1',
      'cf-visitor': '{"scheme":"https"}',
    }
    const text = 'no document of 2015 in script, navigate, XMLHttpRequest, Chromium or cloudflare'
    assert.equal(scrub(text, requestOf({ headers })), text)
    const marked = requestOf({ headers: { 'if-modified-since': 'hunter2' } })
    assert.equal(scrub('no hunter2', marked), 'no [header]')
  })

  it('leaves the registered names in a Referer of the same host', () => {
    const scrubbed = (referer: string): string => {
      const request = withState(requestOf({ headers: { host: 'shop.example', referer } }), {
        settings: {
          maxBodyBytes: 1,
          trusted: new BlockList(),
          isRegistered: (name) => ['articles', 'edit'].includes(name),
        },
      })
      return scrub('table articles: edit 48291377 of summer sale', request)
    }
    const rest = '/id/48291377?q=summer%20sale'
    const own = 'table articles: edit [header] of [header]'
    assert.equal(scrubbed(`https://shop.example/articles/edit${rest}`), own)
    assert.equal(
      scrubbed(`https://shop.example/articles?q=48291377+of+summer%20sale`),
      'table articles: edit [header]',
    )
    assert.doesNotMatch(scrubbed(`https://a.example/articles/edit${rest}`), /articles/)
  })

  it('leaves the registered names in any header with an address of the same host, or a path', () => {
    const settings = {
      maxBodyBytes: 1,
      trusted: new BlockList(),
      isRegistered: (name: string) => ['articles', 'edit'].includes(name),
    }
    const scrubbed = (name: string, field: string): string => {
      const headers = { host: 'shop.example', [name]: field }
      return scrub(
        'no articles/edit.html: 48291377',
        withState(requestOf({ headers }), { settings }),
      )
    }
    for (const [name, field] of [
      ['x-original-uri', '/articles/edit/id/48291377'],
      ['hx-current-url', 'https://shop.example:8443/articles/edit?id=48291377'],
    ] as const) {
      assert.equal(scrubbed(name, field), 'no articles/edit.html: [header]')
    }
    for (const field of ['articles/edit/48291377', 'https://a.example/articles/edit/48291377']) {
      assert.equal(scrubbed('x-key', field), 'no [header].html: [header]')
    }
  })

  it('leaves the names of the pairs of a path, as those of a query', () => {
    const text = 'column category, reading status: no 48291377, no hunter, no %aB3x/Zx/%9k/t/u'
    const shown = (status: string, id: string, name: string): string =>
      `column category, reading ${status}: no ${id}, no ${name}, no %aB3x/Zx/%9k/t/u`
    const table: [Sent, string][] = [
      [{ pairs: 'category/48291377/status/hunter' }, shown('status', '[path]', '[path]')],
      [{ search: 'category=48291377&status=hunter' }, shown('status', '[category]', '[status]')],
      [{ pairs: 'hunter/hunter/x/48291377' }, shown('status', '[path]', '[hunter]')],
      // Here, `status` has no value, so it is not the name of a parameter.
      [{ pairs: 'category/48291377/status' }, shown('[path]', '[path]', 'hunter')],
      [{ pairs: '%aB3x/Zx/%9k/t/u' }, text.replace('%aB3x/Zx/%9k/t/u', '[path]')],
    ]
    for (const [request, expected] of table) assert.equal(scrub(text, requestOf(request)), expected)
  })

  it('looks for at most 8 registered names in a Referer', () => {
    let lookups = 0
    const headers = { host: 'a', referer: `http://a${'/ok'.repeat(5_000)}` }
    const request = withState(requestOf({ headers }), {
      settings: { maxBodyBytes: 1, trusted: new BlockList(), isRegistered: () => ++lookups > 0 },
    })
    assert.equal(scrub('plain', request), 'plain')
    assert.equal(lookups, 8)
  })

  it('reads the names of the server once, however many headers there are', (t) => {
    const match = t.mock.method(String.prototype, 'match')
    const referer = Array.from({ length: 90 }, (_, i) => `http://b${i}/${TOKEN}`)
    const headers = { 'x-forwarded-server': 'a,'.repeat(6_000), referer }
    assert.equal(scrub(`no ${TOKEN}`, requestOf({ headers })), 'no [header]')
    const long = match.mock.calls.filter(({ this: text }) => String(text).length >= 2_048)
    assert.equal(long.length, 1)
  })

  it('leaves the names of the server that begin within 2,048 characters', () => {
    const host = `first.example, ${','.repeat(2_048)} last.example`
    const request = new HttpRequest({
      target: '/a?a=first.example&b=last.example',
      headers: { 'x-forwarded-host': host, forwarded: `${' '.repeat(2_048)}host=last.example` },
    })
    assert.equal(scrub('first.example last.example', request), 'first.example [b]')
  })

  it('searches no texts or values that are long when they are decoded and folded', () => {
    const hangul = (length: number): string =>
      Array.from({ length }, (_, i) => String.fromCharCode(0xac00 + (i % 11_000))).join('')
    const scrubbed = (text: string, key = TOKEN): string =>
      scrub(text, requestOf({ headers: { 'x-key': key } }))
    // Each of these characters becomes up to three, and a text has up to six forms.
    assert.equal(scrubbed(`${TOKEN} ${hangul(2_200)}`), `[header] ${hangul(2_200)}`)
    assert.equal(scrubbed(`${TOKEN} ${'é'.repeat(15_000)}`), NOT_SEARCHED)
    assert.equal(scrubbed(`${TOKEN} ${hangul(8_000)}`), NOT_SEARCHED)
    assert.equal(scrubbed(`${TOKEN} ${hangul(1_000)}`), `[header] ${hangul(1_000)}`)
    assert.equal(scrubbed(`${TOKEN} %2541\\n&lt; ${hangul(4_000)}`), NOT_SEARCHED)
    assert.equal(scrubbed('plain', hangul(5_000)), 'plain')
    assert.equal(scrubbed('plain', hangul(16_000)), NOT_SEARCHED)
  })

  it('finds the variables of a named route that a forward has replaced', () => {
    const names = { module: 'default', controller: 'news', action: 'list' }
    for (const pairs of ['name/geheim', new URLSearchParams({ name: 'geheim' })]) {
      const route = { ...names, pairs }
      const sent = new HttpRequest({ target: '/2024-x' })
      const routed = withState(sent, { path: '/2024-x', q: '/2024-x', route })
      const request = routed.forward({ action: 'view', params: { name: 'public' } })
      assert.equal(scrub('No geheim', request), 'No [name]')
    }
  })

  it('finds a short word behind a colour of a terminal', () => {
    for (const colour of ['\x1b[31m', '\x1b[m', '\x1b[K', '\x1b[38;2;255;255;255;48;2;0;0;0m']) {
      assert.equal(scrub(`bad ${colour}geheim\x1b[39m`, sent('geheim')), `bad ${colour}[p]\x1b[39m`)
      assert.equal(scrub(`${colour}ungeheim`, sent('geheim')), `${colour}ungeheim`)
    }
    assert.equal(scrub('bad 31mgeheim', sent('geheim')), 'bad 31mgeheim')
  })

  it('finds a short value at each place of a text that consists of it', () => {
    const request = requestOf({ search: 'a=1111&b=11112&c=111112&d=aaaa' })
    assert.equal(scrub('1'.repeat(4_000), request), '[a]')
    assert.equal(scrub(`aaaa ${'a'.repeat(4_000)}`, request), `[d] ${'a'.repeat(4_000)}`)
    assert.equal(scrub(`${'aaaa '.repeat(400)}1`, request), `${'[d] '.repeat(400)}1`)
  })

  it('folds few short values', (t) => {
    const normalize = t.mock.method(String.prototype, 'normalize')
    const headers = { cookie: ';é'.repeat(4_000) }
    scrub(TOKEN, new HttpRequest({ target: '/', headers }))
    assert.ok(normalize.mock.callCount() < 6_000, `${normalize.mock.callCount()}`)
    const request = new HttpRequest({ target: '/' })
    stateOf(request).message.json = Buffer.from(JSON.stringify(Array(12_000).fill('é')))
    normalize.mock.resetCalls()
    assert.equal(scrub(TOKEN, request), NOT_SEARCHED)
    assert.ok(normalize.mock.callCount() < 12_000, `${normalize.mock.callCount()}`)
  })

  it('judges a thousand names of a JSON body, and searches for the others as for values', () => {
    const request = new HttpRequest({ target: '/' })
    const words = [
      'page',
      'list',
      'news',
      'item',
      'user',
      'view',
      'name',
      'text',
      'date',
      'type',
      'book',
    ]
    const names = words.flatMap((a) => words.flatMap((b) => words.map((c) => `${a}-${b}-${c}`)))
    const json = Object.fromEntries([...names, 'profile'].map((name) => [name, 0]))
    stateOf(request).message.json = Buffer.from(JSON.stringify(json))
    // The last members come first.
    assert.equal(scrub('no page-page-page, no profile', request), 'no [name], no profile')
  })

  it('folds no short piece of a value that stays as it is', (t) => {
    const normalize = t.mock.method(String.prototype, 'normalize')
    for (const [piece, count] of [
      [',\u4e2d', 8_000],
      ['.1\u{20000}', 1_000],
    ] as const) {
      const body = `a=${piece.repeat(count)}`
      const request = withState(requestOf({}), { form: new FormBody(Buffer.from(body)) })
      assert.equal(scrub('plain', request), 'plain')
    }
    assert.ok(normalize.mock.callCount() < 100, `${normalize.mock.callCount()}`)
  })

  it('folds no character twice, and none that stays as it is', (t) => {
    const normalize = t.mock.method(String.prototype, 'normalize')
    const ideographs = Array.from({ length: 10_000 }, (_, i) => String.fromCharCode(0x4e00 + i))
    const text = `${ideographs.join('')}${'é'.repeat(500)}`
    assert.equal(
      scrub(`${text} ${TOKEN}`, requestOf({ headers: { 'x-key': TOKEN } })),
      `${text} [header]`,
    )
    assert.ok(normalize.mock.callCount() < 20, `${normalize.mock.callCount()} calls`)
  })

  it('finds what any escaping has made of a value', () => {
    const escapings: [value: string, text: string][] = [
      ['/ö/ä/ü/é', encodeURI('/ö/ä/ü/é')],
      ['a@b c@d e@f', new URL('http://h/a@b c@d e@f').pathname.slice(1)],
      ['x:y z:w q', encodeURI('x:y z:w q')],
      ['a b;c d:e f', new URL('http://h/a b;c d:e f').pathname.slice(1)],
      ["it's bob's dad's", new URL("http://h/?it's bob's dad's").search.slice(1)],
      ["it's bob's", 'it&#x27;s bob&#x27;s'],
      ['a😀b😀c😀d', 'a\\ud83d\\ude00b\\uD83D\\uDE00c\\ud83d\\ude00d'],
      ['é/à/ü/ö/ç', '\\u00e9/\\u00E0/\\u00fc/\\u00f6/\\u00e7'],
      ['ab"c"d"e"', JSON.stringify(JSON.stringify('ab"c"d"e"').slice(1, -1)).slice(1, -1)],
      ['pässwörd', escape('pässwörd')],
      ['ab1\x1bcd2\x1bef3', 'ab1\\x1Bcd2\\x1Bef3'],
      ['10.20.30.40', '10\\.20\\.30\\.40'],
    ]
    for (const [value, text] of escapings) {
      assert.equal(scrub(`no ${text}!`, sent(encodeURIComponent(value))), 'no [p]!', text)
    }
  })

  it('finds what several escapings have made of a value, whatever other escapes the texts have', () => {
    const value = 'é"á"ú"ó"í"ñ"ü'
    const json = (text: string): string =>
      JSON.stringify(text)
        .slice(1, -1)
        .replace(/[^ -~]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)
    const html = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
    const escaped = [
      html(json(value)),
      json(html(value)),
      json(json(value)),
      html(html(value)),
      encodeURIComponent(json(json(value))),
      json(encodeURIComponent(encodeURIComponent(value))),
    ]
    const request = sent(encodeURIComponent(value))
    for (const text of escaped) {
      const other = 'GET /a%20b?c&amp;d "\\t"'
      assert.equal(scrub(`${other} (${text})`, request), `${other} ([p])`, text)
    }
  })

  it('finds what an application has decoded in a value', () => {
    for (const [value, text] of [
      ['{"pw":"a\\u0062c\\u0064ef\\u0067h"}', 'abcdefgh'],
      ['{"pw":"ab\\/cd\\/ef"}', 'ab/cd/ef'],
      [JSON.stringify({ a: '{"b":"p\\u00e4ssw\\u00f6rtl"}' }), 'pässwörtl'],
      ['a&amp;amp;b&amp;amp;c&amp;amp;d', 'a&b&c&d&'],
      ['a&amp;b&amp;c&amp;d', 'a&b&c&d&'],
    ] as const) {
      assert.match(scrub(`no ${text}!`, sent(encodeURIComponent(value))), /^no \[p\]&?!$/, value)
    }
  })

  it('finds a number with other separators, and a part with a digit', () => {
    for (const [value, text] of [
      ['4539-1488-0343-6467', '4539148803436467'],
      ['4539148803436467', '4539 1488 0343 6467'],
      ['DE89 3704 0044 0532 0130 00', 'DE89370400440532013000'],
      ['078-05-1120', '078051120'],
      ['(555) 867-5309', '5558675309'],
      ['f47ac10b-58cc-4372-a567-0e02b2c3d479', 'f47ac10b58cc4372a5670e02b2c3d479'],
      ['Tel: +49 170 12 34 56 78', '491701234567'],
      ['SSN: 123 45 6789', '123456789'],
      ['+49–170–1234567', '491701234567'],
      ['VAT: DE 123 456 789', 'DE123456789'],
      ['https://bob:hunter2@h.example/', 'hunter2'],
      ['CORP\\hunter2', 'hunter2'],
      ['https://h.example/reset/ab12cd', 'ab12cd'],
    ] as const) {
      assert.equal(scrub(`no ${text}!`, sent(encodeURIComponent(value))), 'no [p]!', value)
    }
    const pair = requestOf({ headers: { 'x-api-key': 'bob:hunter2' } })
    assert.equal(scrub('no hunter2', pair), 'no [header]')
  })

  it('finds every item of a list, whatever its length as it was sent', () => {
    assert.equal(scrub('no hunter2', sent(`${'1,'.repeat(2_001)}hunter2`)), 'no [p]')
    for (const item of [
      // Fewer than 8 letters when folded, and 8 characters or more as they are sent.
      'उपयोगकर्ता',
      'ผู้ใช้งาน',
      'Nguyễn'.normalize('NFD'),
      // Eight letters when folded.
      '김철수',
    ]) {
      for (const list of [`anna,${item},berta`, JSON.stringify({ u: item })]) {
        assert.equal(scrub(`no ${item} here`, sent(encodeURIComponent(list))), 'no [p] here', list)
      }
    }
  })

  it('finds what stands behind each equals sign', () => {
    for (const value of ['name=geheim', 'name==geheim', 'a=b=geheim', 'a=geheim=b']) {
      assert.equal(scrub('no geheim', sent(encodeURIComponent(value))), 'no [p]', value)
    }
    assert.equal(scrub('no name', sent('name%3Dgeheim')), 'no name')
    assert.equal(scrub('no pa55w', sent('pa55w%3Dgeheim')), 'no [p]')
  })

  it('finds the user and the password of Basic credentials', () => {
    const basic = Buffer.from(`ada-user:${TOKEN}`).toString('base64')
    const request = requestOf({ headers: { authorization: `Basic ${basic}` } })
    assert.equal(
      scrub(`${basic} of ada-user with ${TOKEN}`, request),
      '[header] of [header] with [header]',
    )
  })

  it('replaces the longest run first, so that no rest remains', () => {
    const request = requestOf({ search: 'a=c4n4&b=c4n4ry-c4n4ry&c=4ry-c4' })
    assert.equal(scrub('c4n4ry-c4n4ry is c4n4', request), '[b] is [a]')
  })

  it('does not scrub its own labels', () => {
    const request = requestOf({ search: `label=${TOKEN}&sid=label` })
    assert.equal(scrub(`x ${TOKEN} label`, request), 'x [label] [sid]')
  })

  it('treats a value as text, never as a pattern', () => {
    for (const value of ['.*.*', '(a|b)+', '[a-z]', '$&$1', 'a\\d{3}', '^a$^']) {
      const request = sent(encodeURIComponent(value))
      assert.equal(scrub(`abcd ${value} 1234`, request), 'abcd [p] 1234', value)
    }
  })

  it('leaves values of up to 3 characters, and the requested names', () => {
    const request = requestOf({ search: 'a=abc&b=abcd&c=', pairs: 'id/42' })
    assert.equal(scrub('abc abcd 42 news/list', request), 'abc [b] 42 news/list')
  })

  it('withholds what V8 quotes of a text that is no JSON', () => {
    for (const json of [
      'SECRETSECRETSECRET',
      '{"a": SECRET "b"}',
      '{"a":"SECRET",\n\n"b" SECRET}',
    ]) {
      let message = ''
      try {
        JSON.parse(json)
      } catch (error) {
        message = (error as Error).message
      }
      assert.notEqual(message, '')
      assert.doesNotMatch(scrub(message, requestOf({})), /SECRET/)
    }
    assert.equal(
      scrub('Unexpected token \'S\', ..."a": SECRET}" is not valid JSON', requestOf({})),
      "Unexpected token 'S', [text] is not valid JSON",
    )
    assert.equal(
      scrub(
        `A: Unexpected token 'S', "SECRET" is not valid JSON; B: Unexpected token 'T', ..."TE"C"RET"... is not valid JSON.`,
        requestOf({}),
      ),
      "A: Unexpected token 'S', [text] is not valid JSON; B: Unexpected token 'T', [text] is not valid JSON.",
    )
  })

  it('shows the shape of a text that is too long to be searched', () => {
    const request = sent(TOKEN)
    assert.equal(scrub(varied(12_288), request), varied(12_288))
    assert.equal(scrub(varied(12_289), request), NOT_SEARCHED)
  })

  it('finds a piece of a value, in other letters too', () => {
    const request = sent('Kq7xZ9vT2mWpL4sBd8Yh')
    const pieces = ['Kq7xZ9vT', 'kq7xz9vt2mwpl4sbd8yh', '9vT2mWpL4s', "'Kq7xZ9vT2mWp... "]
    for (const piece of pieces) assert.match(scrub(`x ${piece} y`, request), /^x '?\[p\][.']* +y$/)
    assert.equal(scrub('x Kq7xZ9v y', request), 'x Kq7xZ9v y')
  })

  it('masks what two values cover together', () => {
    const request = requestOf({ search: 'x=oken%20Kq7x&t=Kq7xZ9vT2mWpL4s' })
    assert.equal(scrub('Bad token Kq7xZ9vT2mWpL4s', request), 'Bad t[x]')
  })

  it('finds the values of a request that is not routed yet', () => {
    const request = new HttpRequest({ target: `/%zz?dsh=${TOKEN}` })
    assert.equal(scrub(`x ${TOKEN} y`, request), 'x [dsh] y')
  })
})

describe('scrubAll()', () => {
  it('searches no text where the values are too long, in all their writings', () => {
    const levels = '%25252525252541'.repeat(4_000)
    const long = [
      sent('x'.repeat(300_000)),
      requestOf({ form: 'ab,'.repeat(100_000) }),
      sent(levels),
    ]
    for (const request of long) {
      assert.deepEqual(scrubAll(['a', TOKEN], request), [undefined, undefined])
      assert.equal(scrub(TOKEN, request), NOT_SEARCHED)
    }
    assert.deepEqual(scrubAll(['a', TOKEN], sent('x'.repeat(45_000))), ['a', TOKEN])
  })

  it('searches no text where the values are too many, however short they are', () => {
    const many = [
      new HttpRequest({ target: `/news/list${'/'.repeat(3_000)}` }),
      requestOf({ form: 'a&'.repeat(6_000) }),
      requestOf({
        headers: Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [`x${i}`, '1'])),
      }),
    ]
    for (const request of many) assert.deepEqual(scrubAll([TOKEN], request), [undefined])
    const few = new HttpRequest({ target: `/news/list${'/'.repeat(1_000)}` })
    assert.deepEqual(scrubAll([TOKEN], few), [TOKEN])
  })

  it('splits a piece once that a parameter repeats, and searches no text where it has thousands of others', () => {
    const withQuery = (pieces: readonly string[]): HttpRequest =>
      new HttpRequest({ target: `/a?a=${pieces.join('')}` })
    // A header costs as much if its pieces are the same: two of them may have different owners.
    const withCookie = (pieces: readonly string[]): HttpRequest =>
      new HttpRequest({ target: '/a', headers: { cookie: `a=${pieces.join('')}` } })
    for (const part of [',=%25.%E4%B8%AD=', ',=%25.,']) {
      const pieces = Array.from({ length: 250 }, (_, i) => part.replace('25', `25${i}`))
      const repeated = pieces.map(() => part)
      for (const request of [withQuery(pieces), withCookie(pieces), withCookie(repeated)])
        assert.deepEqual(scrubAll(['No article'], request), [undefined])
      for (const request of [withQuery(repeated), withCookie(pieces.slice(0, 8))])
        assert.deepEqual(scrubAll(['No article'], request), ['No article'])
    }
  })

  it('searches fewer values for longer texts', () => {
    const request = new HttpRequest({ target: '/a', headers: { cookie: 'x'.repeat(10_000) } })
    const text = (length: number): string => 'y '.repeat(length / 2)
    assert.deepEqual(scrubAll([text(6_000)], request), [text(6_000)])
    assert.deepEqual(scrubAll([text(8_000)], request), [undefined])
    const body = sent('x'.repeat(36_000))
    assert.deepEqual(scrubAll([text(11_000)], body), [text(11_000)])
    assert.deepEqual(scrubAll([text(16_000)], body), [undefined])
  })

  it('charges the head of a request with a session as that of any other', () => {
    const target = `/a?${'a=b&'.repeat(3_000)}`
    const withSession = (data: string): string | undefined => {
      const request = new HttpRequest({ target })
      stateOf(request).message.hide(data)
      return scrubAll(['text'], request)[0]
    }
    const plain = scrubAll(['text'], new HttpRequest({ target }))[0]
    assert.deepEqual([plain, withSession('x'.repeat(3_000))], [undefined, undefined])
    assert.equal(withSession(`${'x '.repeat(3_500)}`), 'text')
  })

  it('searches the texts for 150 groups of a user, and for no claims of more than 64 KiB', () => {
    const scrubbed = (count: number): string => {
      const request = new HttpRequest({ target: '/a' })
      const groups = Array.from({ length: count }, () => crypto.randomUUID())
      const token = Buffer.from(groups.join()).toString('base64url')
      stateOf(request).message.hide({ groups }, token)
      return scrub(`No group ${groups.at(-1)}`, request)
    }
    assert.deepEqual([scrubbed(150), scrubbed(2_000)], ['No group [groups]', NOT_SEARCHED])
  })

  it('splits and unescapes a value once that is repeated, also as the form of another one', () => {
    const fieldsOf = (count: number, textOf: (i: number) => string): HttpRequest =>
      requestOf({ form: Array.from({ length: count }, (_, i) => `f${i}=${textOf(i)}`).join('&') })
    const plain = fieldsOf(1, () => 'abc'.repeat(17_000))
    const pieces = 'a,'.repeat(200)
    for (const request of [
      fieldsOf(100, () => `%26${'amp;'.repeat(34)}${pieces}`),
      fieldsOf(100, (i) => `%26${'amp;'.repeat(i)}${pieces}`),
    ]) {
      const ratio = timeRatio(
        () => scrub('text', request),
        () => scrub('text', plain),
      )
      assert.ok(ratio < 10, `${ratio}`)
    }
  })

  it('searches 12,288 characters of the texts', () => {
    const texts = [varied(12_000), varied(284), TOKEN, 'last']
    assert.deepEqual(scrubAll(texts, sent(TOKEN)), [texts[0], texts[1], undefined, 'last'])
  })

  it('searches 9,216 characters for a request without a body', () => {
    const request = new HttpRequest({ target: `/news/list?p=${TOKEN}` })
    const texts = [varied(9_000), varied(217), TOKEN, 'last']
    assert.deepEqual(scrubAll(texts, request), [texts[0], undefined, '[p]', 'last'])
  })

  it('searches a request with a token of 8 kB in Authorization', () => {
    const request = requestOf({ headers: { authorization: `Bearer ${varied(8_000)}` } })
    assert.deepEqual(scrubAll(['No such article'], request), ['No such article'])
  })

  it('finds a name with bytes that are not UTF-8, as it was sent', () => {
    const text = `Cannot GET /a?h%FCllo7%E477=1`
    assert.deepEqual(scrubAll([text], requestOf({ search: 'h%FCllo7%E477=1' })), [
      'Cannot GET /a?[name]=1',
    ])
  })

  it('searches one form of the longest texts of a request without a body, two of half the length', () => {
    const request = new HttpRequest({ target: `/news/list?p=${TOKEN}` })
    const text = (length: number, start = ''): string =>
      `${start}${varied(length - start.length)} ${TOKEN}`
    for (const [length, start] of [
      [9_000, ''],
      [4_500, '\\.'],
      [8_000, 'é'],
    ] as const)
      assert.equal(scrub(text(length, start), request), text(length, start).replace(TOKEN, '[p]'))
    assert.equal(scrub(text(6_000, '\\.'), request), NOT_SEARCHED)
  })

  it('keeps its texts apart, whatever they contain', () => {
    const texts = ['a\u0000b', `no ${TOKEN}`, '', '\u0000', 'last']
    assert.deepEqual(scrubAll(texts, sent(TOKEN)), ['a\u0000b', 'no [p]', '', '\u0000', 'last'])
  })
})
