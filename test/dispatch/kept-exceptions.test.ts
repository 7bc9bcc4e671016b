import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { stateOf } from '../../lib/http/request.ts'
import {
  FrontController,
  type FrontControllerOptions,
  HttpError,
  HttpRequest,
  type HttpResponse,
  type StandardSchemaV1,
  withParams,
} from '../../lib/index.ts'
import { channels } from '../../lib/reporting/diagnostics.ts'
import { garbageCollector } from '../support/gc.ts'

const collect = garbageCollector()

// Handles some requests, whose exceptions the application keeps, as a cache of failed queries does. Checks that it keeps no request.
async function checkRequests(
  toOptions: (keep: () => void) => FrontControllerOptions,
): Promise<void> {
  const exceptions: Error[] = []
  const front = new FrontController(
    toOptions(() => {
      const exception = new HttpError(404, 'There is no such article')
      exceptions.push(exception)
      throw exception
    }),
  )
  const messages = await handleAll(front)
  await setImmediate()
  collect()
  const left = messages.filter((message) => message.deref() !== undefined)
  assert.deepEqual([left.length, exceptions.length >= messages.length], [0, true])
}

// Returns the message of each request, which all requests that are derived from it share.
async function handleAll(front: FrontController): Promise<readonly WeakRef<object>[]> {
  const messages: WeakRef<object>[] = []
  for (const action of [
    'fail',
    'catch',
    'later',
    'respond',
    'forward',
    'params',
    'late-params',
    'fail',
  ]) {
    const request = new HttpRequest({ target: `/news/${action}?code=secret` })
    messages.push(new WeakRef(stateOf(request).message))
    await front.handle(request)
  }
  return messages
}

function newsWith(keep: () => void): object {
  const attempt = (): void => {
    try {
      keep()
    } catch {}
  }
  const later = async (): Promise<void> => {
    await setImmediate()
    keep()
  }
  const respond = async (_: HttpRequest, response: HttpResponse): Promise<HttpResponse> => {
    attempt()
    await setImmediate()
    return response.text('ok')
  }
  const forward = async (request: HttpRequest): Promise<HttpRequest> => {
    attempt()
    await setImmediate()
    return request.forward({ action: 'catch' })
  }
  const params = withParams(
    schemaOf((value) => ({ value })),
    attempt,
  )
  const lateParams = withParams(
    schemaOf(async (value) => ({ value })),
    attempt,
  )
  return { fail: keep, catch: attempt, later, respond, forward, params, lateParams }
}

function schemaOf(validate: StandardSchemaV1['~standard']['validate']): StandardSchemaV1 {
  return { '~standard': { version: 1, vendor: 'test', validate } }
}

function subscribe(t: TestContext): void {
  const listener = { start() {}, end() {}, asyncStart() {}, asyncEnd() {}, error() {} }
  channels.dispatch.subscribe(listener)
  t.after(() => channels.dispatch.unsubscribe(listener))
}

describe('An exception that the application keeps', () => {
  it('keeps no request of an action', async () => {
    await checkRequests((keep) => ({ controllers: { news: newsWith(keep) } }))
  })

  it('keeps no request of an action in development', async () => {
    await checkRequests((keep) => ({
      controllers: { news: newsWith(keep) },
      development: true,
      logger: { error() {}, warn() {}, info() {} },
    }))
  })

  it('keeps no request of an action with a subscriber', async (t) => {
    subscribe(t)
    await checkRequests((keep) => ({ controllers: { news: newsWith(keep) } }))
  })

  for (const hook of ['init', 'preDispatch', 'postDispatch']) {
    it(`keeps no request of the hook ${hook} of a controller`, async () => {
      await checkRequests((keep) => ({
        controllers: { news: { ...newsWith(keep), [hook]: keep } },
      }))
    })
  }

  it('keeps no request of an action between hooks, nor of an error action', async () => {
    const around = { init() {}, preDispatch: () => setImmediate(), postDispatch() {} }
    await checkRequests((keep) => ({
      controllers: { news: { ...newsWith(keep), ...around }, error: { error: keep } },
    }))
  })

  for (const hook of ['routeStartup', 'dispatchLoopStartup', 'preDispatch', 'postDispatch']) {
    it(`keeps no request of the hook ${hook} of a plugin`, async () => {
      await checkRequests((keep) => ({
        controllers: { news: newsWith(keep) },
        plugins: [{ [hook]: keep }],
      }))
    })
  }
})
