import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type FrontController,
  type FrontControllerOptions,
  HttpError,
  HttpRequest,
} from '../../lib/index.ts'
import { dispatched } from '../../lib/testing/dispatched.ts'
import { collectLog, collectReports } from '../support/collectors.ts'
import { createFront } from '../support/front.ts'

const form = { 'Content-Type': 'application/x-www-form-urlencoded' }

function createTestFront(options: FrontControllerOptions = {}): FrontController {
  const run = (): never => assert.fail('an action ran')
  const news = { list: run, save: Object.assign(() => run(), { methods: ['POST'] }) }
  const controllers = { news: { ...news, Helper: class {} }, error: { error: run } }
  const modules = new Map([['admin', new Map([['report', { daily: run }]])]])
  return createFront(controllers, { modules, ...options })
}

describe('dispatched()', () => {
  it('says that it needs a front controller, and not its options', async () => {
    const options: object = { controllers: {} }
    await assert.rejects(dispatched(options as FrontController, '/news/list'), {
      name: 'TypeError',
      message: 'Expected a FrontController, such as new FrontController(options)',
    })
  })

  it('returns module, controller, action and parameters of a target, and runs nothing', async () => {
    const front = createTestFront()
    assert.deepEqual(await dispatched(front, '/news/list/tag/a?page=2&tag=b&module=x'), {
      module: 'default',
      controller: 'news',
      action: 'list',
      params: { tag: 'a', page: '2' },
    })
    assert.deepEqual(await dispatched(front, '/admin/report/daily'), {
      module: 'admin',
      controller: 'report',
      action: 'daily',
      params: {},
    })
  })

  it('reads a form', async () => {
    const init = { method: 'POST', target: '/news/save', headers: form, body: 'title=A+b' }
    const saved = {
      module: 'default',
      controller: 'news',
      action: 'save',
      params: { title: 'A b' },
    }
    assert.deepEqual(await dispatched(createTestFront(), init), saved)
    assert.deepEqual(await dispatched(createTestFront(), new HttpRequest(init)), saved)
  })

  it('reads a form within the limits of the action', async () => {
    const save = Object.assign(() => {}, { limits: { maxBodyBytes: 8 } })
    const front = createFront({ news: { save } }, { limits: { maxBodyBytes: 4 } })
    const init = { method: 'POST', target: '/news/save', headers: form }
    const { status, params } = await dispatched(front, { ...init, body: 'a=longer' })
    assert.deepEqual([status, params], [undefined, { a: 'longer' }])
    assert.equal((await dispatched(front, { ...init, body: 'a=longest' })).status, 413)
  })

  it('accepts a front controller for development that shows values', async () => {
    const front = createTestFront({ development: true, showValues: true })
    assert.equal((await dispatched(front, '/news/list')).action, 'list')
  })

  it('returns type and status of an error, with the requested names', async () => {
    const front = createTestFront({ limits: { maxBodyBytes: 3, maxFields: 2 } })
    const large = { method: 'POST', headers: form, body: 'a=long' }
    const errors: [Parameters<typeof dispatched>[1], string, number, string][] = [
      ['/signin/v2/identifier?dsh=1', 'EXCEPTION_NO_CONTROLLER', 404, 'signin/v2'],
      ['/error/error', 'EXCEPTION_NO_CONTROLLER', 404, 'error/error'],
      ['/news/nosuch', 'EXCEPTION_NO_ACTION', 404, 'news/nosuch'],
      ['/news/helper', 'EXCEPTION_NO_ACTION', 404, 'news/helper'],
      ['/news/save', 'EXCEPTION_OTHER', 405, 'news/save'],
      ['/news/list/%ff', 'EXCEPTION_OTHER', 400, 'news/list'],
      ['/news/list?a&b&c', 'EXCEPTION_OTHER', 400, 'news/list'],
      [{ target: '/news/save', ...large }, 'EXCEPTION_OTHER', 413, 'news/save'],
    ]
    for (const [request, type, status, names] of errors) {
      const { controller, action, ...found } = await dispatched(front, request)
      assert.deepEqual([found.type, found.status], [type, status], names)
      assert.equal(`${controller}/${action}`, names)
    }
    const { params } = await dispatched(front, '/signin/v2?dsh=1')
    assert.deepEqual(params, { dsh: '1' })
  })

  it('uses the router, the base path and the name rule of the front controller', async () => {
    const router = { route: () => undefined }
    assert.equal((await dispatched(createTestFront({ router }), '/x')).type, 'EXCEPTION_NO_ROUTE')
    const based = createTestFront({ basePath: '/app', names: 'zf1' })
    assert.equal((await dispatched(based, '/app/NEWS/list')).type, undefined)
    assert.equal((await dispatched(based, '/news/list')).type, 'EXCEPTION_NO_ROUTE')
  })

  it('calls the hooks that run before the action, with their plugin as `this`', async () => {
    const called: string[] = []
    class Editors {
      readonly #rejected = 'save'
      dispatchLoopStartup(request: HttpRequest): void {
        called.push('dispatchLoopStartup')
        if (request.action === this.#rejected) throw new HttpError(403, 'Only editors')
      }
      preDispatch(request: HttpRequest): HttpRequest | undefined {
        called.push('preDispatch')
        return request.action === 'old' ? request.forward({ action: 'list' }) : undefined
      }
      postDispatch(): void {
        called.push('postDispatch')
      }
    }
    const front = createTestFront({ plugins: [new Editors()] })
    const { type, status } = await dispatched(front, { method: 'POST', target: '/news/save' })
    assert.deepEqual([type, status], ['EXCEPTION_OTHER', 403])
    assert.deepEqual(called, ['dispatchLoopStartup'])
    assert.equal((await dispatched(front, '/news/old')).action, 'list')
    assert.deepEqual(called.slice(1), ['dispatchLoopStartup', 'preDispatch', 'preDispatch'])
    called.length = 0
    assert.equal((await dispatched(front, '/news/nosuch')).type, 'EXCEPTION_NO_ACTION')
    assert.deepEqual(called, ['dispatchLoopStartup', 'preDispatch'])
  })

  it('reports nothing', async () => {
    const { reports, onReport } = collectReports()
    const { entries, logger } = collectLog()
    const front = createTestFront({ logger, onReport })
    assert.equal((await dispatched(front, '/nosuch')).status, 404)
    assert.deepEqual([reports, entries], [[], []])
  })

  it('keeps any name of a parameter as data', async () => {
    const { params } = await dispatched(createTestFront(), '/news/list?__proto__=1&constructor=2')
    assert.deepEqual(Object.entries(params), [
      ['__proto__', '1'],
      ['constructor', '2'],
    ])
  })
})
