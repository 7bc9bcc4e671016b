import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UrlOptions, UrlParams } from '../../lib/http/route.ts'
import type { RoutePatterns } from '../../lib/routing/route-pattern.ts'
import { found, routing } from '../support/routing.ts'

function check(routes: RoutePatterns, table: readonly (readonly [string, unknown[]?])[]): void {
  const target = routing(routes)
  for (const [path, expected] of table) {
    assert.deepEqual(found(target(path)), expected ?? found(routing()(path)), path)
  }
}

const lang = {
  path: '/:lang',
  abstract: true,
  defaults: { controller: 'home', lang: 'en' },
  requirements: { lang: '[a-z]{2}' },
}

describe('A route under another', () => {
  it('matches what its parent leaves', () => {
    check(
      {
        // The parent may be defined after its child.
        item: { under: 'lang', path: 'items/:id', defaults: { controller: 'items' } },
        lang,
        number: { under: 'item', regex: 'n(\\d+)', map: { n: 1 } },
        start: { under: 'lang', path: '/' },
      },
      [
        ['/de/items/5', ['default/items/index', ['lang', 'de'], ['id', '5']]],
        ['/de/items/5/n7', ['default/items/index', ['lang', 'de'], ['id', '5'], ['n', '7']]],
        ['/de/items/5/N%37/', ['default/items/index', ['lang', 'de'], ['id', '5'], ['n', '7']]],
        ['/de/items/5/n7x'],
        ['/de/items'],
        ['/de', ['default/home/index', ['lang', 'de']]],
        ['/', ['default/home/index', ['lang', 'en']]],
        ['/items/5'],
      ],
    )
  })

  it('wins over its parent, with its variables and its defaults', () => {
    check(
      {
        parent: { path: '/p/:a/:b', defaults: { controller: 'p', action: 'q', c: 1, d: 2 } },
        child: {
          under: 'parent',
          path: ':b/*',
          defaults: { action: 'r', a: 'own', c: 3, d: null },
        },
      },
      [
        [
          '/p/1/2/3/k/v/a/x/c/x/d/x/controller/x',
          ['default/p/r', ['b', '3'], ['k', 'v'], ['c', '3'], ['a', 'own']],
        ],
      ],
    )
  })

  it('is joined by its separator where the parent ends in text or is a regex', () => {
    check(
      {
        text: { path: '/a/news', defaults: { controller: 'text' } },
        dash: { under: 'text', separator: '-', path: ':id' },
        regex: { regex: '(?<word>[a-z]+)', reverse: '%s', abstract: true },
        dots: { under: 'regex', separator: '..', regex: '(\\d+)', reverse: '%d' },
      },
      [
        ['/a/news', ['default/text/index']],
        ['/a/news-5', ['default/text/index', ['id', '5']]],
        ['/a/news-'],
        ['/a/newsx'],
        ['/a/news/5'],
        ['/%61b..5', ['default/index/index', ['word', 'ab'], ['1', '5']]],
        ['/ab.5'],
        ['/ab'],
      ],
    )
  })

  it('needs the separator, as in ZF1, also behind a parent without a path', () => {
    check({ root: { path: '/', abstract: true }, child: { under: 'root', path: 'x' } }, [['/x']])
  })

  it('combines hosts and schemes of all its parents', () => {
    const target = routing({
      site: { host: ':site.example', scheme: 'https', abstract: true, defaults: { site: 'www' } },
      page: { under: 'site', path: '/p/:id/*', defaults: { controller: 'pages' } },
    })
    const at = (host: string, protocol: 'http' | 'https') =>
      found(target('/p/5/site/x/a/b', { headers: { host }, protocol }))
    const expected = ['default/pages/index', ['site', 'shop'], ['id', '5'], ['a', 'b']]
    assert.deepEqual(at('shop.example', 'https'), expected)
    assert.equal(at('shop.example', 'http')[0], 'default/p/5')
    assert.equal(at('other', 'https')[0], 'default/p/5')
  })
})

describe('HttpRequest.urlFor() by a route under another', () => {
  const target = routing({
    lang,
    item: { under: 'lang', path: 'items/:id', defaults: { controller: 'items' } },
    start: { under: 'lang', path: '/' },
    forced: { under: 'lang', path: 'forced', defaults: { lang: 'fr' } },
    text: { path: '/news', defaults: { controller: 'text' } },
    dash: { under: 'text', separator: '-', path: ':id' },
  })
  const check = (from: string, table: [UrlParams, UrlOptions, string | RegExp][]) => {
    for (const [params, options, url] of table) {
      if (typeof url === 'string') assert.equal(target(from).urlFor(params, options), url)
      else
        assert.throws(() => target(from).urlFor(params, options), {
          name: 'TypeError',
          message: url,
        })
    }
  }

  it('takes over what the common parent matched', () => {
    check('/de/items/5', [
      [{ id: 6 }, {}, '/de/items/6'],
      [{ lang: 'fr' }, {}, '/fr/items/5'],
      [{}, { name: 'start' }, '/de/'],
      [{}, { name: 'start', reset: true }, '/en/'],
      [{ id: 6 }, { reset: true }, '/en/items/6'],
      [{}, { name: 'dash' }, /needs "id"/],
      [{ lang: 'x' }, {}, /has a requirement for "lang"/],
      [{}, { name: 'lang' }, '/de'],
      [{}, { name: 'forced' }, '/fr/forced'],
    ])
    check('/de', [
      [{ id: 1 }, { name: 'item' }, '/de/items/1'],
      [{ id: 1 }, { name: 'dash' }, '/news-1'],
    ])
  })

  it('has no separator behind a parent whose path is empty', () => {
    const root = routing({
      site: { path: '/', defaults: { controller: 'site', lang: 'en' } },
      start: { under: 'site', path: '/', defaults: { action: 'start' } },
      page: { under: 'site', path: ':page' },
    })('/')
    assert.equal(root.urlFor(), '/')
    assert.equal(root.urlFor({}, { name: 'start' }), '/')
    assert.throws(() => root.urlFor({ page: 'x' }, { name: 'page' }), {
      name: 'TypeError',
      message: 'Another route matches the URL that the route "page" builds',
    })
  })

  it('follows the separator', () => {
    check('/news-5', [
      [{}, {}, '/news-5'],
      [{}, { name: 'text' }, '/news'],
    ])
  })
})
