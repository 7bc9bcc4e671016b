import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { nextTick } from 'node:process'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type CloseResult,
  FrontController,
  type HttpRequest,
  type HttpResponse,
  type Service,
  serve,
} from '../../lib/index.ts'
import { collectReports } from '../support/collectors.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'
import { garbageCollector } from '../support/gc.ts'
import { bytesOf, parse, send } from '../support/http.ts'
import { portOf, startServing } from '../support/serving.ts'
import { keepAliveBytesOf, settled } from '../support/wire.ts'

const upgradeBytes = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n'

describe('drain()', () => {
  it('waits for the response to a request in flight, which has Connection: close', async () => {
    const started = deferred()
    const finish = deferred()
    const service = await serve(createSlowFront(started.resolve, finish.promise), { port: 0 })
    const socket = connect(portOf(service.url), '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.write(keepAliveBytesOf({ target: '/slow' }))
    await started.promise
    const closed = service.close()
    finish.resolve()
    await once(socket, 'close')
    assert.deepEqual(await closed, { connections: 0, actions: 0 })
    const { status, headers, body } = parse(received)
    assert.deepEqual([status, headers.connection, body], [200, 'close', 'done'])
  })

  it('waits for an action whose client has reset its connection, and counts it at the deadline', async () => {
    for (const [closeTimeoutMs, actions] of [
      [10_000, 0],
      [100, 1],
    ] as const) {
      const started = deferred()
      const finish = deferred()
      const front = createSlowFront(started.resolve, finish.promise)
      const service = await serve(front, { port: 0, closeTimeoutMs })
      const socket = connect(portOf(service.url), '127.0.0.1')
      socket.write(keepAliveBytesOf({ target: '/slow' }))
      await started.promise
      socket.resetAndDestroy()
      while (service.counts.connections > 0) await delay(1)
      const closed = service.close()
      if (actions === 0) {
        assert.equal(await Promise.race([closed, delay(100, 'waits')]), 'waits')
        finish.resolve()
      }
      assert.deepEqual(await closed, { connections: 0, actions })
      finish.resolve()
    }
  })

  it('counts an action whose client has reset its connection beside others that are open at the deadline', async (t) => {
    const started = deferred()
    const finish = deferred()
    const front = createSlowFront(started.resolve, finish.promise)
    const service = await serve(front, { port: 0, closeTimeoutMs: 100 })
    const [open, reset] = [0, 1].map(() => connect(portOf(service.url), '127.0.0.1')) as [
      Socket,
      Socket,
    ]
    t.after(() => open.destroy())
    open.on('error', () => {}).write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf')
    reset.write(keepAliveBytesOf({ target: '/slow' }))
    await started.promise
    reset.resetAndDestroy()
    while (service.counts.connections > 1) await delay(1)
    assert.deepEqual(await service.close(), { connections: 1, actions: 1 })
    finish.resolve()
  })

  it('begins when the server is closed, by whomever', async () => {
    const started = deferred()
    const finish = deferred()
    const service = await serve(createSlowFront(started.resolve, finish.promise), { port: 0 })
    const socket = connect(portOf(service.url), '127.0.0.1')
    socket.write(keepAliveBytesOf({ target: '/slow' }))
    await started.promise
    const closed = deferred<unknown>()
    assert.equal(service.server.close(closed.resolve), service.server)
    assert.equal(service.closing.aborted, true)
    finish.resolve()
    assert.equal(parse(await text(socket)).headers.connection, 'close')
    assert.equal(await closed.promise, undefined)
    assert.deepEqual(await service.close(), { connections: 0, actions: 0 })
  })

  it('begins once, also if a listener of the signal closes the service or its server', async () => {
    for (const close of [
      (service: Service) => void service.close(),
      (service: Service) => void service.server.close(),
    ]) {
      const started = deferred()
      const finish = deferred()
      const front = createSlowFront(started.resolve, finish.promise)
      const service = await serve(front, { port: 0, closeTimeoutMs: 100 })
      service.closing.addEventListener('abort', () => close(service))
      const socket = connect(portOf(service.url), '127.0.0.1').on('error', () => {})
      socket.write(keepAliveBytesOf({ target: '/slow' }))
      await started.promise
      const closed = service.close()
      assert.equal(service.close(), closed)
      assert.deepEqual(await closed, { connections: 1, actions: 1 })
      finish.resolve()
    }
  })

  it('counts no connection whose client has all of its response, and has not closed its side', async (t) => {
    const started = deferred()
    const finish = deferred()
    const front = createSlowFront(started.resolve, finish.promise)
    const service = await serve(front, { port: 0, closeTimeoutMs: 200 })
    const socket = connect({ port: portOf(service.url), host: '127.0.0.1', allowHalfOpen: true })
    t.after(() => socket.destroy())
    socket.write(keepAliveBytesOf({ target: '/slow' }))
    await started.promise
    const closed = service.close()
    finish.resolve()
    assert.match(await text(socket), /done$/)
    assert.deepEqual(await closed, { connections: 0, actions: 0 })
  })

  it('closes connections that are idle, or have never sent a byte', async () => {
    const service = await serve(new FrontController(), { port: 0 })
    const port = portOf(service.url)
    const silent = connect(port, '127.0.0.1')
    const idle = connect(port, '127.0.0.1')
    silent.resume()
    idle.write(keepAliveBytesOf({ target: '/' }))
    await once(idle, 'data')
    const closed = Promise.all([once(silent, 'close'), once(idle, 'close')])
    assert.deepEqual(await service.close(), { connections: 0, actions: 0 })
    await closed
  })

  it('accepts the connections that wait, and responds to their requests', async (t) => {
    const { port, service } = await startServing(t, createFront({ index: {} }))
    const received = Array.from({ length: 50 }, () => send(port, bytesOf({ target: '/' })))
    // The kernel has the connections, and the event loop has not accepted any.
    await new Promise(nextTick)
    await service.close()
    for (const each of await Promise.all(received)) assert.match(each, /^HTTP\/1\.1 \d+/)
  })

  it('accepts none after half of its time, although each client connects again at once', async (t) => {
    const { port, service } = await startServing(t, createFront({}), { closeTimeoutMs: 1_000 })
    let accepted = 0
    const connectAgain = (): void => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      t.after(() => socket.destroy())
    }
    service.server.on('connection', () => {
      accepted++
      blockEventLoop(5)
      connectAgain()
    })
    connectAgain()
    await once(service.server, 'connection')
    await service.close()
    // Without the limit, it would not end.
    assert.ok(accepted <= 150, `${accepted}`)
  })

  it('responds to a request that arrived on an idle connection while the event loop was blocked', async (t) => {
    const { port, service } = await startServing(t, createFront({ index: {} }))
    const socket = connect(port, '127.0.0.1')
    socket.write(keepAliveBytesOf({ target: '/' }))
    await once(socket, 'data')
    const received = text(socket)
    const closed = service.close()
    // The kernel has these bytes at once.
    socket.write(keepAliveBytesOf({ target: '/' }))
    blockEventLoop(800)
    assert.match(await received, /HTTP\/1\.1 \d+/)
    await closed
  })

  it('counts the action of a request whose rest arrived while the event loop was blocked until the deadline', async (t) => {
    const front = createSlowFront(() => {}, new Promise<void>(() => {}))
    const { port, service } = await startServing(t, front, { closeTimeoutMs: 50 })
    const socket = connect(port, '127.0.0.1')
    const bytes = keepAliveBytesOf({ target: '/slow' })
    const accepted = once(service.server, 'connection')
    socket.write(bytes.slice(0, 20))
    const [serverSide] = (await accepted) as [Socket]
    while (serverSide.bytesRead < 20) await new Promise(setImmediate)
    const received = text(socket).catch(() => '')
    const closed = service.close()
    socket.write(bytes.slice(20))
    blockEventLoop(100)
    assert.equal(await received, '')
    assert.deepEqual(await closed, { connections: 1, actions: 1 })
  })

  it('leaves a busy connection open while it closes idle ones', async () => {
    const started = deferred()
    const finish = deferred()
    const service = await serve(createSlowFront(started.resolve, finish.promise), { port: 0 })
    const port = portOf(service.url)
    const [silent, idle, busy] = [1, 2, 3].map(() => connect(port, '127.0.0.1'))
    assert.ok(silent && idle && busy)
    silent.resume()
    idle.write(keepAliveBytesOf({ target: '/' }))
    await once(idle, 'data')
    busy.write(keepAliveBytesOf({ target: '/slow' }))
    await started.promise

    const closed = service.close()
    // By then one sweep has looked at all of them.
    await Promise.all([once(silent, 'close'), once(idle.resume(), 'close')])
    const late = connect(port, '127.0.0.1')
    await assert.rejects(once(late, 'connect'), { code: 'ECONNREFUSED' })
    assert.equal(busy.readyState, 'open')
    let received = ''
    busy.on('data', (chunk) => {
      received += chunk
    })
    finish.resolve()
    await once(busy, 'close')
    assert.deepEqual(await closed, { connections: 0, actions: 0 })
    const { status, headers, body } = parse(received)
    assert.deepEqual([status, headers.connection, body], [200, 'close', 'done'])
  })

  it('responds to a request that arrives on an idle connection after the stop', async () => {
    const service = await serve(new FrontController(), { port: 0 })
    const socket = connect(portOf(service.url), '127.0.0.1')
    const request = keepAliveBytesOf({ target: '/' })
    socket.write(request)
    await once(socket, 'data')
    const closed = service.close()
    socket.write(request)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    await once(socket, 'close')
    assert.deepEqual(await closed, { connections: 0, actions: 0 })
    assert.deepEqual([parse(received).status, parse(received).headers.connection], [200, 'close'])
  })

  it('keeps an idle connection open for 600 ms, for a request that is on its way', async (t) => {
    const bytes = keepAliveBytesOf({ target: '/' })
    const { accepted, client, close, advance } = await startWithMockedTime(t, bytes)
    await once(client, 'data')
    const closed = close()
    for (const [elapsedMs, destroyed] of [
      [0, false],
      [599, false],
      [600, true],
    ] as const) {
      await advance(elapsedMs)
      assert.equal(accepted.destroyed, destroyed, `${elapsedMs} ms`)
    }
    assert.deepEqual(await closed, { connections: 0, actions: 0 })
  })

  it('keeps nothing of the server in memory', async () => {
    const gc = garbageCollector()
    const closed = async (): Promise<WeakRef<Server>> => {
      const service = await serve(new FrontController(), { port: 0 })
      await service.close()
      return new WeakRef(service.server)
    }
    const server = await closed()
    for (let i = 0; i < 50 && server.deref() !== undefined; i++) {
      await delay(10)
      gc()
    }
    assert.equal(server.deref(), undefined)
  })

  it('destroys the connections that are left at the deadline, and counts them and the actions', async (t) => {
    const started = deferred()
    const finish = deferred()
    const front = createSlowFront(started.resolve, finish.promise)
    const service = await serve(front, { port: 0, closeTimeoutMs: 20 })
    service.server.on('upgrade', (_, socket) => socket.write('other protocol'))
    const slow = connectTo(t, service)
    slow.write(keepAliveBytesOf({ target: '/slow' }))
    await started.promise
    const upgraded = connectTo(t, service)
    upgraded.write(upgradeBytes)
    await once(upgraded, 'data')
    assert.deepEqual(await service.close(), { connections: 2, actions: 1 })
    finish.resolve()
  })

  it('waits for an action without a limit', async () => {
    const started = deferred()
    const finish = deferred()
    const front = createSlowFront(started.resolve, finish.promise)
    const service = await serve(front, { port: 0, closeTimeoutMs: Number.POSITIVE_INFINITY })
    const received = send(portOf(service.url), bytesOf({ target: '/slow' }))
    await started.promise
    const closed = service.close()
    // Node ends a timer that overflows after a millisecond.
    await delay(20)
    finish.resolve()
    assert.equal(parse(await received).body, 'done')
    assert.deepEqual(await closed, { connections: 0, actions: 0 })
  })

  it('counts the actions that run before half a body that waits for its turn', async (t) => {
    const finish = deferred()
    let started = 0
    const slow = (): Promise<void> => {
      started++
      return finish.promise
    }
    const front = createFront({ slow: { index: slow } })
    const service = await serve(front, { port: 0, closeTimeoutMs: 20 })
    const post = { target: '/slow', method: 'POST', headers: [['Content-Length', '9']] } as const
    connectTo(t, service).write(
      keepAliveBytesOf({ target: '/slow' }).repeat(8) + keepAliveBytesOf(post),
    )
    await settled(() => started)
    assert.deepEqual(await service.close(), { connections: 1, actions: 8 })
    finish.resolve()
  })

  it('counts each action of a connection with pipelined requests', async (t) => {
    const started = deferred()
    const finish = deferred()
    let actions = 0
    const slow = (): Promise<void> => {
      if (++actions === 3) started.resolve()
      return finish.promise
    }
    const service = await serve(createFront({ slow: { index: slow } }), {
      port: 0,
      closeTimeoutMs: 20,
    })
    connectTo(t, service).write(keepAliveBytesOf({ target: '/slow' }).repeat(3))
    await started.promise
    assert.deepEqual(await service.close(), { connections: 1, actions: 3 })
    finish.resolve()
  })

  it('is settled after onAccess was called for the response that it cuts', async (t) => {
    const index = (_: unknown, response: HttpResponse): void => {
      response.body = new Readable({ read() {} })
      response.body.push('first')
    }
    const cut: string[] = []
    const service = await serve(createFront({ stream: { index } }), {
      port: 0,
      closeTimeoutMs: 20,
      onAccess: ({ response }) => void cut.push(response.request?.target ?? ''),
    })
    const client = connectTo(t, service)
    client.write(keepAliveBytesOf({ target: '/stream' }))
    await once(client, 'data')
    assert.deepEqual(await service.close(), { connections: 1, actions: 1 })
    assert.deepEqual(cut, ['/stream'])
  })

  for (const [what, bytes] of [
    ['a first request', 'GET / HT'],
    ['a second request that arrived with the first', `${keepAliveBytesOf({ target: '/' })}G`],
  ] as const) {
    it(`responds with a 408 to a part of the head of ${what} after 2 seconds`, async (t) => {
      const { accepted, client, close, advance } = await startWithMockedTime(t, bytes)
      const closed = close()
      await advance(1_999)
      assert.equal(accepted.writableEnded, false)
      const received = text(client)
      await advance(2_000)
      assert.match(await received, /(^|\n)HTTP\/1\.1 408 /)
      assert.deepEqual(await closed, { connections: 0, actions: 0 })
    })
  }

  it('responds to a request whose head is completed within the 2 seconds', async (t) => {
    const { client, close, advance } = await startWithMockedTime(t, 'GET / HT')
    const closed = close()
    await advance(1_999)
    client.write('TP/1.1\r\nHost: a\r\n\r\n')
    const { status, headers } = parse(await text(client))
    assert.deepEqual([status, headers.connection], [200, 'close'])
    await closed
  })

  it('closes an idle connection that sends only empty lines', async (t) => {
    const bytes = keepAliveBytesOf({ target: '/' })
    const { accepted, client, close, advance } = await startWithMockedTime(t, bytes)
    await once(client, 'data')
    const closed = close()
    for (const elapsedMs of [0, 100, 200, 300, 400, 500]) {
      await advance(elapsedMs)
      const { bytesRead } = accepted
      client.write('\r\n')
      while (accepted.bytesRead === bytesRead) await new Promise(setImmediate)
    }
    assert.equal(accepted.destroyed, false)
    await advance(600)
    assert.equal(accepted.destroyed, true)
    assert.deepEqual(await closed, { connections: 0, actions: 0 })
  })

  it('keeps a connection open for 600 ms after a response that started before the stop', async (t) => {
    const body = new PassThrough()
    const stream = (_: unknown, response: { body: unknown }): void => {
      response.body = body
    }
    const front = createFront({ stream: { index: stream } })
    const bytes = keepAliveBytesOf({ target: '/stream' })
    const { accepted, client, close, advance } = await startWithMockedTime(t, bytes, front)
    body.write('a')
    await once(client, 'data')
    const closed = close()
    await advance(5_000)
    body.end()
    for (let received = ''; !received.endsWith('0\r\n\r\n'); ) {
      received += (await once(client, 'data'))[0]
    }
    await advance(5_100)
    await advance(5_699)
    assert.equal(accepted.destroyed, false)
    await advance(5_700)
    assert.equal(accepted.destroyed, true)
    assert.deepEqual(await closed, { connections: 0, actions: 0 })
  })

  it('responds with a 408 to a part of a body at the deadline, and cuts no action', async (t) => {
    const { reports, onReport } = collectReports()
    const read = async (request: HttpRequest): Promise<void> => void (await text(request.body))
    const front = createFront({ form: { index() {} }, read: { index: read } }, { onReport })
    const service = await serve(front, { port: 0, closeTimeoutMs: 20 })
    const form = [['Content-Type', 'application/x-www-form-urlencoded']] as const
    const responses = ['/form', '/read'].map((target) => {
      const client = connectTo(t, service)
      const bytes = keepAliveBytesOf({ method: 'POST', target, headers: form, body: 'a=1' })
      client.write(bytes.slice(0, -1))
      return text(client)
    })
    await arrived(service, 2)
    assert.deepEqual(await service.close(), { connections: 2, actions: 0 })
    for (const received of await Promise.all(responses)) assert.equal(parse(received).status, 408)
    assert.deepEqual(
      reports.map(({ status }) => status),
      [408, 408],
    )
  })

  for (const kind of ['text', 'stream'] as const) {
    it(`does not count a response (${kind}) that was sent to half a body before the deadline`, async (t) => {
      const index = (_: unknown, response: HttpResponse): void => {
        response.body = kind === 'text' ? 'abc' : Readable.from(['a', 'b', 'c'])
      }
      const front = createFront({ form: { index } })
      const service = await serve(front, { port: 0, closeTimeoutMs: 20 })
      const client = connectTo(t, service)
      const received = text(client)
      const bytes = keepAliveBytesOf({ method: 'POST', target: '/form', body: 'a=1' })
      client.write(bytes.slice(0, -1))
      await once(client, 'readable')
      assert.deepEqual(await service.close(), { connections: 1, actions: 0 })
      const { status, body } = parse(await received)
      assert.deepEqual([status, body.replace(/[^abc]/g, '')], [200, 'abc'])
      if (kind === 'stream') assert.match(body, /\r\n0\r\n\r\n$/)
    })
  }

  it('destroys the connection of an action that has not responded a second after the rest of its body was missed', async (t) => {
    const started = deferred()
    const finish = deferred()
    const front = createSlowFront(started.resolve, finish.promise)
    const service = await serve(front, { port: 0, closeTimeoutMs: 20 })
    const bytes = keepAliveBytesOf({ method: 'POST', target: '/slow', body: 'abc' })
    connectTo(t, service).write(bytes.slice(0, -1))
    await started.promise
    assert.deepEqual(await service.close(), { connections: 1, actions: 0 })
    finish.resolve()
  })

  for (const [body, expected] of [
    ['', /^HTTP\/1\.1 408 Request Timeout\r\n.*\r\n\r\n$/s],
    ['abc', /^HTTP\/1\.1 200 OK\r\n.*abc\r\n$/s],
  ] as const) {
    it(`cuts no action that sends half a body back (${body || 'no byte'})`, async (t) => {
      const { reports, onReport } = collectReports()
      const index = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
        response.body = request.body
      }
      const front = createFront({ echo: { index } }, { onReport })
      const service = await serve(front, { port: 0, closeTimeoutMs: 20 })
      const requested = once(service.server, 'request')
      const client = connectTo(t, service)
      const received = text(client)
      client.write(`POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n${body}`)
      const [, out] = (await requested) as [IncomingMessage, ServerResponse]
      while (!out.headersSent) await new Promise(setImmediate)
      assert.deepEqual(await service.close(), { connections: 1, actions: 0 })
      assert.match(await received, expected)
      assert.deepEqual(
        reports.map(({ status }) => status),
        [408],
      )
    })
  }

  for (const [what, bytes] of [
    ['that had a request before', upgradeBytes],
    [
      'that has sent half a body',
      upgradeBytes.replace('\r\n\r\n', '\r\nContent-Length: 9\r\n\r\nabc'),
    ],
  ] as const) {
    it(`waits for an upgraded connection ${what}`, async (t) => {
      const first = keepAliveBytesOf({ target: '/' })
      const { service, accepted, client, close, advance } = await startWithMockedTime(t, first)
      const upgraded = once(service.server, 'upgrade')
      client.write(bytes)
      await upgraded
      const closed = close()
      await advance(3_000)
      await advance(6_000)
      assert.equal(accepted.destroyed, false)
      accepted.end()
      client.resume()
      assert.deepEqual(await closed, { connections: 0, actions: 0 })
    })
  }
})

function connectTo(t: TestContext, { url }: Service): Socket {
  const socket = connect(portOf(url), '127.0.0.1').on('error', () => {})
  t.after(() => void socket.destroy())
  return socket
}

/** Sends bytes to a server, whose time then stands still until `advance(elapsedMs)`. */
async function startWithMockedTime(
  t: TestContext,
  bytes: string,
  front = new FrontController(),
): Promise<{
  service: Service
  accepted: Socket
  client: Socket
  close(): Promise<CloseResult>
  advance(elapsedMs: number): Promise<void>
}> {
  const service = await serve(front, { port: 0 })
  const connection = once(service.server, 'connection')
  const client = connectTo(t, service)
  const [accepted] = await connection
  client.write(bytes)
  while (accepted.bytesRead < bytes.length) await new Promise(setImmediate)
  // A whole number: with a fraction, startedAt + 600 - startedAt could be less than 600.
  const startedAt = Math.round(performance.now())
  const clock = t.mock.method(performance, 'now', () => startedAt)
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  const advance = async (elapsedMs: number): Promise<void> => {
    clock.mock.mockImplementation(() => startedAt + elapsedMs)
    t.mock.timers.tick(100)
    // The sweep runs after sockets have been read.
    await new Promise(setImmediate)
  }
  return { service, accepted, client, close: () => service.close(), advance }
}

/** Waits until the server has read the heads of this number of requests. */
async function arrived({ server }: Service, requests: number): Promise<void> {
  for (let i = 0; i < requests; i++) await once(server, 'request')
}

function createSlowFront(started: () => void, finish: Promise<void>): FrontController {
  const slow = {
    async index(_: unknown, response: { text(text: string): void }): Promise<void> {
      started()
      await finish
      response.text('done')
    },
  }
  return createFront({ slow })
}

function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
