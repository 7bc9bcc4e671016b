import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { HttpRequest, stateOf } from '../../lib/http/request.ts'
import type { UrlParams } from '../../lib/http/url-params.ts'
import { repositoryFile } from '../support/repository.ts'
import { found, type RouteTarget, routing } from '../support/routing.ts'

const route = routing()
const start = route('/')

describe('HttpRequest.url() by the default route', () => {
  it('leaves out what routing puts in', () => {
    check(start, [
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

  it('writes defaults out where pairs follow', () => {
    check(start, [
      [{ id: 42 }, '/index/index/id/42'],
      [{ module: 'admin', id: 42 }, '/admin/index/index/id/42'],
      [{ controller: 'news', page: '2', tag: ['a', 'b'] }, '/news/index/page/2/tag/a/tag/b'],
    ])
  })

  it('writes the module out where the controller has the name of one', () => {
    check(start, [[{ controller: 'admin', action: 'x' }, '/default/admin/x']])
    const folded = routing({}, { names: 'zf1' })('/')
    check(folded, [[{ controller: 'ADMIN' }, '/default/ADMIN']])
  })

  it('encodes what would be read as something else', () => {
    check(start, [
      [{ controller: 'n', q2: 'a/b' }, '/n/index/q2/a%2Fb'],
      [{ controller: 'n', p: 'a+b c' }, '/n/index/p/a%2Bb%20c'],
      [{ controller: 'n', p: '?#%&=\\' }, '/n/index/p/%3F%23%25%26%3D%5C'],
      [{ controller: 'n', 'ä/b': '€' }, '/n/index/%C3%A4%2Fb/%E2%82%AC'],
      [{ controller: 'n', p: '%2e' }, '/n/index/p/%252e'],
      [{ controller: 'n', p: '', z: '1' }, '/n/index/p//z/1'],
      [{ controller: 'n', p: '' }, '/n/index/p//-'],
      [{ controller: 'n', '': '' }, '/n/index///-'],
    ])
  })

  it('takes over what the request has, and null removes it', () => {
    const request = route('/admin/report/daily/day/1/tag/a/page/2/tag/b')
    check(request, [
      [{}, '/admin/report/daily/day/1/tag/a/page/2/tag/b'],
      [{ page: 3 }, '/admin/report/daily/day/1/tag/a/tag/b/page/3'],
      [{ tag: null, page: undefined }, '/admin/report/daily/day/1'],
      [{ tag: [], page: null, day: null }, '/admin/report/daily'],
      [{ module: null }, '/report/daily/day/1/tag/a/page/2/tag/b'],
      [{ action: null, tag: null, page: null, day: null }, '/admin/report'],
    ])
    assert.equal(request.url({ controller: 'news' }, { reset: true }), '/news')
    assert.equal(request.url({}, { reset: true }), '/')
    assert.equal(request.url({}, { name: 'default', reset: true }), '/')
  })

  it('stands behind the base path', () => {
    const mounted = routing({}, { basePath: '/app' })
    assert.equal(mounted('/app/news/list/id/1').url(), '/app/news/list/id/1')
    assert.equal(mounted('/app').url(), '/app/')
  })

  it('leaves keys and values as they are where they are encoded', () => {
    const url = start.url({ controller: 'n', p: 'a%20b' }, { encode: false })
    assert.equal(url, '/n/index/p/a%20b')
    for (const value of ['a b', 'a/b', 'a?b', 'a#b', '%', '%ff', '%0a', '..', 'ä']) {
      assert.throws(
        () => start.url({ controller: 'n', p: value }, { encode: false }),
        /TypeError: No URL can hold the value of "p" as it stands/,
      )
    }
  })

  it('refuses what no URL can hold, and tells no value of it', () => {
    const refused: [UrlParams, RegExp][] = [
      [{ controller: 'a/b' }, /the controller "a\/b"/],
      [{ controller: 'a b' }, /the controller "a b"/],
      [{ controller: '' }, /the controller ""$/],
      [{ action: '' }, /the action ""$/],
      [{ action: 'a?b' }, /the action "a\?b"/],
      [{ action: '%' }, /the action "%"/],
      [{ action: '%0a' }, /the action "%0a"/],
      [{ action: '%2E.' }, /the action "%2E."/],
      [{ module: 'shop' }, /There is no module "shop"/],
      [{ p: '..' }, /^No URL can hold the value of "p": clients resolve/],
      [{ p: '.' }, /the value of "p"/],
      [{ '.': 'x' }, /the key "."/],
      [{ p: 'secret\n' }, /^No URL can hold the value of "p": a path has no control characters$/],
      [{ p: '\ud800' }, /the value of "p"/],
    ]
    for (const [params, message] of refused) {
      assert.throws(() => start.url(params), { name: 'TypeError', message })
    }
  })

  it('refuses what is no name and no value', () => {
    const misuses: [unknown, RegExp][] = [
      [{ controller: 1 }, /the controller of a URL/],
      [{ action: ['a', 'b'] }, /the action of a URL/],
      [{ id: {} }, /Expected "id" to be/],
      [{ id: [[1]] }, /Expected "id" to be/],
      [{ id: true }, /Expected "id" to be/],
    ]
    for (const [params, message] of misuses) {
      assert.throws(() => start.url(params as UrlParams), { name: 'TypeError', message })
    }
    assert.throws(() => start.url({}, { name: 'nowhere' }), /There is no route "nowhere"/)
  })

  it('takes names of Object.prototype for data', () => {
    const params = JSON.parse('{"__proto__":"1","constructor":"2"}')
    check(start, [[params, '/index/index/__proto__/1/constructor/2']])
  })

  it('is that of the place that a forward leads to', () => {
    const request = route('/news/list/page/2').forward({ action: 'view', params: { id: '1' } })
    assert.equal(request.url(), '/news/view/page/2/id/1')
  })

  it('writes what a client sent as it can send it once more', () => {
    for (const target of ['/news/view/./x', '/news/view/x/..', '/./^news', '/x/%2e%2E', '/a/b\\']) {
      const request = route(target)
      assert.deepEqual(found(route(request.url())), found(request), target)
    }
    for (const target of ['/a"', '/<', '/\\evil.example', '/a/`']) {
      assert.throws(() => route(target).url(), /TypeError: No URL can hold the/, target)
    }
  })

  it('takes nothing over from a request that was refused', () => {
    assert.equal(route('/news/view/a/%00').url({ controller: 'help' }), '/help')
  })

  it('needs a front controller', () => {
    assert.throws(() => new HttpRequest({ target: '/' }).url(), {
      name: 'TypeError',
      message: 'Expected a request that the built-in router of a front controller routed',
    })
  })
})

// What routing can find: names as segments, any pairs of text that a path can hold.
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
  it('lose none of 100,000 random places', () => {
    const property = fc.property(module, name, name, pairs, (module, controller, action, pairs) => {
      const params = grouped({ module, controller, action }, pairs)
      const url = start.url(params, { reset: true })
      const { pairs: expected } = fieldsOf(params)
      const back = route(url)
      assert.equal(stateOf(back).rejection, undefined)
      assert.equal(new URL(url, 'http://h').pathname, url)
      assert.deepEqual(found(back), [`${module}/${controller}/${action}`, ...expected])
    })
    fc.assert(property, { numRuns: 100_000 })
  })

  it('end where they began, or say why there is no way, for any text at all', () => {
    const any = fc.string({ unit: 'binary', maxLength: 5 })
    const property = fc.property(any, any, any, any, (controller, action, key, value) => {
      let url: string
      try {
        url = start.url(grouped({ module: 'default', controller, action }, [[key, value]]))
      } catch (error) {
        assert.match(String(error), /^TypeError: No URL can hold /)
        return
      }
      assert.deepEqual(found(route(url)), [`default/${controller}/${action}`, [key, value]])
    })
    fc.assert(property, { numRuns: 20_000 })
  })

  it('lose none where named routes stand in the way', () => {
    const named = routing({
      any: { path: '/:one/:two', defaults: { controller: 'any' } },
      year: { path: '/y/:year/*', requirements: { year: '\\d+' } },
      index: { path: '/', defaults: { controller: 'home' } },
    })
    const from = named('/')
    const property = fc.property(module, name, name, pairs, (module, controller, action, pairs) => {
      const params = grouped({ module, controller, action }, pairs)
      const { pairs: expected } = fieldsOf(params)
      const url = from.url(params, { name: 'default', reset: true })
      const place = [`${module}/${controller}/${action}`, ...expected]
      assert.deepEqual(found(named(url)), place)
    })
    fc.assert(property, { numRuns: 20_000 })
  })

  for (const names of ['exact', 'zf1'] as const) {
    it(`lead each recorded request that is routed back to where it was, names: '${names}'`, () => {
      const target = routing({}, { names })
      const checked = vectors().filter((vector) => leadsBack(target, vector))
      assert.ok(checked.length > 1_600, String(checked.length))
    })
  }
})

function leadsBack(target: RouteTarget, vector: string): boolean {
  const request = target(vector)
  if (stateOf(request).rejection !== undefined) return false
  if (vector === '/no<such>/act') {
    assert.throws(() => request.url(), /No URL can hold the controller "no<such>" as it stands/)
    return false
  }
  const url = request.url()
  assert.deepEqual(found(target(url)), found(request), `${vector} as ${url}`)
  return true
}

function vectors(): string[] {
  return readFileSync(repositoryFile('test/conformance/vectors.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).request.target)
}

function check(request: HttpRequest, table: readonly (readonly [UrlParams, string])[]): void {
  for (const [params, url] of table) assert.equal(request.url(params), url)
}

function grouped(names: UrlParams, pairs: readonly (readonly [string, string])[]): UrlParams {
  const values = new Map<string, string[]>()
  for (const [key, value] of pairs) {
    if (Object.hasOwn(names, key)) continue
    values.set(key, [...(values.get(key) ?? []), value])
  }
  // Not by assignment: __proto__ is a name as any other.
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
