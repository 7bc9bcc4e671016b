import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, it, type TestContext } from 'node:test'
import {
  type Action,
  channels,
  type DispatchMessage,
  FrontController,
  type FrontControllerOptions,
  HttpRequest,
} from '../../lib/index.ts'
import { publish } from '../../lib/reporting/diagnostics.ts'

const names = {
  start: 'portico:dispatch:start',
  end: 'portico:dispatch:end',
  error: 'portico:dispatch:error',
  redispatch: 'portico:error:redispatch',
}

type Heard = [channel: string, message: Record<string, unknown>][]

function listen(t: TestContext): Heard {
  const heard: Heard = []
  for (const [key, name] of Object.entries(names)) {
    const listener = (message: unknown): void => {
      heard.push([key, message as Record<string, unknown>])
    }
    subscribe(name, listener)
    t.after(() => unsubscribe(name, listener))
  }
  return heard
}

async function ask(
  target: string,
  actions: Record<string, Action>,
  options: FrontControllerOptions = {},
): Promise<HttpRequest> {
  const request = new HttpRequest({ target })
  const controllers = new Map([['news', actions]])
  await new FrontController({ controllers, ...options }).handle(request)
  return request
}

function brief(heard: Heard): unknown[] {
  return heard.map(([channel, { controller, action, status, type }]) => [
    channel,
    `${controller}/${action}`,
    status,
    type,
  ])
}

describe('channels', () => {
  it('have the names that are documented', () => {
    assert.deepEqual(
      Object.fromEntries(Object.entries(channels).map(([key, { name }]) => [key, name])),
      names,
    )
  })

  it('tell of a dispatch when it starts and when it ends', async (t) => {
    const heard = listen(t)
    const request = await ask('/news/list/id/CANARY?dsh=CANARY', {
      list(_, response) {
        assert.deepEqual(brief(heard), [['start', 'news/list', undefined, undefined]])
        response.status = 201
      },
    })
    assert.deepEqual(heard[1], [
      'end',
      {
        id: request.id,
        method: 'GET',
        module: 'default',
        controller: 'news',
        action: 'list',
        status: 201,
        type: undefined,
      },
    ])
    assert.equal(heard.length, 2)
    assert.doesNotMatch(JSON.stringify(heard), /CANARY/)
  })

  it('tell of every dispatch of a request', async (t) => {
    const heard = listen(t)
    await ask('/news/list', {
      list: (request) => request.forward({ action: 'view' }),
      view: async () => {},
    })
    assert.deepEqual(brief(heard), [
      ['start', 'news/list', undefined, undefined],
      ['end', 'news/list', 200, undefined],
      ['start', 'news/view', undefined, undefined],
      ['end', 'news/view', 200, undefined],
    ])
  })

  it('tell of an error: the original at the re-dispatch, and the report at the end', async (t) => {
    const heard = listen(t)
    const request = await ask('/news/list?dsh=CANARY', {
      list() {
        throw new Error('it was CANARY')
      },
    })
    assert.deepEqual(brief(heard), [
      ['start', 'news/list', undefined, undefined],
      ['redispatch', 'news/list', undefined, 'EXCEPTION_OTHER'],
      ['start', 'error/error', undefined, undefined],
      ['end', 'error/error', 500, undefined],
      ['error', 'news/list', 500, 'EXCEPTION_OTHER'],
    ])
    assert.deepEqual(new Set(heard.map(([, { id }]) => id)), new Set([request.id]))
    assert.equal(heard[4]?.[1].message, 'it was [dsh]')
    assert.doesNotMatch(JSON.stringify(heard), /CANARY/)
  })

  it('tell the shape of what is no name', async (t) => {
    const heard = listen(t)
    await ask('/0AfJohXkq9TzB3mWcR7Lp/%0a', {})
    assert.deepEqual(brief(heard.slice(0, 1)), [
      ['redispatch', 'token(21)/token(3)', undefined, 'EXCEPTION_OTHER'],
    ])
  })

  it('tell every error, those too that a log only counts', async (t) => {
    const heard = listen(t)
    const front = new FrontController({ logger: { info() {}, warn() {}, error() {} } })
    for (let i = 0; i < 5; i++) await front.handle(new HttpRequest({ target: '/nope' }))
    assert.equal(heard.filter(([channel]) => channel === 'error').length, 5)
  })
})

describe('publish()', () => {
  it('makes nothing where nobody listens', () => {
    const request = new Proxy({} as HttpRequest, { get: () => assert.fail('read') })
    for (const channel of Object.values(channels)) publish(channel, request)
  })

  it('tells what it is given', (t) => {
    const heard = listen(t)
    const request = new HttpRequest({ target: '/x', method: 'PUT' })
    publish(channels.end, request, 204)
    const message: DispatchMessage = {
      id: request.id,
      method: 'PUT',
      module: '',
      controller: '',
      action: '',
      status: 204,
      type: undefined,
    }
    assert.deepEqual(heard, [['end', message]])
  })
})
