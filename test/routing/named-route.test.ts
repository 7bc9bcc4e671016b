import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { UrlParams } from '../../lib/http/url-params.ts'
import { FrontController, HttpRequest, type RoutePattern } from '../../lib/index.ts'
import { found, routing } from '../support/routing.ts'

/** What one route makes of paths: names and pairs, or undefined where it does not match. */
function check(pattern: RoutePattern, table: readonly (readonly [string, unknown[]?])[]): void {
  const target = routing({ one: pattern })
  for (const [path, expected] of table) {
    const request = target(path)
    const byDefault = routing()(path)
    assert.deepEqual(found(request), expected ?? found(byDefault), path)
    // What was left out is written where something follows, and then stands in another order.
    const back = target(request.url())
    assert.deepEqual(found(back).sort(), found(request).sort(), path)
  }
}

// The outcomes are those of ZF1's own tests of Zend_Controller_Router_Route and _Route_Static.
describe('A route', () => {
  const to = { controller: 'ctrl', action: 'act' }

  it('of texts alone takes one path', () => {
    check({ path: 'users/all', defaults: to }, [
      ['/users/all', ['default/ctrl/act']],
      ['/users/all/', ['default/ctrl/act']],
      ['//users/all', ['default/ctrl/act']],
      ['/users'],
      ['/users/martel'],
      ['/users/all/martel'],
      ['/Users/all'],
      ['/users//all'],
      ['/'],
    ])
  })

  it('of no segment takes the root', () => {
    check({ path: '/', defaults: to }, [
      ['/', ['default/ctrl/act']],
      ['//', ['default/ctrl/act']],
      ['/a'],
    ])
  })

  it('leads to default, index and index where it says nothing else', () => {
    check({ path: '/about' }, [['/about', ['default/index/index']]])
  })

  it('finds a text in any encoding where it needs one, else in none', () => {
    check({ path: '/żółć', defaults: to }, [
      ['/%C5%BC%C3%B3%C5%82%C4%87', ['default/ctrl/act']],
      ['/%c5%bc%c3%b3%c5%82%c4%87', ['default/ctrl/act']],
    ])
    check({ path: '/about', defaults: to }, [['/%61bout']])
    check({ path: '/@a+b', defaults: to }, [['/@a+b', ['default/ctrl/act']], ['/%40a+b']])
  })

  it('takes a colon for itself where it is doubled', () => {
    check({ path: '/::id/x', defaults: to }, [['/:id/x', ['default/ctrl/act']], ['/5/x']])
  })

  it('gives its variables, decoded once', () => {
    check({ path: 'archive/:year/:month', defaults: to }, [
      ['/archive/2006/07', ['default/ctrl/act', ['year', '2006'], ['month', '07']]],
      ['/archive/a%2Fb/%2541+x', ['default/ctrl/act', ['year', 'a/b'], ['month', '%41 x']]],
      ['/archive/a%CC%88/&=', ['default/ctrl/act', ['year', 'a\u0308'], ['month', '&=']]],
      ['/archive/2006'],
      ['/archive//07'],
      ['/ctrl/act/2000'],
      ['/archive/2006/07/08'],
    ])
  })

  it('takes module, controller and action out of the path, never decoded', () => {
    check({ path: ':controller/:action/:year' }, [
      ['/ctrl/act/2000', ['default/ctrl/act', ['year', '2000']]],
      ['/c%74rl/a+t/2000', ['default/c%74rl/a+t', ['year', '2000']]],
    ])
    check({ path: 'go/:module/:controller', defaults: { module: 'admin', controller: 'c' } }, [
      ['/go', ['admin/c/index']],
      ['/go/api-v2', ['api-v2/c/index']],
      ['/go/api-v2/ping', ['api-v2/ping/index']],
    ])
  })

  it('lets the end of its path be left out where there are defaults', () => {
    check({ path: ':controller/:action/:year', defaults: { year: 2006 } }, [
      ['/ctrl/act', ['default/ctrl/act', ['year', '2006']]],
      ['/ctrl/act/', ['default/ctrl/act', ['year', '2006']]],
      ['/ctrl/act/2000', ['default/ctrl/act', ['year', '2000']]],
      ['/ctrl'],
    ])
    check({ path: ':a/:b/:year', defaults: { ...to, b: 'x', year: null } }, [
      ['/1', ['default/ctrl/act', ['a', '1'], ['b', 'x']]],
      ['/1//3', ['default/ctrl/act', ['a', '1'], ['year', '3'], ['b', 'x']]],
      ['/1/2/3', ['default/ctrl/act', ['a', '1'], ['b', '2'], ['year', '3']]],
      ['/'],
    ])
  })

  it('gives its other defaults as pairs', () => {
    check({ path: '/latest', defaults: { ...to, 'so&rt': 'a/b', page: 1, none: null } }, [
      ['/latest', ['default/ctrl/act', ['so&rt', 'a/b'], ['page', '1']]],
    ])
  })

  it('holds a variable to its requirement, the whole of it', () => {
    const requirements = { year: '\\d+|last' }
    check({ path: ':controller/:action/:year', requirements }, [
      ['/ctrl/act/2000', ['default/ctrl/act', ['year', '2000']]],
      ['/ctrl/act/%32000', ['default/ctrl/act', ['year', '2000']]],
      ['/ctrl/act/last', ['default/ctrl/act', ['year', 'last']]],
      ['/ctrl/act/2000t'],
      ['/ctrl/act/xlast'],
      ['/ctrl/act/LAST'],
    ])
    check({ path: '/x/:y', defaults: to, requirements: { y: /ü|a/gim } }, [
      ['/x/%C3%9C', ['default/ctrl/act', ['y', 'Ü']]],
      ['/x/A', ['default/ctrl/act', ['y', 'A']]],
      ['/x/A', ['default/ctrl/act', ['y', 'A']]],
      ['/x/ab'],
    ])
    check({ path: '/:controller', requirements: { controller: 'a' } }, [
      ['/a', ['default/a/index']],
      ['/%61'],
    ])
    const optional = { path: '/y/:year/:month', defaults: { ...to, year: 2006, month: 1 } }
    check({ ...optional, requirements: { year: '\\d+' } }, [
      ['/y', ['default/ctrl/act', ['year', '2006'], ['month', '1']]],
      ['/y//5'],
    ])
  })

  it('takes pairs where it ends in a star', () => {
    check({ path: 'news/view/*', defaults: { controller: 'news', action: 'view' } }, [
      ['/news/view', ['default/news/view']],
      [
        '/news/view/show/all/year/2000/empty',
        ['default/news/view', ['show', 'all'], ['year', '2000']],
      ],
      [
        '/news/view/a%2Fb/c+d/tag/1/tag/2',
        ['default/news/view', ['a/b', 'c d'], ['tag', '1'], ['tag', '2']],
      ],
      ['/news/view//x/y//z', ['default/news/view', ['', 'x'], ['y', '']]],
      ['/news/list'],
    ])
    check({ path: '*', defaults: to }, [
      ['/', ['default/ctrl/act']],
      ['/key/value', ['default/ctrl/act', ['key', 'value']]],
    ])
    check({ path: ':controller/:action/:next/*' }, [
      [
        '/c/a/next/2000/show/all/sort',
        ['default/c/a', ['next', 'next'], ['2000', 'show'], ['all', 'sort']],
      ],
    ])
  })

  it('lets no pair set anew what it sets', () => {
    check({ path: 'archives/:year/*', defaults: { controller: 'archive', lang: 'en' } }, [
      [
        '/archives/2006/controller/test/year/1/%79ear/1/lang/de/module/admin/sort/author',
        ['default/archive/index', ['year', '2006'], ['sort', 'author'], ['lang', 'en']],
      ],
    ])
  })

  it('may be called __proto__, and have variables of such names', () => {
    const target = routing(new Map([['__proto__', { path: '/p/:__proto__/:constructor' }]]))
    const request = target('/p/1/2')
    assert.deepEqual(found(request), [
      'default/index/index',
      ['__proto__', '1'],
      ['constructor', '2'],
    ])
    assert.equal(request.url(), '/p/1/2')
  })
})

describe('Routes', () => {
  const routes = {
    first: { path: '/news/:id', defaults: { controller: 'first' } },
    second: { path: '/news/:id', defaults: { controller: 'second' }, requirements: { id: '\\d+' } },
  }

  it('are tried from the last to the first, the default route at the end', () => {
    const target = routing(routes)
    assert.deepEqual(found(target('/news/5')), ['default/second/index', ['id', '5']])
    assert.deepEqual(found(target('/news/list')), ['default/first/index', ['id', 'list']])
    assert.deepEqual(found(target('/news/list/id/5')), ['default/news/list', ['id', '5']])
    const turned = routing(new Map(Object.entries(routes).reverse()))
    assert.deepEqual(found(turned('/news/5')), ['default/first/index', ['id', '5']])
  })

  it('see the path past the base path', () => {
    const target = routing(routes, { basePath: '/app' })
    const request = target('/app/news/5')
    assert.deepEqual(found(request), ['default/second/index', ['id', '5']])
    assert.equal(request.url({ id: 6 }), '/app/news/6')
  })

  it('bring as many pairs as any path may', async () => {
    const open = { path: '/files/*', defaults: { controller: 'files' } }
    const files = { index() {} }
    const limits = { maxFields: 3 }
    const controllers = new Map([['files', files]])
    const front = new FrontController({ controllers, routes: { open }, limits })
    const status = async (target: string) =>
      (await front.handle(new HttpRequest({ target }))).status
    assert.equal(await status('/files/a/1/b/2/c/3'), 200)
    assert.equal(await status('/files/a/1/b/2/c/3/d/4'), 400)
  })

  it('reach what is registered, and never the error action', async () => {
    const routes = {
      article: { path: '/a/:id', defaults: { controller: 'news', action: 'view' } },
      error: { path: '/oops', defaults: { controller: 'error', action: 'error' } },
    }
    const asked: unknown[] = []
    const news = { view: (request: HttpRequest) => void asked.push(request.param('id')) }
    const front = new FrontController({ controllers: new Map([['news', news]]), routes })
    assert.equal((await front.handle(new HttpRequest({ target: '/a/7' }))).status, 200)
    assert.equal((await front.handle(new HttpRequest({ target: '/oops' }))).status, 404)
    assert.deepEqual(asked, ['7'])
  })

  it('are refused where they are none', () => {
    const modules = new Map([['admin', new Map()]])
    const refused: [unknown, RegExp][] = [
      [null, /Expected "routes" to be an object or a Map/],
      [[], /Expected "routes" to be an object or a Map/],
      [{ a: null }, /The route "a" has no "path"/],
      [{ a: { route: '/a' } }, /The route "a" has no "path"/],
      [{ a: { path: '/a', reqs: {} } }, /There is no "reqs" among the fields of the route "a"/],
      [{ default: { path: '/a' } }, /The route "default" is the built-in one/],
      [{ a: { path: '/a//b' } }, /The route "a" has a path with the segment ""/],
      [{ a: { path: '/a/*/b' } }, /The route "a" has a path with the segment "\*"/],
      [{ a: { path: '/a%20' } }, /The route "a" has a path with the segment "a%20"/],
      [{ a: { path: '/a?b' } }, /The route "a" has a path with the segment "a\?b"/],
      [{ a: { path: '/a/..' } }, /the segment "\.\."/],
      [{ a: { path: '/a\n' } }, /the segment "a/],
      [{ a: { path: '/:' } }, /The route "a" has a variable ":" without a name/],
      [{ a: { path: '/:id.html' } }, /The route "a" has a variable ":id.html" without a name/],
      [{ a: { path: '/:id/:id' } }, /The route "a" has the variable "id" twice/],
      [{ a: { path: '/:q' } }, /The route "a" must not set "q"/],
      [{ a: { path: '/', defaults: { error_handler: '' } } }, /must not set "error_handler"/],
      [
        { a: { path: '/', defaults: { id: {} } } },
        /The route "a" has a default "id" that is no text/,
      ],
      [{ a: { path: '/', defaults: { action: null } } }, /a default "action" that is no text/],
      [{ a: { path: '/', defaults: { module: '' } } }, /a default "module" that is no text/],
      [{ a: { path: '/', defaults: { module: 'shop' } } }, /leads to the module "shop"/],
      [{ a: { path: '/', requirements: { id: 'x' } } }, /a requirement for "id", and no such/],
      [{ a: { path: '/:id', requirements: { id: '(' } } }, /"id" that is no regular expression/],
      [{ a: { path: '/:id', requirements: { id: 5 } } }, /"id" that is no regular expression/],
    ]
    for (const [routes, message] of refused) {
      assert.throws(() => new FrontController({ modules, routes } as object), {
        name: 'TypeError',
        message,
      })
    }
    const router = { route: () => undefined }
    assert.throws(() => new FrontController({ routes: {}, router }), /"routes" or a "router", not/)
  })
})

describe('HttpRequest.url() by a named route', () => {
  const routes = {
    author: { path: 'authors/:name', defaults: { controller: 'authors', name: 'martel' } },
    month: { path: 'archive/:year/:month', requirements: { year: '\\d+', month: '\\d\\d' } },
    archive: { path: 'old/:year/*', defaults: { controller: 'old', action: 'show', year: 2005 } },
    any: { path: 'any/:controller/:action/*', defaults: { controller: 'c', action: 'a' } },
    static: { path: 'about/żółć', defaults: { controller: 'about' } },
  }
  const target = routing(routes)
  const table: [name: string, params: UrlParams, url: string][] = [
    ['author', { name: 'mike' }, '/authors/mike'],
    ['author', {}, '/authors'],
    ['author', { name: null }, '/authors'],
    ['author', { name: 'a/b c' }, '/authors/a%2Fb%20c'],
    ['author', { controller: 'authors', module: 'default' }, '/authors'],
    ['month', { year: 2006, month: '07' }, '/archive/2006/07'],
    ['archive', {}, '/old'],
    ['archive', { show: 'all' }, '/old/2005/show/all'],
    ['archive', { year: 2006, tag: ['a', 'b'], x: '' }, '/old/2006/tag/a/tag/b/x//-'],
    ['any', { controller: 'users' }, '/any/users'],
    ['any', { action: 'display' }, '/any/c/display'],
    ['any', { p: 1 }, '/any/c/a/p/1'],
    ['static', {}, '/about/%C5%BC%C3%B3%C5%82%C4%87'],
  ]

  it('writes what is given in its places', () => {
    for (const [name, params, url] of table) {
      assert.equal(target('/').url(params, { name }), url)
      assert.equal(target('/').url(params, { name, reset: true }), url)
    }
  })

  it('takes over what the same route found, and nothing from another one', () => {
    const month = target('/archive/2006/07')
    assert.equal(month.url({ month: '03' }), '/archive/2006/03')
    assert.equal(month.url({ month: '03' }, { name: 'month' }), '/archive/2006/03')
    assert.throws(
      () => month.url({ month: '03' }, { reset: true }),
      /The route "month" needs "year"/,
    )
    assert.equal(month.url({}, { name: 'archive' }), '/old')
    assert.equal(month.url({}, { name: 'default' }), '/')
    const old = target('/old/2006/show/all/sort/name')
    assert.equal(old.url(), '/old/2006/show/all/sort/name')
    assert.equal(old.url({ year: null, show: null }), '/old/2005/sort/name')
    assert.equal(old.url({ year: 2005 }, { reset: true }), '/old')
    assert.equal(target('/year/9').url({ year: 2006 }, { name: 'archive' }), '/old/2006')
  })

  it('is the default route past a forward, and that of the original in the error action', async () => {
    const urls: string[] = []
    const error = { error: (request: HttpRequest) => void urls.push(request.url({ month: '01' })) }
    const front = new FrontController({ controllers: new Map([['error', error]]), routes })
    await front.handle(new HttpRequest({ target: '/archive/2006/07' }))
    assert.deepEqual(urls, ['/archive/2006/01'])
    const forwarded = target('/archive/2006/07').forward({ action: 'list' })
    assert.equal(forwarded.url(), '/index/list/year/2006/month/07')
  })

  it('refuses what the route has no place for', () => {
    const refused: [name: string, params: UrlParams, message: RegExp][] = [
      ['month', {}, /The route "month" needs "(year|month)"/],
      ['month', { year: '', month: '07' }, /The route "month" needs "year"/],
      ['month', { year: ['1', '2'], month: '07' }, /The route "month" takes one "year"/],
      ['month', { year: 'x', month: '07' }, /The route "month" has no place for this "year"/],
      ['month', { year: 1, month: '07', day: 1 }, /The route "month" has no place for this "day"/],
      ['author', { action: 'list' }, /The route "author" always has the action "index"/],
      ['author', { name: '..' }, /No URL can hold the value of "name"/],
      ['any', { controller: 'a/b' }, /No URL can hold the value of "controller"/],
      ['any', { controller: '' }, /No URL can hold the value of "controller"/],
    ]
    for (const [name, params, message] of refused) {
      assert.throws(() => target('/').url(params, { name }), { name: 'TypeError', message })
    }
  })

  it('is none that another route takes', () => {
    const shadowed = routing({
      page: { path: '/p/:page', defaults: { controller: 'pages' } },
      home: { path: '/p/home', defaults: { controller: 'home' } },
      list: { path: '/news/:what', defaults: { controller: 'all' } },
    })('/')
    assert.equal(shadowed.url({ page: 'away' }, { name: 'page' }), '/p/away')
    assert.throws(() => shadowed.url({ page: 'home' }, { name: 'page' }), {
      name: 'TypeError',
      message: 'Another route takes the URL that the route "page" gives',
    })
    // The default route has a longer form.
    assert.equal(shadowed.url({ controller: 'news', action: 'list' }), '/default/news/list')
  })

  it('is no path that begins with two slashes', () => {
    const root = routing({
      all: { path: '/*' },
      opt: { path: '/:a/:b', defaults: { a: '', b: '' } },
    })('/')
    assert.throws(() => root.url({ '': 'evil.example' }, { name: 'all' }), /Another route takes/)
    assert.throws(
      () => root.url({ b: 'evil.example' }, { name: 'opt' }),
      /The route "opt" needs "a"/,
    )
  })

  it('leads back to what it was made from', () => {
    const text = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 5 })
      .filter((each) => !/[\p{Cc}\p{Cs}]/u.test(each) && !/^\.{1,2}$/.test(each))
    const open = routing({
      open: { path: '/o/:a/:b/*', defaults: { ...{ controller: 'o' }, b: 'x' } },
    })
    const property = fc.property(text, text, text, text, (a, b, key, value) => {
      fc.pre(!['a', 'b', 'module', 'controller', 'action'].includes(key))
      const params = Object.fromEntries([
        ['a', a],
        ['b', b],
        [key, value],
      ])
      const back = open(open('/').url(params, { name: 'open' }))
      assert.deepEqual(Object.fromEntries(back.pairs), params)
      assert.equal(back.controller, 'o')
    })
    fc.assert(property, { numRuns: 10_000 })
  })
})
