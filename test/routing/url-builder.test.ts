import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { stateOf } from '../../lib/http/request.ts'
import type { UrlOptions, UrlParams } from '../../lib/http/route.ts'
import { HttpRequest } from '../../lib/index.ts'
import { createFront } from '../support/front.ts'
import { repositoryFile } from '../support/repository.ts'
import { checkUrls, found, type Routing, routing } from '../support/routing.ts'
import { timeRatio } from '../support/time-ratio.ts'

const route = routing()
const start = route('/')

describe('HttpRequest.urlFor() in a page with many pairs', () => {
  it('writes the pairs of the request once for all links', (t) => {
    const article = { path: '/article/:id', defaults: { controller: 'news', action: 'view' } }
    const pairs = Array.from({ length: 900 }, (_, i) => `k${i}/%25`).join('/')
    const page = routing({ article })(`/news/list/${pairs}`)
    const encode = t.mock.method(globalThis, 'encodeURIComponent')
    const split = t.mock.method(String.prototype, 'split')
    for (let i = 0; i < 20; i++) {
      assert.equal(page.urlFor({ page: i }), `/news/list/${pairs}/page/${i}`)
    }
    assert.ok(encode.mock.callCount() < 2_000, `${encode.mock.callCount()} times encoded`)
    const wholes = split.mock.calls.filter(({ arguments: [, limit] }) => limit === undefined)
    assert.equal(wholes.length, 0)
  })

  it('limits the steps of the expressions for each link', () => {
    const archive = { regex: '(.+)-(.+)-(\\d+)\\.html', reverse: '%s-%s-%d.html' }
    const lang = { regex: '(de|en)/(?:[a-z]+-?)+/([^/]+)-([^/]+)', map: { 1: 'lang' } }
    const one = { path: 'one', under: 'lang' }
    const two = { path: 'two', under: 'lang' }
    const routes = routing({
      archive,
      lang: { ...lang, reverse: '%s/s/%s-%s', defaults: { lang: 'de' } },
      one,
      two,
    })
    const archiveOf = (length: number, from: string): string =>
      routes(from).urlFor({ 1: 'a-'.repeat(length), 2: 'b', 3: 1 }, { name: 'archive' })
    for (const length of [40, 9_000]) {
      assert.equal(archiveOf(length, '/'), `/${'a-'.repeat(length)}-b-1.html`)
    }
    const message = 'The URL is too long for the expressions of routes'
    const long = `/a/b/c/${'d'.repeat(1_000)}`
    assert.equal(archiveOf(40, long), `/${'a-'.repeat(40)}-b-1.html`)
    assert.throws(() => archiveOf(9_000, long), { name: 'TypeError', message })
    // Without more steps, the default would replace the value of the common parent.
    const page = (length: number): string =>
      routes(`/en/s/${'a-'.repeat(length)}b/two`).urlFor({ 2: 'x', 3: 'y' }, { name: 'one' })
    assert.equal(page(40), '/en/s/x-y/one')
    assert.throws(() => page(8_000), { name: 'TypeError', message })

    const kinds = [...'abcdef'].map((kind) => {
      const route = { regex: `(.+)/(.+)-${kind}(\\d+)\\.html`, reverse: `%s/%s-${kind}%d.html` }
      return [kind, route] as const
    })
    const title = { 1: 'x', 2: '\u4e2d'.repeat(150), 3: 7 }
    const shop = routing(Object.fromEntries(kinds))('/')
    for (const [name] of kinds) assert.match(shop.urlFor(title, { name }), /^\/x\/.*\.html$/)
  })
})

describe('HttpRequest.urlFor() by the default route', () => {
  it('rejects a path in place of parameters', () => {
    const message = 'Expected the parameters of urlFor() in an object'
    assert.throws(() => start.urlFor('/news' as unknown as UrlParams), {
      name: 'TypeError',
      message,
    })
  })

  it('omits the defaults of routing', () => {
    checkUrls(start, [
      [{}, '/'],
      [{ controller: 'index', action: 'index' }, '/'],
      [{ controller: 'news' }, '/news'],
      [{ controller: 'news', action: 'index' }, '/news'],
      [{ controller: 'news', action: 'list' }, '/news/list'],
      [{ action: 'about' }, '/index/about'],
      [{ module: 'default', controller: 'news' }, '/news'],
      [{ module: 'admin' }, '/admin'],
      [{ module: 'admin', controller: 'report', action: 'daily' }, '/admin/report/daily'],
    ])
  })

  it('writes the defaults if pairs follow', () => {
    checkUrls(start, [
      [{ id: 42 }, '/index/index/id/42'],
      [{ module: 'admin', id: 42 }, '/admin/index/index/id/42'],
      [{ controller: 'news', page: '2', tag: ['a', 'b'] }, '/news/index/page/2/tag/a/tag/b'],
    ])
  })

  it('writes the module if the controller has the name of a module', () => {
    checkUrls(start, [[{ controller: 'admin', action: 'x' }, '/default/admin/x']])
    const folded = routing({}, { names: 'zf1' })('/')
    checkUrls(folded, [[{ controller: 'ADMIN' }, '/default/ADMIN']])
  })

  it('begins with the base path', () => {
    const mounted = routing({}, { basePath: '/app' })
    assert.equal(mounted('/app/news/list/id/1').urlFor(), '/app/news/list/id/1')
    assert.equal(mounted('/app').urlFor(), '/app/')
  })

  it('throws for a route that does not exist', () => {
    assert.throws(() => start.urlFor({}, { name: 'nowhere' }), /There is no route "nowhere"/)
  })

  it('needs a front controller', () => {
    assert.throws(() => new HttpRequest({ target: '/' }).urlFor(), {
      name: 'TypeError',
      message: 'Expected a request that the built-in router of a front controller routed',
    })
  })
})

describe('HttpRequest.urlFor() with a query', () => {
  it('appends the query string', () => {
    const request = route('/news/list')
    const table: [query: UrlOptions['query'], url: string][] = [
      [{ page: 2, sort: 'a b&c' }, '/news/list?page=2&sort=a+b%26c'],
      [{ tag: ['a', 'b'], no: null, nothing: undefined, empty: [] }, '/news/list?tag=a&tag=b'],
      [new URLSearchParams('x=1&x=2'), '/news/list?x=1&x=2'],
      [{}, '/news/list'],
      [undefined, '/news/list'],
    ]
    for (const [query, url] of table) assert.equal(request.urlFor({}, { query }), url)
  })

  it('takes a time for a list within a list that grows with its length, as JSON may have one', () => {
    const long = 'x'.repeat(500_000)
    const flat = [...Array.from({ length: 1_500 }, () => 'a'), long]
    let nested: unknown = long
    for (let depth = 0; depth < 1_500; depth++) nested = ['a', nested]
    const urlOf = (tag: unknown): string =>
      route('/news/list').urlFor({}, { query: { tag: tag as string[] } })
    assert.equal(urlOf(nested), urlOf(flat))
    const ratio = timeRatio(
      () => urlOf(nested),
      () => urlOf(flat),
    )
    assert.ok(ratio < 50, `${ratio}`)
  })
})

describe('HttpRequest.urlFor() by a named route', () => {
  const routes = {
    month: { path: 'archive/:year/:month', requirements: { year: '\\d+', month: '\\d\\d' } },
    archive: { path: 'old/:year/*', defaults: { controller: 'old', action: 'show', year: 2005 } },
  }
  const target = routing(routes)

  it('keeps the values that the same route found, and none of another route', () => {
    const month = target('/archive/2006/07')
    assert.equal(month.urlFor({ month: '03' }), '/archive/2006/03')
    assert.equal(month.urlFor({ month: '03' }, { name: 'month' }), '/archive/2006/03')
    assert.throws(
      () => month.urlFor({ month: '03' }, { reset: true }),
      /The route "month" needs "year"/,
    )
    assert.equal(month.urlFor({}, { name: 'archive' }), '/old')
    assert.equal(month.urlFor({}, { name: 'default' }), '/')
    const old = target('/old/2006/show/all/sort/name')
    assert.equal(old.urlFor(), '/old/2006/show/all/sort/name')
    assert.equal(old.urlFor({ year: null, show: null }), '/old/2005/sort/name')
    assert.equal(old.urlFor({ year: 2005 }, { reset: true }), '/old')
    assert.equal(target('/year/9').urlFor({ year: 2006 }, { name: 'archive' }), '/old/2006')
  })

  it('uses the default route after a forward, and the original route in the error action', async () => {
    const urls: string[] = []
    const error = {
      error: (request: HttpRequest) => void urls.push(request.urlFor({ month: '01' })),
    }
    const front = createFront({ error }, { routes })
    await front.handle(new HttpRequest({ target: '/archive/2006/07' }))
    assert.deepEqual(urls, ['/archive/2006/01'])
    const forwarded = target('/archive/2006/07').forward({ action: 'list' })
    assert.equal(forwarded.urlFor(), '/index/list/year/2006/month/07')
  })

  it('throws if another route matches the URL', () => {
    const shadowed = routing({
      page: { path: '/p/:page', defaults: { controller: 'pages' } },
      home: { path: '/p/home', defaults: { controller: 'home' } },
      list: { path: '/news/:what', defaults: { controller: 'all' } },
    })('/')
    assert.equal(shadowed.urlFor({ page: 'away' }, { name: 'page' }), '/p/away')
    assert.throws(() => shadowed.urlFor({ page: 'home' }, { name: 'page' }), {
      name: 'TypeError',
      message: 'Another route matches the URL that the route "page" builds',
    })
    // The default route has a longer form, which no named route matches.
    assert.equal(shadowed.urlFor({ controller: 'news', action: 'list' }), '/default/news/list')
  })

  it('writes default values too if another route matches the URL without them', () => {
    const home = routing({
      page: { path: '/:lang/:page', defaults: { controller: 'pages', lang: 'en', page: 1 } },
      strict: { path: '/s/:n', defaults: { n: 'all' }, requirements: { n: '\\d+' } },
      home: { path: '/', defaults: { controller: 'home' } },
      s: { path: '/s', defaults: { controller: 's' } },
    })('/')
    assert.equal(home.urlFor({}, { name: 'page' }), '/en/1')
    assert.equal(home.urlFor({ page: 2 }, { name: 'page' }), '/en/2')
    assert.throws(() => home.urlFor({}, { name: 'strict' }), {
      name: 'TypeError',
      message: 'The route "strict" has a requirement for "n" that the value does not meet',
    })
    const three = routing({ one: { path: '/:a' }, three: { path: '/:a/:b/:c' } })('/')
    assert.equal(three.urlFor({ controller: 'x' }), '/x/index')
  })

  it('never builds a path that begins with two slashes', () => {
    const root = routing({
      all: { path: '/*' },
      opt: { path: '/:a/:b', defaults: { a: '', b: '' } },
    })('/')
    assert.throws(
      () => root.urlFor({ '': 'evil.example' }, { name: 'all' }),
      /Another route matches/,
    )
    assert.throws(
      () => root.urlFor({ b: 'evil.example' }, { name: 'opt' }),
      /The route "opt" needs "a"/,
    )
  })
})

// Everything that routing can find: names as segments, and pairs of any text that a path can hold.
const segment = fc
  .array(
    fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(..."abz09AZ-._~!$&'()*+,;=:@") },
      { weight: 1, arbitrary: fc.constantFrom('%20', '%2F', '%c3%a4', '%25') },
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.join(''))
  .filter((text) => !/^\.{1,2}$/.test(text))
const name = fc.oneof(
  { weight: 4, arbitrary: segment },
  {
    weight: 1,
    arbitrary: fc.constantFrom('index', 'default', 'admin', 'api-v2', '__proto__', '-'),
  },
)
const text = fc
  .oneof(
    fc.string({ maxLength: 6 }),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.constantFrom(
      '',
      '/',
      '%',
      '+',
      ' ',
      '%2F',
      '%2e',
      'a/b',
      '\ufeff',
      'index',
      'module',
      '__proto__',
    ),
  )
  .filter((each) => !/[\p{Cc}\p{Cs}]/u.test(each) && !/^\.{1,2}$/.test(each))
const pairs = fc.array(fc.tuple(text, text), { maxLength: 4 })
const module = fc.constantFrom('default', 'admin', 'api-v2')

describe('Round trips', () => {
  it('preserve each of 100,000 random targets', () => {
    const property = fc.property(module, name, name, pairs, (module, controller, action, pairs) => {
      const params = grouped({ module, controller, action }, pairs)
      const url = start.urlFor(params, { reset: true })
      const { pairs: expected } = fieldsOf(params)
      const back = route(url)
      assert.equal(stateOf(back).rejection, undefined)
      assert.equal(new URL(url, 'http://h').pathname, url)
      assert.deepEqual(found(back), [`${module}/${controller}/${action}`, ...expected])
    })
    fc.assert(property, { numRuns: 100_000 })
  })

  it('preserve any text, or throw because no URL can hold it', () => {
    const any = fc.string({ unit: 'binary', maxLength: 5 })
    const property = fc.property(any, any, any, any, (controller, action, key, value) => {
      let url: string
      try {
        url = start.urlFor(grouped({ module: 'default', controller, action }, [[key, value]]))
      } catch (error) {
        assert.match(String(error), /^TypeError: No URL can hold /)
        return
      }
      assert.deepEqual(found(route(url)), [`default/${controller}/${action}`, [key, value]])
    })
    fc.assert(property, { numRuns: 20_000 })
  })

  it('preserve each target beside named routes', () => {
    const named = routing({
      any: { path: '/:one/:two', defaults: { controller: 'any' } },
      year: { path: '/y/:year/*', requirements: { year: '\\d+' } },
      index: { path: '/', defaults: { controller: 'home' } },
    })
    const from = named('/')
    const property = fc.property(module, name, name, pairs, (module, controller, action, pairs) => {
      const params = grouped({ module, controller, action }, pairs)
      const { pairs: expected } = fieldsOf(params)
      const url = from.urlFor(params, { name: 'default', reset: true })
      const expectedTarget = [`${module}/${controller}/${action}`, ...expected]
      assert.deepEqual(found(named(url)), expectedTarget)
    })
    fc.assert(property, { numRuns: 20_000 })
  })

  for (const names of ['exact', 'zf1'] as const) {
    it(`preserve each recorded request that is routed, names: '${names}'`, () => {
      const target = routing({}, { names })
      const checked = vectors().filter((vector) => isPreserved(target, vector))
      assert.ok(checked.length > 1_600, String(checked.length))
    })
  }
})

function isPreserved(target: Routing, vector: string): boolean {
  const request = target(vector)
  if (stateOf(request).rejection !== undefined) return false
  if (vector === '/no<such>/act') {
    assert.throws(
      () => request.urlFor(),
      /No URL can hold the controller "no<such>": it is not a valid/,
    )
    return false
  }
  const url = request.urlFor()
  assert.deepEqual(found(target(url)), found(request), `${vector} as ${url}`)
  return true
}

function vectors(): string[] {
  return readFileSync(repositoryFile('test/conformance/vectors.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).request.target)
}

function grouped(names: UrlParams, pairs: readonly (readonly [string, string])[]): UrlParams {
  const values = new Map<string, string[]>()
  for (const [key, value] of pairs) {
    if (Object.hasOwn(names, key)) continue
    values.set(key, [...(values.get(key) ?? []), value])
  }
  // Not by assignment: __proto__ must become a key.
  return { ...names, ...Object.fromEntries(values) }
}

function fieldsOf({ module: _, controller: __, action: ___, ...others }: UrlParams): {
  pairs: [string, string][]
} {
  const entries = Object.entries(others) as [string, string[]][]
  return {
    pairs: entries.flatMap(([key, values]) => values.map((v): [string, string] => [key, v])),
  }
}
