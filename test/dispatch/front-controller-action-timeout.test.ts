import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { HttpError, HttpRequest, type HttpResponse } from '../../lib/index.ts'
import { createFront } from '../support/front.ts'
import {
  assertFixed,
  createWatchedFront,
  expectError,
  factsOf,
  fail,
  fillIn,
  handleWith,
  hang,
  namesOf,
} from '../support/loop.ts'
import { pluginHooks } from '../support/plugin-hooks.ts'

describe('FrontController.handle() past limits.actionTimeoutMs', () => {
  const limits = { actionTimeoutMs: 30 }

  it('sends a 503 through error/error, and aborts the signal', async () => {
    const [run, response] = await expectError({ list: hang }, '/news/list', { limits })
    assert.equal(response.status, 503)
    assert.deepEqual(factsOf(run).toSpliced(1, 1), ['EXCEPTION_OTHER', 503])
    assert.deepEqual(namesOf(run.request), ['default', 'news', 'list'])
    assert.equal(run.request.signal.aborted, true)
    assert.equal(run.errorRequest.signal.aborted, false)
  })

  it('aborts the signals that hooks and the action before a forward have got', async () => {
    const signals: [string, AbortSignal][] = []
    const hook = (name: string) => (request: HttpRequest) => {
      signals.push([request.errorHandler ? 'error' : name, request.signal])
    }
    const plugins = [{ routeStartup: hook('startup'), preDispatch: hook('before') }]
    const list = (request: HttpRequest): HttpRequest => {
      hook('list')(request)
      return request.forward({ action: 'late' })
    }
    await expectError({ list, late: hang }, '/news/list', { limits, plugins })
    assert.deepEqual(
      signals.map(([name, { aborted }]) => [name, aborted]),
      [
        ['startup', true],
        ['before', true],
        ['list', true],
        ['before', true],
        ['error', false],
      ],
    )
  })

  it('calls then() of a thenable once, also if it throws', async () => {
    let calls = 0
    const thenable = (work: () => void) => ({
      // biome-ignore lint/suspicious/noThenProperty: a query builder is such a thenable.
      then() {
        calls++
        work()
      },
    })
    const slow = await expectError({ list: () => thenable(() => {}) }, '/news/list', { limits })
    const fails = await expectError({ list: () => thenable(fail) }, '/news/list', { limits })
    assert.deepEqual([slow[1].status, fails[1].status, calls], [503, 500, 2])
  })

  it('aborts the signal of each request in its own AsyncLocalStorage context', async () => {
    const current = new AsyncLocalStorage<string>()
    const seen = new Map<string, unknown>()
    const listen = ({ target, signal }: HttpRequest): void =>
      signal.addEventListener('abort', () => seen.set(target, current.getStore()))
    const list = (request: HttpRequest): Promise<never> => {
      listen(request)
      return hang()
    }
    const preDispatch = async (request: HttpRequest): Promise<void> => {
      if (request.errorHandler !== undefined || request.target !== '/news/hook') return
      listen(request)
      await hang()
    }
    const front = createFront(
      { news: { list, hook: list } },
      { limits, plugins: [{ preDispatch }] },
    )
    const targets = ['/news/list?1', '/news/list?2', '/news/hook', '/news/list?3']
    await Promise.all(
      targets.map((target) => current.run(target, () => front.handle(new HttpRequest({ target })))),
    )
    assert.deepEqual(seen, new Map(targets.map((target) => [target, target])))
  })

  it('does not send what the action writes afterwards', async () => {
    let finished: Promise<unknown> = Promise.resolve()
    const list = (request: HttpRequest, response: HttpResponse): Promise<unknown> => {
      const write = async (): Promise<void> => {
        await once(request.signal, 'abort')
        await new Promise(setImmediate)
        fillIn(response)
        throw new Error('late')
      }
      finished = write()
      return finished
    }
    const [, response] = await expectError({ list }, '/news/list', { limits })
    const sent = [response.status, [...response.headers], response.body]
    await assert.rejects(finished, /late/)
    assert.deepEqual([response.status, [...response.headers], response.body], sent)
    assert.equal(response.status, 503)
    assert.equal(response.headers.has('X-Half'), false)
    assert.equal(response.exceptions.length, 1)
  })

  it('sends the fixed 500 when the error action never ends', async () => {
    let signal: AbortSignal | undefined
    const error = (request: HttpRequest): Promise<never> => {
      signal = request.signal
      return hang()
    }
    const response = await handleWith({ list: fail }, { error }, { limits })
    assertFixed(response)
    assert.deepEqual(
      response.exceptions.map((each) => each instanceof HttpError && each.status),
      [false, 503],
    )
    assert.equal(signal?.aborted, true)
  })

  it('sends a 503 when a plugin never ends, in every hook', async () => {
    for (const hook of pluginHooks) {
      const plugins = [{ [hook]: hang }]
      const [, response] = await expectError({ list() {} }, '/news/list', { limits, plugins })
      assert.equal(response.status, 503, hook)
    }
  })

  it('does not abort the signal of an action that ends in time', async () => {
    const list = async ({ signal }: HttpRequest, response: HttpResponse): Promise<void> => {
      await new Promise(setImmediate)
      response.text(String(signal.aborted))
    }
    const { front } = createWatchedFront({ list }, { limits: { actionTimeoutMs: 10_000 } })
    assert.equal((await front.handle(new HttpRequest({ target: '/news/list' }))).body, 'false')
  })

  it('aborts the signal when the signal of the client aborts', async () => {
    const client = new AbortController()
    const list = async ({ signal }: HttpRequest): Promise<void> => {
      client.abort()
      assert.equal(signal.aborted, true)
    }
    const { front, runs } = createWatchedFront({ list })
    await front.handle(new HttpRequest({ target: '/news/list', signal: client.signal }))
    assert.deepEqual(runs, [])
  })
})
