import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stateOf } from '../../lib/http/request.ts'
import { FrontController, HttpRequest } from '../../lib/index.ts'
import { Expression } from '../../lib/routing/expression.ts'
import type { RoutePattern } from '../../lib/routing/route-pattern.ts'
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

  it('tries only the routes whose first segment is that of the path, in their order', (t) => {
    const many = Array.from({ length: 500 }, (_, i): [string, RoutePattern] => [
      `r${i}`,
      { path: `/p${i % 250}/:id`, requirements: { id: `${i}|\\d{4,}` } },
    ])
    const target = routing(
      new Map<string, RoutePattern>([
        ['any', { path: '/:a/:b', defaults: { controller: 'any' } }],
        ...many.slice(0, 250),
        ['seven', { path: '/:seven/7', defaults: { controller: 'seven' } }],
        ...many.slice(250),
      ]),
    )
    const test = t.mock.method(Expression.prototype, 'test')
    const foundAt = (path: string): [unknown, number] => {
      test.mock.resetCalls()
      const { route } = stateOf(target(path))
      return [route?.name, test.mock.callCount()]
    }
    assert.deepEqual(foundAt('/p7/257'), ['r257', 1])
    assert.deepEqual(foundAt('/p7/7'), ['seven', 1])
    assert.deepEqual(foundAt('/p8/8'), ['r8', 2])
    assert.deepEqual(foundAt('/p8/x'), ['any', 2])
    assert.deepEqual(foundAt('/q/7'), ['seven', 0])
    assert.deepEqual(foundAt('/q/p7'), ['any', 0])
  })

  it('decodes and tests a long path once for all routes', (t) => {
    const requirements = { a: '\\D+' }
    const routes = Array.from({ length: 500 }, (_, i): [string, RoutePattern] =>
      i % 2 === 0
        ? [`r${i}`, { path: '/:a', requirements, defaults: { module: 'admin' } }]
        : [`r${i}`, { under: `r${i - 1}`, path: `x${i}/:b` }],
    )
    const target = routing(new Map(routes))
    const test = t.mock.method(RegExp.prototype, 'test')
    const decode = t.mock.method(Buffer, 'from')
    const path = `/${'%C3%A4'.repeat(1_300)}1/x`
    assert.deepEqual(found(target(path))[0], `default${path}`)
    const long = test.mock.calls.filter(({ arguments: [text] }) => String(text).length > 1_000)
    const decoded = decode.mock.calls.filter(({ arguments: [text] }) => String(text).length > 1_000)
    // The paths and q are also checked for control characters.
    assert.ok(long.length <= 5, `${long.length} tests`)
    assert.ok(decoded.length <= 2, `${decoded.length} times decoded`)
  })

  it('tests a long segment for each form, decoded and raw', async () => {
    const requirement = '[a-z ]+'
    const page = { path: '/:controller', requirements: { controller: requirement } }
    const defaults = { controller: 'news', action: 'view' }
    const article = { path: '/:slug', defaults, requirements: { slug: requirement } }
    const news = { view() {} }
    for (const length of [60, 64]) {
      const request = new HttpRequest({ target: `/${'a'.repeat(length)}+b` })
      const front = createFront({ news }, { routes: { article, page } })
      assert.equal((await front.handle(request)).status, 200)
    }
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
    assert.throws(() => new FrontController({ routes: {}, router }), /"routes" or "router", not/)
  })
})
