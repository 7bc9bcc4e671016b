import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UrlParams } from '../../lib/http/route.ts'
import { FrontController, HttpRequest } from '../../lib/index.ts'
import { found, type Routing, routing } from '../support/routing.ts'

const FALLS_THROUGH = 'falls through'

function check(route: Routing, table: readonly [string, string, ...unknown[]][]): void {
  for (const [request, ...expected] of table) {
    const [method = '', target = ''] = request.split(' ')
    const routed = route(target, { method })
    const wanted = expected[0] === FALLS_THROUGH ? found(routing()(target)) : expected
    assert.deepEqual(found(routed), wanted, request)
  }
}

describe('RestPart.match()', () => {
  it('chooses the action by the method', () => {
    check(routing({ api: { rest: true } }), [
      ['GET /news', 'default/news/index'],
      ['GET /news/index', 'default/news/index'],
      ['GET /news/index/page/2/x', 'default/news/index', ['page', '2']],
      ['GET /news/42', 'default/news/get', ['id', '42']],
      ['GET /news/a%2Fb', 'default/news/get', ['id', 'a/b']],
      ['GET /news/id/42', 'default/news/get', ['id', '42']],
      ['POST /news', 'default/news/post'],
      ['POST /news/42', 'default/news/put', ['id', '42']],
      ['PUT /news/42', 'default/news/put', ['id', '42']],
      ['PUT /news', 'default/news/put'],
      ['PATCH /news/42', 'default/news/patch', ['id', '42']],
      ['DELETE /news/42', 'default/news/delete', ['id', '42']],
      ['HEAD /news/42', 'default/news/head', ['id', '42']],
      ['OPTIONS /news', 'default/news/options'],
      ['GET /news/new', 'default/news/new'],
      ['GET /news/new/a/1', 'default/news/new', ['a', '1']],
      ['GET /news/42/edit', 'default/news/edit', ['id', '42']],
      ['GET /news/edit', 'default/news/get', ['id', 'edit']],
      ['GET /news/1/2/edit', 'default/news/get', ['1', '2']],
      ['GET /admin', 'admin/index/index'],
      ['GET /admin/report/7', 'admin/report/get', ['id', '7']],
      ['POST /', 'default/index/index'],
    ])
  })

  it('matches some modules, or some controllers', () => {
    check(routing({ api: { rest: ['admin'] } }), [
      ['POST /admin/report', 'admin/report/post'],
      ['POST /admin', 'admin/index/post'],
      ['POST /news/list', FALLS_THROUGH],
      ['POST /api-v2/x', FALLS_THROUGH],
    ])
    check(routing({ api: { rest: { default: ['news'], admin: ['report'] } } }), [
      ['POST /news', 'default/news/post'],
      ['POST /default/news', 'default/news/post'],
      ['POST /admin/report', 'admin/report/post'],
      ['POST /admin/other', FALLS_THROUGH],
      ['POST /other/5', FALLS_THROUGH],
    ])
  })

  it('looks at method and path alone', () => {
    const route = routing({ api: { rest: true } })
    const headers = {
      'x-http-method-override': 'DELETE',
      'content-type': 'application/x-www-form-urlencoded',
    }
    const body = '_method=DELETE&id=5'
    const init = { method: 'POST', headers, body }
    assert.deepEqual(found(route('/news?_method=PUT&id=7', init)), ['default/news/post'])
    assert.deepEqual(found(route('/news?id=7')), ['default/news/index'])
  })

  it('combines with a host and a parent', () => {
    const route = routing({
      v1: { path: '/v1', abstract: true },
      api: { under: 'v1', host: 'api.example', rest: true },
    })
    const headers = { host: 'api.example' }
    assert.deepEqual(found(route('/v1/news/5', { headers })), ['default/news/get', ['id', '5']])
    assert.deepEqual(found(route('/v1/news', { headers, method: 'POST' })), ['default/news/post'])
    assert.deepEqual(found(route('/v1/news')), ['default/v1/news'])
  })
})

describe('A controller without an action for a method', () => {
  const ok = (): undefined => undefined
  const seen: string[] = []
  const get = (request: HttpRequest): void => void seen.push(request.action)
  const front = new FrontController({
    controllers: {
      news: { index: get, get, put: ok, delete: ok },
      all: { head: get, options: get },
    },
    routes: { api: { rest: true } },
  })
  const handle = async (method: string, target: string) =>
    front.handle(new HttpRequest({ method, target }))

  it('runs for HEAD what GET runs', async () => {
    for (const target of ['/news', '/news/5', '/all/5']) {
      assert.equal((await handle('HEAD', target)).status, 200)
    }
    assert.deepEqual(seen, ['index', 'get', 'head'])
  })

  it('answers OPTIONS with the methods of the resource', async () => {
    const item = await handle('OPTIONS', '/news/5')
    assert.deepEqual(
      [item.status, item.headers.get('Allow')],
      [204, 'GET, HEAD, POST, PUT, DELETE, OPTIONS'],
    )
    const list = await handle('OPTIONS', '/news')
    assert.equal(list.headers.get('Allow'), 'GET, HEAD, PUT, DELETE, OPTIONS')
    assert.equal((await handle('OPTIONS', '/all')).status, 200)
    assert.equal((await handle('OPTIONS', '/nosuch')).status, 404)
    assert.equal((await handle('PATCH', '/news/5')).status, 404)
  })
})

describe('HttpRequest.urlFor() by a REST route', () => {
  const route = routing({ api: { rest: true } })

  it('names the resource', () => {
    const table: [UrlParams, string][] = [
      [{ controller: 'news' }, '/news'],
      [{ controller: 'news', id: 42 }, '/news/42'],
      [{ controller: 'news', id: 42, action: 'put' }, '/news/42'],
      [{ controller: 'news', id: 42, action: 'edit' }, '/news/42/edit'],
      [{ controller: 'news', action: 'new' }, '/news/new'],
      [{ controller: 'news', action: 'delete' }, '/news'],
      [{ controller: 'news', page: 2 }, '/news/index/page/2'],
      [{ controller: 'news', id: 42, page: 2 }, '/news/id/42/page/2'],
      [{ module: 'admin', controller: 'report', id: 'a/b' }, '/admin/report/a%2Fb'],
      [{ controller: 'admin', id: 1 }, '/default/admin/1'],
      [{}, '/'],
    ]
    for (const [params, url] of table) {
      assert.equal(route('/').urlFor(params, { name: 'api', reset: true }), url)
    }
    assert.equal(route('/news/42', { method: 'PUT' }).urlFor(), '/news/42')
    assert.equal(route('/news/42/edit').urlFor({ id: 43 }), '/news/43/edit')
    assert.equal(route('/news/index/page/2').urlFor(), '/news/index/page/2')
    assert.equal(route('/news/42').urlFor({ id: null }), '/news')
  })

  it('throws if the URL names another resource', () => {
    const rejected: UrlParams[] = [
      { controller: 'news', id: 'new' },
      { controller: 'news', id: 'index' },
      { controller: 'news', action: 'edit' },
      { controller: 'news', action: 'edit', id: 1, page: 2 },
      { module: 'nosuch', controller: 'news' },
    ]
    for (const params of rejected) {
      assert.throws(
        () => route('/').urlFor(params, { name: 'api', reset: true }),
        TypeError,
        JSON.stringify(params),
      )
    }
  })
})
