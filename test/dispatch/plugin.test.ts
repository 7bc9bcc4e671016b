import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { toErrorRequest } from '../../lib/dispatch/error-request.ts'
import { HookPoint } from '../../lib/dispatch/hook-point.ts'
import type { LoopState } from '../../lib/dispatch/loop.ts'
import type { WithDeadline } from '../../lib/dispatch/request-stages.ts'
import { run } from '../../lib/dispatch/steps.ts'
import {
  type ErrorReport,
  FrontController,
  HttpError,
  HttpRequest,
  HttpResponse,
  type Plugin,
} from '../../lib/index.ts'
import { createFront } from '../support/front.ts'
import { pluginHooks } from '../support/plugin-hooks.ts'

const within: WithDeadline = (_, promise) => Promise.resolve(promise)

describe('HookPoint.notify()', () => {
  const request = new HttpRequest({ target: '/' })
  const response = new HttpResponse()
  const loopOf = (request: HttpRequest): LoopState => ({ request, response, dispatches: 1 })
  const notify = async (
    name: keyof Plugin,
    plugins: readonly Plugin[],
    loop = loopOf(request),
  ): Promise<unknown> => run(new HookPoint(name, plugins, within).notify(loop))

  it('calls the plugins in order, each after the one before has ended', async () => {
    const calls: string[] = []
    const plugin = (name: string): Plugin => ({
      async preDispatch(...args) {
        assert.deepEqual(args, [request, response])
        calls.push(`${name} begins`)
        await new Promise(setImmediate)
        calls.push(`${name} ends`)
      },
    })
    const plugins = [plugin('a'), {}, plugin('b')]
    assert.equal(await notify('preDispatch', plugins), request)
    assert.deepEqual(calls, ['a begins', 'a ends', 'b begins', 'b ends'])
  })

  it('calls a hook as a method of its plugin', async () => {
    class Counting implements Plugin {
      count = 0
      routeStartup(): void {
        this.count++
      }
    }
    const plugin = new Counting()
    await notify('routeStartup', [plugin])
    assert.equal(plugin.count, 1)
  })

  it('passes the request that a plugin returned to the next plugin, and returns the last', async () => {
    const [first, second] = [request.forward({ action: 'a' }), request.forward({ action: 'b' })]
    const received: HttpRequest[] = []
    const returning = (returned: HttpRequest | undefined): Plugin => ({
      async routeShutdown(request) {
        received.push(request)
        return returned
      },
    })
    const plugins = [first, undefined, second, undefined].map(returning)
    assert.equal(await notify('routeShutdown', plugins), second)
    assert.deepEqual(received, [request, first, first, second])
  })

  it('throws what a plugin throws, and then skips that plugin for the error action only', async () => {
    const calls: string[] = []
    const rejecting: Plugin = {
      preDispatch() {
        calls.push('rejecting')
        throw new Error('no')
      },
      postDispatch: () => void calls.push('rejecting'),
    }
    const other: Plugin = { preDispatch: () => void calls.push('other') }
    const plugins = [rejecting, other]
    const loop = loopOf(request)
    await assert.rejects(notify('preDispatch', plugins, loop), /no/)
    loop.request = toErrorRequest(request, new Error('no'))
    await notify('preDispatch', plugins, loop)
    await notify('postDispatch', plugins, loop)
    assert.deepEqual(calls, ['rejecting', 'other'])
    loop.request = loop.request.forward({ action: 'other' })
    await assert.rejects(notify('preDispatch', plugins, loop), /no/)
  })

  it('throws for a return value that is no request', async () => {
    const plugin = { postDispatch: async () => true } as unknown as Plugin
    await assert.rejects(notify('postDispatch', [plugin]), {
      name: 'TypeError',
      message: /^postDispatch returned/,
    })
  })
})

describe('FrontController.handle() with a plugin', () => {
  const news = {
    list() {},
    async moved(request: HttpRequest) {
      return request.forward({ action: 'list' })
    },
    broken() {
      throw new Error('broken')
    },
  }

  it('calls the six hooks of a request, dispatch by dispatch', async () => {
    const dispatch = (where: string): string[] => [`preDispatch ${where}`, `postDispatch ${where}`]
    const start = (where: string): string[] => [
      'routeStartup /',
      `routeShutdown ${where}`,
      `dispatchLoopStartup ${where}`,
    ]
    const table: [string, string[]][] = [
      [
        '/news/list',
        [...start('news/list'), ...dispatch('news/list'), 'dispatchLoopShutdown news/list'],
      ],
      [
        '/news/moved',
        [
          ...start('news/moved'),
          ...dispatch('news/moved'),
          ...dispatch('news/list'),
          'dispatchLoopShutdown news/list',
        ],
      ],
      [
        '/news/broken',
        [
          ...start('news/broken'),
          'preDispatch news/broken',
          ...dispatch('error/error'),
          'dispatchLoopShutdown error/error',
        ],
      ],
    ]
    for (const [target, expected] of table) {
      const calls: string[] = []
      const plugin = Object.fromEntries(
        pluginHooks.map((hook) => [
          hook,
          ({ controller, action }: HttpRequest) =>
            void calls.push(`${hook} ${controller}/${action}`),
        ]),
      )
      await handle(target, plugin)
      assert.deepEqual(calls, expected)
    }
  })

  for (const hook of pluginHooks) {
    it(`rejects a request of another message from ${hook}`, async () => {
      const plugin = { [hook]: () => new HttpRequest({ target: '/news/list?a=c4n4ry' }) }
      const reports: ErrorReport[] = []
      const front = new FrontController({
        controllers: new Map([['news', { list() {} }]]),
        plugins: [plugin],
        onReport: (report) => void reports.push(report),
      })
      const { status } = await front.handle(new HttpRequest({ target: '/news/list' }))
      assert.equal(status, 500)
      assert.equal(
        reports[0]?.message,
        `${hook} returned a new HttpRequest; expected one that the current request makes: request.forward({ action, controller, module, params })`,
      )
    })
  }

  it('dispatches the request that a hook returns', async () => {
    const to = (action: string) => (request: HttpRequest) =>
      request.action === action || request.errorHandler ? undefined : request.forward({ action })
    const table: [Plugin, string[]][] = [
      [
        { routeStartup: (request) => request.forward({ action: 'list', controller: 'news' }) },
        ['list'],
      ],
      [{ routeShutdown: to('list') }, ['list']],
      [{ preDispatch: to('list') }, ['list']],
      [{ postDispatch: to('list') }, ['view', 'list']],
      [{ dispatchLoopShutdown: to('list') }, ['view']],
    ]
    for (const [plugin, expected] of table) {
      const ran: string[] = []
      const controller = { list: () => void ran.push('list'), view: () => void ran.push('view') }
      await handle('/news/view', plugin as Plugin, controller)
      assert.deepEqual(ran, expected, Object.keys(plugin).join())
    }
  })

  it('sends what a hook writes to the response', async () => {
    for (const hook of pluginHooks) {
      const plugin: Plugin = {
        [hook]: (_: HttpRequest, { headers }: HttpResponse) => void headers.set('Seen', hook),
      }
      const { headers } = await handle('/news/list', plugin)
      assert.equal(headers.get('Seen'), hook)
    }
  })

  it('does not let a plugin that rejects every request reject the error action', async () => {
    for (const hook of pluginHooks) {
      const plugin = {
        [hook]: () => {
          throw new Error('rejected')
        },
      }
      const { exceptions } = await handle('/news/list', plugin)
      assert.deepEqual(
        exceptions.map(({ message }) => message),
        ['rejected'],
      )
    }
  })

  describe('that a client can make throw', () => {
    // decodeURIComponent() throws for a malformed cookie.
    const guard: Plugin = {
      preDispatch({ module, headers }) {
        const user = decodeURIComponent(String(headers.cookie ?? ''))
        if (module === 'admin' && user !== 'editor') throw new HttpError(403, 'Editors only')
      },
    }
    const forwardTo = (module: string) => ({
      error: (request: HttpRequest) =>
        request.forward({ module, controller: 'index', action: 'index' }),
    })

    it('still protects an action that the error action forwards to', async () => {
      const ran: string[] = []
      const admin = new Map([['index', { index: () => void ran.push('admin') }]])
      for (const target of ['/', '/admin', '/nosuch', '/%']) {
        for (const cookie of ['%', 'guest']) {
          const front = createFront(
            { error: forwardTo('admin'), index: { index() {} } },
            { plugins: [guard], modules: new Map([['admin', admin]]) },
          )
          const { status } = await front.handle(new HttpRequest({ target, headers: { cookie } }))
          const isPublic = target === '/' && cookie === 'guest'
          assert.equal(status, isPublic ? 200 : 500, `${target} ${cookie}`)
        }
      }
      assert.deepEqual(ran, [])
    })

    it('runs again for the target of the forward, and allows it if its rule does', async () => {
      const front = createFront(
        {
          error: forwardTo('default'),
          index: { index: (_: HttpRequest, response: HttpResponse) => response.text('home') },
        },
        { plugins: [guard], modules: new Map([['admin', new Map([['index', { index() {} }]])]]) },
      )
      const { body } = await front.handle(new HttpRequest({ target: '/admin' }))
      assert.equal(body, 'home')
    })

    it('causes no endless loop', async () => {
      let calls = 0
      for (const hook of ['preDispatch', 'postDispatch', 'dispatchLoopShutdown'] as const) {
        const plugin: Plugin = {
          [hook]: () => {
            calls++
            throw new Error('always')
          },
        }
        const controllers = { error: forwardTo('default'), index: { index() {} } }
        const front = createFront(controllers, { plugins: [plugin] })
        const { status, exceptions } = await front.handle(new HttpRequest({ target: '/' }))
        assert.deepEqual([status, exceptions.length], [500, 2])
      }
      assert.equal(calls, 6)
    })
  })

  it('limits the time of a hook as the time of an action', async () => {
    let signal = AbortSignal.abort()
    const plugin: Plugin = {
      preDispatch(request) {
        signal = request.signal
        return new Promise(() => {})
      },
    }
    const front = createFront({}, { plugins: [plugin], limits: { actionTimeoutMs: 30 } })
    const { status } = await front.handle(new HttpRequest({ target: '/' }))
    if (!signal.aborted) await once(signal, 'abort')
    assert.equal(status, 503)
  })

  function handle(
    target: string,
    plugin: Plugin,
    controller: object = news,
  ): Promise<HttpResponse> {
    const front = createFront({ news: controller }, { plugins: [plugin] })
    return front.handle(new HttpRequest({ target }))
  }
})
