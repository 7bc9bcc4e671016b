import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Action, ErrorReport, HttpResponse, Service } from '../../lib/index.ts'
import { deferred } from '../support/deferred.ts'
import { parse, send } from '../support/http.ts'
import { keepAliveBytesOf, listenWithActions, serveActions } from '../support/wire.ts'

// Longer than the deadline of the server.
const FOREVER_MS = 60_000

async function* ticks(signal: AbortSignal): AsyncGenerator<string> {
  yield 'data: 1\n\n'
  await sleep(FOREVER_MS, undefined, { signal })
}

describe('service.closing', () => {
  it('aborts with a ServerClosingError when close() is called', async (t) => {
    const { service } = await serveActions(t, {})
    assert.equal(service.closing.aborted, false)
    const closed = service.close()
    assert.equal(service.closing.reason.name, 'ServerClosingError')
    assert.equal(service.close(), closed)
    await closed
  })

  it('lets a WebSocket end, and the server does not wait for its deadline', async (t) => {
    const { port, service } = await serveActions(t, {})
    service.server.on('upgrade', (_, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: Upgrade\r\n\r\n')
      service.closing.addEventListener('abort', () => socket.end('bye'))
    })
    const client = connect(port, '127.0.0.1')
    client.write('GET / HTTP/1.1\r\nHost: a\r\nUpgrade: a\r\nConnection: Upgrade\r\n\r\n')
    await once(client, 'data')
    const received = text(client)
    assert.deepEqual(await service.close(), { connections: 0, actions: 0 })
    assert.equal(await received, 'bye')
  })

  it('has listeners for 100 WebSockets, and Node prints no warning', async (t) => {
    const { service } = await serveActions(t, {})
    const warnings: unknown[] = []
    const warn = (warning: unknown): void => void warnings.push(warning)
    process.on('warning', warn)
    t.after(() => process.off('warning', warn))
    for (let i = 0; i < 100; i++) service.closing.addEventListener('abort', () => {})
    await new Promise(setImmediate)
    assert.deepEqual(warnings, [])
  })
})

describe('createRequestListener() with a signal that has aborted', () => {
  it('ends each connection with its response', async (t) => {
    const closing = AbortSignal.abort()
    const run: Action = (_, response) => response.text('x')
    const { port } = await listenWithActions(t, { run }, { closing })
    const received = await send(port, keepAliveBytesOf({ target: '/app/run' }))
    assert.match(received, /\r\nConnection: close\r\n/)
  })
})

describe('request.signal', () => {
  it('aborts at the stop if the response is an event stream, and nothing is reported', async (t) => {
    const { service, received, reports, signal } = await startStream(t, ({ signal }, response) => {
      response.headers.set('Content-Type', 'text/event-stream')
      response.body = ticks(signal)
    })
    assert.deepEqual(await service.close(), { connections: 0, actions: 0 })
    assert.equal(signal.reason.name, 'ServerClosingError')
    assert.match(await received, /data: 1\n\n/)
    assert.deepEqual(reports, [])
  })

  for (const [what, end] of [
    [
      'let the event stream fail with an error of another kind, as a request of node:http does',
      (body: PassThrough) => body.destroy(new Error('aborted')),
    ],
    ['destroy the event stream', (body: PassThrough) => body.destroy()],
  ] as const) {
    it(`may ${what}`, async (t) => {
      const { service, reports } = await startStream(t, ({ signal }, response) => {
        response.headers.set('Content-Type', 'text/event-stream')
        const body = new PassThrough()
        body.write('data: 1\n\n')
        signal.addEventListener('abort', () => end(body))
        response.body = body
      })
      assert.deepEqual(await service.close(), { connections: 0, actions: 0 })
      assert.deepEqual(reports, [])
    })
  }

  it('lets an event stream end in an orderly way', async (t) => {
    const { service, received } = await startStream(t, ({ signal }, response) => {
      response.headers.set('Content-Type', 'text/event-stream; charset=utf-8')
      response.body = (async function* () {
        yield 'data: 1\n\n'
        await once(signal, 'abort')
        yield 'data: last\n\n'
      })()
    })
    await service.close()
    assert.match(await received, /data: last\n\n\r\n0\r\n\r\n$/)
  })

  it('aborts for an event stream that starts after the stop', async (t) => {
    const finish = deferred()
    const { service, received } = await startStream(t, async ({ signal }, response) => {
      await finish.promise
      response.headers.set('Content-Type', 'text/event-stream')
      response.body = ticks(signal)
    })
    const closed = service.close()
    finish.resolve()
    assert.deepEqual(await closed, { connections: 0, actions: 0 })
    assert.match(await received, /^HTTP\/1\.1 200 /)
  })

  it('does not abort at the stop for an action and another stream, which are completed', async (t) => {
    const finish = deferred()
    const work = async (signal: AbortSignal): Promise<string> => {
      await Promise.race([finish.promise, once(signal, 'abort')])
      signal.throwIfAborted()
      return 'complete'
    }
    for (const action of [
      async ({ signal }, response) => void response.text(await work(signal)),
      ({ signal }, response) => {
        response.body = (async function* () {
          yield 'is '
          yield await work(signal)
        })()
      },
    ] satisfies Action[]) {
      const { service, received, signal } = await startStream(t, action)
      const closed = service.close()
      await new Promise(setImmediate)
      assert.equal(signal.aborted, false)
      finish.resolve()
      assert.deepEqual(await closed, { connections: 0, actions: 0 })
      const { status, body } = parse(await received)
      assert.equal(status, 200)
      assert.match(body, /complete/)
    }
  })
})

/** Starts a request, and waits until its action has started and, if it is synchronous, its response too. */
async function startStream(
  t: TestContext,
  action: Action,
): Promise<{
  service: Service
  signal: AbortSignal
  received: Promise<string>
  reports: readonly ErrorReport[]
}> {
  const started = deferred<AbortSignal>()
  let isWaiting = false
  const { port, service, reports } = await serveActions(t, {
    run(request, response: HttpResponse) {
      const returned = action(request, response)
      isWaiting = returned !== undefined
      started.resolve(request.signal)
      return returned
    },
  })
  const client = connect(port, '127.0.0.1').on('error', () => {})
  t.after(() => void client.destroy())
  client.write(keepAliveBytesOf({ target: '/app/run' }))
  let text = ''
  client.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  const received = once(client, 'close').then(() => text)
  const signal = await started.promise
  if (!isWaiting) await once(client, 'data')
  return { service, signal, received, reports }
}
