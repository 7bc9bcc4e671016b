import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FrontController, HttpRequest } from '../../lib/index.ts'
import { createFront } from '../support/front.ts'
import { found, routing } from '../support/routing.ts'

describe('RouteTable', () => {
  const routes = {
    first: { path: '/news/:id', defaults: { controller: 'first' } },
    second: { path: '/news/:id', defaults: { controller: 'second' }, requirements: { id: '\\d+' } },
  }

  it('tries the last route first, and the default route at the end', () => {
    const target = routing(routes)
    assert.deepEqual(found(target('/news/5')), ['default/second/index', ['id', '5']])
    assert.deepEqual(found(target('/news/list')), ['default/first/index', ['id', 'list']])
    assert.deepEqual(found(target('/news/list/id/5')), ['default/news/list', ['id', '5']])
    const reversed = routing(new Map(Object.entries(routes).reverse()))
    assert.deepEqual(found(reversed('/news/5')), ['default/first/index', ['id', '5']])
  })

  it('matches the path past the base path', () => {
    const target = routing(routes, { basePath: '/app' })
    const request = target('/app/news/5')
    assert.deepEqual(found(request), ['default/second/index', ['id', '5']])
    assert.equal(request.urlFor({ id: 6 }), '/app/news/6')
  })

  it('limits the pairs of a named route to `maxFields`', async () => {
    const open = { path: '/files/*', defaults: { controller: 'files' } }
    const files = { index() {} }
    const limits = { maxFields: 3 }
    const front = createFront({ files }, { routes: { open }, limits })
    const status = async (target: string) =>
      (await front.handle(new HttpRequest({ target }))).status
    assert.equal(await status('/files/a/1/b/2/c/3'), 200)
    assert.equal(await status('/files/a/1/b/2/c/3/d/4'), 400)
  })

  it('reaches registered actions, and never the error action', async () => {
    const routes = {
      article: { path: '/a/:id', defaults: { controller: 'news', action: 'view' } },
      error: { path: '/oops', defaults: { controller: 'error', action: 'error' } },
    }
    const requested: unknown[] = []
    const news = { view: (request: HttpRequest) => void requested.push(request.param('id')) }
    const front = createFront({ news }, { routes })
    assert.equal((await front.handle(new HttpRequest({ target: '/a/7' }))).status, 200)
    assert.equal((await front.handle(new HttpRequest({ target: '/oops' }))).status, 404)
    assert.deepEqual(requested, ['7'])
  })

  it('rejects a route to a module that is not registered', () => {
    const modules = new Map([['admin', new Map()]])
    const routes = { a: { path: '/', defaults: { module: 'shop' } } }
    assert.throws(() => new FrontController({ modules, routes }), {
      name: 'TypeError',
      message: /leads to the module "shop"/,
    })
  })
})

describe('checkedRoutes()', () => {
  it('rejects a value that is not an object or a Map', () => {
    for (const routes of [null, []]) {
      assert.throws(() => new FrontController({ routes } as object), {
        name: 'TypeError',
        message: /Expected "routes" to be an object or a Map/,
      })
    }
  })

  it('excludes a custom router', () => {
    const router = { route: () => undefined }
    assert.throws(() => new FrontController({ routes: {}, router }), /"routes" or a "router", not/)
  })
})
