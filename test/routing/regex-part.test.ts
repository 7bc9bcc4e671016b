import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UrlParams } from '../../lib/http/route.ts'
import type { RoutePattern } from '../../lib/routing/route-pattern.ts'
import { found, routing } from '../support/routing.ts'

const archive: RoutePattern = {
  regex: 'archive/(\\d{4})-(\\w+)\\.html',
  map: { 1: 'year', 2: 'slug' },
  reverse: 'archive/%d-%s.html',
  defaults: { controller: 'news', action: 'archive' },
}

// Checks what a route finds in paths; undefined if the default route finds them.
function check(one: RoutePattern, table: readonly (readonly [string, unknown[]?])[]): void {
  const target = routing({ one })
  for (const [path, expected] of table) {
    assert.deepEqual(found(target(path)), expected ?? found(routing()(path)), path)
  }
}

describe('RegexPart.match()', () => {
  it('matches the whole decoded path without its outer slashes, and ignores case', () => {
    const to = ['default/news/archive', ['year', '2006'], ['slug', 'x']]
    check(archive, [
      ['/archive/2006-x.html', to],
      ['//archive/2006-x.html//', to],
      ['/ARCHIVE/2006-x.Html', to],
      ['/archive%2F%32006-x.html', to],
      ['/archive/2006-x.html/more'],
      ['/an/archive/2006-x.html'],
      ['/archive/2006-x-html'],
    ])
  })

  it('anchors each alternative', () => {
    check({ regex: 'a|b', defaults: { controller: 'c' } }, [
      ['/a', ['default/c/index']],
      ['/b', ['default/c/index']],
      ['/ax'],
      ['/xb'],
    ])
  })

  it('decodes once, also a plus sign, and cuts the slashes before', () => {
    check({ regex: '(?<text>.*)x', defaults: { controller: 'c' } }, [
      ['/%2541+x', ['default/c/index', ['text', '%41 ']]],
      ['/%2Fx', ['default/c/index', ['text', '/']]],
      ['/%C3%A4%F0%9F%98%80x', ['default/c/index', ['text', 'ä😀']]],
    ])
  })

  it('takes the flags i and u of a RegExp', () => {
    check({ regex: /Archive\/(.)/g, defaults: { controller: 'c' } }, [
      ['/Archive/1', ['default/c/index', ['1', '1']]],
      ['/Archive/1', ['default/c/index', ['1', '1']]],
      ['/archive/1'],
      ['/Archive/%F0%9F%98%80'],
    ])
    check({ regex: /x\/(\p{L}).(.)/iu, defaults: { controller: 'c' } }, [
      ['/X/%C3%A41%F0%9F%98%80', ['default/c/index', ['1', 'ä'], ['2', '😀']]],
    ])
  })

  it('names groups by the map either way round, by their own name, and by number', () => {
    for (const map of [
      { 1: 'a', c: 3 },
      { a: 1, 3: 'c' },
      { a: '1', c: '3' },
    ]) {
      check({ regex: 'x(.)(.)(.)(?<d>.)', map }, [
        ['/x1234', ['default/index/index', ['a', '1'], ['2', '2'], ['c', '3'], ['d', '4']]],
      ])
    }
    check({ regex: '\\(([)(]\\)?)(?:y|(?<!a)(?=z)z)' }, [
      ['/()z', ['default/index/index', ['1', ')']]],
    ])
  })

  it('leaves out a group that took no part, so that its default applies', () => {
    const regex = 'blog(?:/(\\d+))?(?:/(\\w*))?'
    check({ regex, map: { 1: 'id' }, defaults: { id: 1, 2: 'none' } }, [
      ['/blog', ['default/index/index', ['2', 'none'], ['id', '1']]],
      ['/blog/x', ['default/index/index', ['2', 'x'], ['id', '1']]],
      ['/blog/5/x', ['default/index/index', ['id', '5'], ['2', 'x']]],
    ])
    check({ regex, map: { 1: 'id' }, defaults: { 1: 'first' } }, [
      ['/blog', ['default/index/index', ['id', 'first']]],
    ])
  })

  it('reads module, controller and action only unencoded', () => {
    const regex = 'to/(\\w+)/([\\w +]+)(?:/(\\w*))?'
    check({ regex, map: { module: 1, controller: 2, action: 3 }, defaults: { action: 'x' } }, [
      ['/to/admin/report', ['admin/report/x']],
      ['/t%6F/admin/report/daily', ['admin/report/daily']],
      ['/to/%61dmin/report'],
      ['/to/admin/r%65port'],
      ['/to/admin/a+b'],
      ['/to/admin/a%20b'],
      ['/to/admin/report/', ['admin/report/x']],
    ])
  })
})

describe('RegexPart.build()', () => {
  const target = routing({
    archive,
    plain: { regex: 'plain\\.html', reverse: '/plain.html' },
    swapped: { regex: '(\\w+)/(\\w+)', map: { 1: 'a', 2: 'b' }, reverse: '%1$s/%2$s' },
    twice: { regex: 'w/(\\w+)-\\1', map: { 1: 'a' }, reverse: 'w/%1$s-%1$s' },
    names: { regex: 'n/(\\w+)/(.+)', map: { controller: 1, id: 2 }, reverse: 'n/%s/%s' },
    silent: { regex: 's/(\\d+)' },
    umlaut: { regex: 'über/(.+)', reverse: 'über/%s' },
  })
  const urls: [name: string, params: UrlParams, url: string][] = [
    ['archive', { year: 2006, slug: 'x' }, '/archive/2006-x.html'],
    ['plain', {}, '/plain.html'],
    ['swapped', { a: 1, b: 2 }, '/1/2'],
    ['twice', { a: 'x' }, '/w/x-x'],
    ['names', { controller: 'news', id: 'a/b +c' }, '/n/news/a%2Fb%20%2Bc'],
    ['umlaut', { 1: 'ä' }, '/%C3%BCber/%C3%A4'],
  ]

  it('fills in the places of `reverse`', () => {
    for (const [name, params, url] of urls) {
      assert.equal(target('/').urlFor(params, { name }), url)
    }
    const request = target('/archive/2006-x.html')
    assert.equal(request.urlFor({ slug: 'y' }), '/archive/2006-y.html')
    assert.throws(() => request.urlFor({ slug: 'y' }, { reset: true }), /needs "year"/)
  })

  it('throws if the URL would be wrong', () => {
    const rejected: [name: string, params: UrlParams, message: RegExp][] = [
      ['silent', { 1: 1 }, /The route "silent" makes no URL, because it has no "reverse"/],
      ['archive', { year: 'x', slug: 'y' }, /needs a whole number as "year"/],
      ['archive', { year: '07', slug: 'y' }, /needs a whole number as "year"/],
      ['archive', { year: 7, slug: 'y' }, /Another route matches/],
      ['archive', { year: 2006, slug: 'y', more: 1 }, /has no variable for "more"/],
      ['swapped', { a: 'x/y', b: 'z' }, /Another route matches/],
      ['names', { controller: 'ä', id: 1 }, /No URL can hold the controller/],
    ]
    for (const [name, params, message] of rejected) {
      assert.throws(() => target('/').urlFor(params, { name }), { name: 'TypeError', message })
    }
  })

  it('never builds a path that a client resolves or reads as a host', () => {
    const open = routing({
      dots: { regex: '(\\.*)(\\w*)/x', reverse: '.%1$s%2$s/x' },
      host: { regex: '(?:(\\w*)/)?([\\w.]+)', reverse: '%s/%s', defaults: { 1: '' } },
    })('/')
    assert.throws(() => open.urlFor({ 1: '', 2: '' }, { name: 'dots' }), TypeError)
    assert.throws(() => open.urlFor({ 1: '', 2: 'evil.example' }, { name: 'host' }), TypeError)
  })
})
