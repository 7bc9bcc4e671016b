import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type HttpRequest, stateOf } from '../../lib/http/request.ts'
import { found, type Routing, routing } from '../support/routing.ts'

const account = { host: ':account.news.example', defaults: { controller: 'account' } }

function at(route: Routing, host: string | undefined, target = '/'): unknown[] {
  return found(route(target, host === undefined ? {} : { headers: { host } }))
}

describe('HostPattern.match()', () => {
  const route = routing({ account })

  it('matches the host without its port and its final dots, and ignores case', () => {
    const to = ['default/account/index', ['account', 'acme']]
    for (const host of ['acme.news.example', 'ACME.News.Example:8080', 'acme.news.example.']) {
      assert.deepEqual(at(route, host), to, host)
      assert.deepEqual(at(route, host, '/any/path'), to, host)
    }
  })

  it('matches no invalid host', () => {
    for (const host of [
      ...['.acme.news.example', '%61cme.news.example', 'acme.news.example:x', 'acme.news.example:'],
      ...['acme.news.example:99999', 'news.example', 'a.b.news.example', '.news.example', ''],
      ...['a b.news.example', 'a/b.news.example', '\u212a.news.example', '[::1]'],
      // Longer than a host can be: with 100 routes, it would be split 100 times.
      `acme.news.example${'.'.repeat(300)}`,
    ]) {
      assert.equal(at(route, host)[0], 'default/index/index', host)
    }
    assert.deepEqual(at(route, undefined), ['default/index/index'])
  })

  it('accepts an address, and tests requirements without case', () => {
    const target = routing({
      address: { host: '[::1]', defaults: { controller: 'six' } },
      www: { host: 'www.:tld', requirements: { tld: 'DE|AT' }, defaults: { tld: 'de' } },
    })
    assert.deepEqual(at(target, '[::1]:80'), ['default/six/index'])
    assert.deepEqual(at(target, 'www.At'), ['default/index/index', ['tld', 'at']])
    assert.deepEqual(at(target, 'www.ch')[1], undefined)
    assert.deepEqual(at(target, 'www'), ['default/index/index', ['tld', 'de']])
  })

  it('adds its variables to those of a path or a regex', () => {
    const target = routing({
      path: { ...account, path: '/in/:page/*' },
      regex: { ...account, regex: 'r-(?<n>\\d+)', reverse: 'r-%d' },
    })
    const of = (path: string): unknown[] => at(target, 'x.news.example', path)
    assert.deepEqual(of('/in/5/account/other/k/v'), [
      'default/account/index',
      ...[
        ['account', 'x'],
        ['page', '5'],
        ['k', 'v'],
      ],
    ])
    assert.deepEqual(of('/r-7'), ['default/account/index', ['account', 'x'], ['n', '7']])
    assert.deepEqual(of('/other'), ['default/other/index'])
    assert.deepEqual(at(target, 'x.example', '/r-7'), ['default/r-7/index'])
  })

  it('sees the host of a trusted proxy and of the absolute form', () => {
    const headers = {
      host: 'inner',
      'x-forwarded-for': '192.0.2.1',
      'x-forwarded-host': 'acme.news.example',
      'x-forwarded-proto': 'https',
    }
    const proxied = { headers, remoteAddress: '10.0.0.1' }
    const trusting = routing({ account }, { trusted: ['10.0.0.0/8'] })
    assert.deepEqual(found(trusting('/', proxied))[1], ['account', 'acme'])
    assert.equal(found(route('/', proxied))[1], undefined)
    assert.deepEqual(at(route, 'other', 'http://acme.news.example/')[1], ['account', 'acme'])
  })
})

describe('HttpRequest.urlFor() by a route with a host or a scheme', () => {
  const route = routing(
    {
      account: { ...account, path: '/in/:page' },
      secure: { path: '/secure', scheme: 'https', defaults: { controller: 'secure' } },
      both: { host: 'pay.example', scheme: 'https', path: '/pay', defaults: { controller: 'p' } },
      only: { host: ':who.only.example', defaults: { who: 'www' } },
    },
    { basePath: '/app' },
  )
  const from = (host: string, protocol: 'http' | 'https' = 'http'): HttpRequest =>
    route('/app', { headers: { host }, protocol })

  it('is absolute, with the scheme and the port of the request', () => {
    const params = { account: 'acme', page: 5 }
    const url = (request: HttpRequest) => request.urlFor(params, { name: 'account' })
    assert.equal(url(from('a.example:8080')), 'http://acme.news.example:8080/app/in/5')
    assert.equal(url(from('a.example', 'https')), 'https://acme.news.example/app/in/5')
    assert.equal(url(from('')), 'http://acme.news.example/app/in/5')
    const current = route('/app/in/5', { headers: { host: 'acme.news.example:81' } })
    assert.equal(current.urlFor({ page: 6 }), 'http://acme.news.example:81/app/in/6')
    assert.equal(
      current.urlFor({ page: 6 }, { query: { a: 1 } }),
      'http://acme.news.example:81/app/in/6?a=1',
    )
  })

  it('has another scheme without the port, where the route says so', () => {
    const request = from('a.example:8080')
    assert.equal(request.urlFor({}, { name: 'secure' }), 'https://a.example/app/secure')
    assert.equal(request.urlFor({}, { name: 'both' }), 'https://pay.example/app/pay')
    const https = from('a.example:8443', 'https')
    assert.equal(https.urlFor({}, { name: 'secure' }), '/app/secure')
    assert.equal(https.urlFor({}, { name: 'both' }), 'https://pay.example:8443/app/pay')
    assert.throws(() => from('a b').urlFor({}, { name: 'secure' }), /needs the host of the request/)
  })

  it('always writes a host variable, which is one label', () => {
    const only = (who?: string) => from('a.example').urlFor({ who }, { name: 'only' })
    assert.equal(only(), 'http://www.only.example/app/')
    assert.equal(only('x'), 'http://x.only.example/app/')
    for (const bad of ['a.b', 'a/b', '', 'a@b', 'ä']) {
      assert.throws(() => only(bad), /"who": it is not a host label/, bad)
    }
    assert.throws(() => only('UPPER'), TypeError)
  })
})

describe('The memo of routed paths', () => {
  it('depends on host, scheme and method where a route looks at them', () => {
    const route = routing({
      rest: { rest: { default: ['news'] } },
      account,
      secure: { path: '/secure', scheme: 'https', defaults: { controller: 'secure' } },
    })
    for (let i = 0; i < 3; i++) {
      assert.equal(at(route, 'a.news.example')[0], 'default/account/index')
      assert.equal(at(route, 'b.example')[0], 'default/index/index')
      assert.equal(found(route('/secure', { protocol: 'https' }))[0], 'default/secure/index')
      assert.equal(found(route('/secure'))[0], 'default/secure/index')
      assert.equal(found(route('/news', { method: 'POST' }))[0], 'default/news/post')
      assert.equal(found(route('/news'))[0], 'default/news/index')
    }
    assert.deepEqual(
      ['http', 'https'].map((protocol) => nameOf(route('/secure', { protocol } as object))),
      [undefined, 'secure'],
    )
  })
})

function nameOf(request: HttpRequest): string | undefined {
  return stateOf(request).route?.name
}
