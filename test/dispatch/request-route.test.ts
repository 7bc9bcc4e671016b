import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  type FrontController,
  type FrontControllerOptions,
  HttpRequest,
  type HttpRequestInit,
  type Plugin,
} from '../../lib/index.ts'
import { collectReports } from '../support/collectors.ts'
import { createFront } from '../support/front.ts'

const controllers = {
  index: { index() {} },
  news: {
    list() {},
    fooBar() {},
    go: (request: HttpRequest) => request.forward({ action: 'list' }),
    nowhere: (request: HttpRequest) => request.forward({ action: 'none' }),
    fail() {
      throw new Error('boom')
    },
    save: Object.assign(() => {}, { methods: ['POST'] }),
  },
  any: { list() {}, __call() {} },
  guarded: { init() {}, list() {} },
  article: { index() {}, get() {}, delete() {} },
}
const modules = { admin: { report: { daily() {} } } }
const routes = {
  article: {
    path: 'read/:id',
    defaults: { controller: 'news', action: 'list' },
  },
  free: { path: 'free/:module/:controller/:action' },
  resource: { rest: { default: ['article'] } },
}

/** Handles a request, and returns the route of the response's request. */
async function routeOf(front: FrontController, init: HttpRequestInit): Promise<string | null> {
  const { request } = await front.handle(new HttpRequest(init))
  return (request as HttpRequest).route
}

async function check(
  options: FrontControllerOptions,
  table: readonly (readonly [request: string | HttpRequestInit, route: string | null])[],
): Promise<void> {
  const front = createFront(controllers, { modules, ...options })
  for (const [request, expected] of table) {
    const init = typeof request === 'string' ? { target: request } : request
    assert.equal(await routeOf(front, init), expected, JSON.stringify(request))
  }
}

describe('HttpRequest.route', () => {
  it('is null before the request is routed', () => {
    assert.equal(new HttpRequest({ target: '/news/list' }).route, null)
  })

  it('is the name of the registered action, and null without one', () =>
    check({}, [
      ['/', 'index/index'],
      ['/news/list', 'news/list'],
      ['/default/news/list/id/42?page=2', 'news/list'],
      ['/news/foo-bar', 'news/foo-bar'],
      ['/admin/report/daily', 'admin/report/daily'],
      ['/news', null],
      ['/news/none', null],
      ['/signin/v2/identifier', null],
      ['/admin/news/list', null],
      ['/NEWS/list', null],
      ['/news/constructor', null],
      ['/error/error', null],
      ['/default/error/error', null],
    ]))

  it('is __call for the names that a controller does not have, and null in one with hooks alone', () =>
    check({}, [
      ['/any/list', 'any/list'],
      ['/any/0AfJohXkq9TzB3mWcR7Lp', 'any/__call'],
      ['/any/__call', 'any/__call'],
      ['/guarded/list', 'guarded/list'],
      ['/guarded/none', null],
      ['/guarded/init', null],
    ]))

  it('is not changed by a forward or an error', () =>
    check({}, [
      ['/news/go', 'news/go'],
      ['/news/nowhere', 'news/nowhere'],
      ['/news/fail', 'news/fail'],
    ]))

  it('is that of the original request in the error action, and in its forwards', async () => {
    const seen: unknown[] = []
    const see = (request: HttpRequest): void => void seen.push(request.route)
    const error = {
      error(request: HttpRequest) {
        see(request)
        return request.forward({ action: 'other' })
      },
      other: see,
    }
    const front = createFront({ ...controllers, error })
    for (const target of ['/news/fail', '/none']) await front.handle(new HttpRequest({ target }))
    assert.deepEqual(seen, ['news/fail', 'news/fail', null, null])
  })

  it('is the registered spelling under zf1', () =>
    check({ names: 'zf1' }, [
      ['/NEWS/LIST', 'news/list'],
      ['/News/foo.bar', 'news/foo-bar'],
      ['/news/foo-Bar', 'news/foo-bar'],
      ['/ADMIN/Report/daily', 'admin/report/daily'],
      ['/Error/ERROR', null],
      ['/any/Secret', 'any/__call'],
    ]))

  it('is the name of the named route, and null if its variables name no action', () =>
    check({ routes }, [
      ['/read/42', 'article'],
      ['/read/secret-value', 'article'],
      ['/free/default/news/list', 'free'],
      ['/free/default/any/secret', 'free'],
      ['/free/default/news/none', null],
      ['/free/default/none/secret', null],
      ['/free/default/error/error', null],
      ['/news/list', 'news/list'],
    ]))

  it('is the name of a REST route for the methods that have an action, and for OPTIONS', () =>
    check({ routes }, [
      ['/article', 'resource'],
      ['/article/42', 'resource'],
      [{ target: '/article/42', method: 'HEAD' }, 'resource'],
      [{ target: '/article/42', method: 'DELETE' }, 'resource'],
      [{ target: '/article/42', method: 'OPTIONS' }, 'resource'],
      [{ target: '/article/42', method: 'PATCH' }, null],
    ]))

  it('is the action that a custom router names, and never the name that it returns', () => {
    const route = ({ path }: HttpRequest) => {
      const [controller = '', action = ''] = path.slice(1).split('/')
      return controller === '' ? undefined : { module: 'default', controller, action, name: path }
    }
    return check({ router: { route } }, [
      ['/news/list', 'news/list'],
      ['/any/secret', 'any/__call'],
      ['/news/none', null],
      ['/', null],
    ])
  })

  it('is null if a custom router throws', () => {
    const router = {
      route() {
        throw new Error('no table')
      },
    }
    return check({ router }, [['/news/list', null]])
  })

  it('is the action that rejects a method', () =>
    check({}, [
      ['/news/save', 'news/save'],
      [{ target: '/news/save', method: 'OPTIONS' }, 'news/save'],
      [{ target: '/news/list', method: 'TRACE' }, 'news/list'],
    ]))

  it('is the action that a rejected message names', () =>
    check({}, [
      ['/news/list/%ff', 'news/list'],
      ['/news/list/%00', 'news/list'],
      [`/news/list/${'x'.repeat(9_000)}`, 'news/list'],
      ['/none/list/%ff', null],
    ]))

  it('is null outside of the base path, whatever else is wrong', () =>
    check({ basePath: '/app' }, [
      ['/app/news/list', 'news/list'],
      ['/app', 'index/index'],
      ['/app/news/list/%ff', 'news/list'],
      ['/news/list', null],
      ['/application/news/list', null],
      [`/news/list/${'x'.repeat(9_000)}`, null],
    ]))

  it('is that of the request that a plugin chose', async () => {
    const table: [Plugin, string | null][] = [
      // A request of another message is a TypeError.
      [{ routeStartup: () => new HttpRequest({ target: '/news/list' }) }, null],
      [{ routeStartup: (request) => request.forward({ action: 'list' }) }, null],
      [
        {
          routeStartup: (request) =>
            request.forward({ controller: 'news', action: 'list', module: 'default' }),
        },
        'news/list',
      ],
      [{ routeShutdown: (request) => request.forward({ action: 'list' }) }, 'news/foo-bar'],
      [{ dispatchLoopStartup: () => new HttpRequest({ target: '/news/list' }) }, 'news/foo-bar'],
    ]
    for (const [plugin, expected] of table) {
      const { response } = await handled('/news/foo-bar', { plugins: [plugin] })
      assert.equal(response.request?.route, expected, JSON.stringify(Object.keys(plugin)))
    }
  })

  it('is the route of the report', async () => {
    for (const [target, route] of [
      ['/news/fail', 'news/fail'],
      ['/none', null],
    ] as const) {
      const { reports } = await handled(target)
      assert.deepEqual(
        reports.map((report) => report.route),
        [route],
      )
    }
    const { reports, onReport } = collectReports()
    createFront(controllers, { onReport }).report(new Error('boom'))
    assert.equal(reports[0]?.route, null)
  })

  // A segment of a path: a registered name, another spelling of one, or any text.
  const names = [
    'news',
    'list',
    'any',
    'admin',
    'report',
    'daily',
    'read',
    'free',
    'error',
    'index',
  ]
  const segment = fc.oneof(
    fc.constantFrom(...names, ...names.map((name) => name.toUpperCase()), '__call', 'default', ''),
    fc.string({ maxLength: 12 }),
  )
  const finite = new Set([
    null,
    ...Object.keys(routes),
    ...Object.entries(controllers).flatMap(([name, functions]) =>
      Object.keys(functions).map((action) => `${name}/${action.replace('fooBar', 'foo-bar')}`),
    ),
    'admin/report/daily',
  ])
  for (const [what, options] of Object.entries<FrontControllerOptions>({
    'exact names': { routes },
    'zf1 names': { routes, names: 'zf1' },
    'a base path': { routes, basePath: '/app' },
    'a custom router': {
      router: {
        route({ path }) {
          const [, controller = '', action = ''] = path.split('/')
          return { module: 'default', controller, action, name: path }
        },
      },
    },
  })) {
    it(`is null or out of a finite set, whatever path is requested: ${what}`, async () => {
      const front = createFront(controllers, { modules, ...options })
      const found = new Set<string | null>()
      const method = fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'TRACE')
      const base = fc.constantFrom('', options.basePath ?? '')
      const segments = fc.array(segment, { maxLength: 5 })
      await fc.assert(
        fc.asyncProperty(method, base, segments, async (each, start, parts) => {
          const route = await routeOf(front, {
            method: each,
            target: `${start}/${parts.join('/')}`,
          })
          found.add(route)
          assert.ok(finite.has(route), String(route))
        }),
        { numRuns: 500 },
      )
      assert.ok(found.size > 1)
    })
  }
})

async function handled(target: string, options: FrontControllerOptions = {}) {
  const { reports, onReport } = collectReports()
  const front = createFront(controllers, { modules, onReport, ...options })
  const response = await front.handle(new HttpRequest({ target }))
  return { response, reports }
}
