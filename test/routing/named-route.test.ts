import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { UrlParams } from '../../lib/http/route.ts'
import { PathText } from '../../lib/routing/path-text.ts'
import type { RouteFacts } from '../../lib/routing/route-part.ts'
import type { RoutePattern } from '../../lib/routing/route-pattern.ts'
import { checkedRoutes } from '../../lib/routing/route-table.ts'
import { found, routing } from '../support/routing.ts'

// Checks the names and pairs that a route finds in paths; undefined if the default route finds them. Then
// builds the URL of each request, and routes it again.
function check(pattern: RoutePattern, table: readonly (readonly [string, unknown[]?])[]): void {
  const target = routing({ one: pattern })
  for (const [path, expected] of table) {
    const request = target(path)
    const byDefault = routing()(path)
    assert.deepEqual(found(request), expected ?? found(byDefault), path)
    // Sorted: a built path writes an omitted default if a later segment follows, so the order differs.
    const back = target(request.urlFor())
    assert.deepEqual(found(back).sort(), found(request).sort(), path)
  }
}

// The results are those of ZF1's own tests of Zend_Controller_Router_Route and _Route_Static.
describe('NamedRoute.match()', () => {
  const to = { controller: 'ctrl', action: 'act' }

  it('matches one path if all segments are literals', () => {
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

  it('reads the host only for a short path that it matches, and for each long one', () => {
    let hasRead = false
    const facts = {
      get labels(): readonly string[] {
        hasRead = true
        return ['b', 'example']
      },
    } as RouteFacts
    const [route] = checkedRoutes({ tenant: { host: 'a.example', path: '/news/:id' } })
    for (const [path, reason, reads] of [
      ['list', 'the path differs', false],
      ['news/1', 'the host differs', true],
      ['list'.repeat(50), 'the host differs', true],
    ] as const) {
      hasRead = false
      assert.deepEqual([route?.match(new PathText(path), facts), hasRead], [reason, reads])
    }
  })

  it('matches the root if there are no segments', () => {
    check({ path: '/', defaults: to }, [
      ['/', ['default/ctrl/act']],
      ['//', ['default/ctrl/act']],
      ['/a'],
    ])
  })

  it('leads to default, index and index without defaults', () => {
    check({ path: '/about' }, [['/about', ['default/index/index']]])
  })

  it('matches a literal in any encoding if it needs one, else unencoded only', () => {
    check({ path: '/żółć', defaults: to }, [
      ['/%C5%BC%C3%B3%C5%82%C4%87', ['default/ctrl/act']],
      ['/%c5%bc%c3%b3%c5%82%c4%87', ['default/ctrl/act']],
    ])
    check({ path: '/about', defaults: to }, [['/%61bout']])
    check({ path: '/@a+b', defaults: to }, [['/@a+b', ['default/ctrl/act']], ['/%40a+b']])
  })

  it('reads a doubled colon as a literal colon', () => {
    check({ path: '/::id/x', defaults: to }, [['/:id/x', ['default/ctrl/act']], ['/5/x']])
  })

  it('returns its variables as pairs, decoded once', () => {
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

  it('reads module, controller and action from the path, never decoded', () => {
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

  it('lets a path omit variables with defaults at its end', () => {
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

  it('returns its other defaults as pairs', () => {
    check({ path: '/latest', defaults: { ...to, 'so&rt': 'a/b', page: 1, none: null } }, [
      ['/latest', ['default/ctrl/act', ['so&rt', 'a/b'], ['page', '1']]],
    ])
  })

  it('matches the whole of a variable against its requirement', () => {
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

  it('accepts pairs if it ends in a star', () => {
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

  it('ignores pairs that set one of its own keys', () => {
    check({ path: 'archives/:year/*', defaults: { controller: 'archive', lang: 'en' } }, [
      [
        '/archives/2006/controller/test/year/1/%79ear/1/lang/de/module/admin/sort/author',
        ['default/archive/index', ['year', '2006'], ['sort', 'author'], ['lang', 'en']],
      ],
    ])
  })

  it('accepts __proto__ and constructor as names', () => {
    const target = routing(new Map([['__proto__', { path: '/p/:__proto__/:constructor' }]]))
    const request = target('/p/1/2')
    assert.deepEqual(found(request), [
      'default/index/index',
      ['__proto__', '1'],
      ['constructor', '2'],
    ])
    assert.equal(request.urlFor(), '/p/1/2')
  })
})

describe('NamedRoute.build()', () => {
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

  it('writes the given values', () => {
    for (const [name, params, url] of table) {
      assert.equal(target('/').urlFor(params, { name }), url)
      assert.equal(target('/').urlFor(params, { name, reset: true }), url)
    }
  })

  it('throws if the route has no path for the target', () => {
    const rejected: [name: string, params: UrlParams, message: RegExp][] = [
      ['month', {}, /The route "month" needs "(year|month)"/],
      ['month', { year: '', month: '07' }, /The route "month" needs "year"/],
      ['month', { year: ['1', '2'], month: '07' }, /The route "month" accepts only one "year"/],
      [
        'month',
        { year: 'x', month: '07' },
        /The route "month" has a requirement for "year" that the value does not meet/,
      ],
      ['month', { year: 1, month: '07', day: 1 }, /The route "month" has no variable for "day"/],
      ['author', { action: 'list' }, /The route "author" always has the action "index"/],
      ['author', { name: '..' }, /No URL can hold the value of "name"/],
      ['any', { controller: 'a/b' }, /No URL can hold the controller "a\/b": it is not a valid/],
      ['any', { controller: '' }, /No URL can hold the controller ""/],
    ]
    for (const [name, params, message] of rejected) {
      assert.throws(() => target('/').urlFor(params, { name }), { name: 'TypeError', message })
    }
  })

  it('is the inverse of match()', () => {
    const text = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 5 })
      .filter((each) => !/[\p{Cc}\p{Cs}]/u.test(each) && !/^\.{1,2}$/.test(each))
    const open = routing({
      open: { path: '/o/:a/:b/*', defaults: { controller: 'o', b: 'x' } },
    })
    const property = fc.property(text, text, text, text, (a, b, key, value) => {
      fc.pre(!['a', 'b', 'module', 'controller', 'action'].includes(key))
      const params = Object.fromEntries([
        ['a', a],
        ['b', b],
        [key, value],
      ])
      const back = open(open('/').urlFor(params, { name: 'open' }))
      assert.deepEqual(Object.fromEntries(back.pairs), params)
      assert.equal(back.controller, 'o')
    })
    fc.assert(property, { numRuns: 10_000 })
  })
})
