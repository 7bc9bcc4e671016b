import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRequestListener, type HttpResponse } from '../../lib/index.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'
import { listening, parse } from '../support/http.ts'
import { type Actions, keepAliveBytesOf, serveActions, splitResponses } from '../support/wire.ts'

const get = (action: string): string => keepAliveBytesOf({ target: `/app/${action}` })

describe('A client that half-closes', () => {
  it('gets the responses to all its requests, and then the connection closes', async (t) => {
    const ended = deferred()
    const { port, service } = await serveActions(t, {
      quick: (_, response) => response.text('quick'),
      async slow(_, response) {
        await ended.promise
        response.text('slow')
      },
      async stream(_, response) {
        response.body = Readable.from(['str', 'eam'])
      },
    })
    service.server.once('connection', (socket) => socket.once('end', ended.resolve))
    const received = await sendAndEnd(port, get('quick') + get('slow') + get('stream'))
    const bodies = splitResponses(received).map((bytes) => parse(bytes).body)
    // Node 26 writes the chunks that wait as one.
    const stream = bodies.pop()?.replace(/(?:^|\r\n)\d\r\n/g, '')
    assert.deepEqual([...bodies, stream], ['quick', 'slow', 'stream\r\n'])
  })

  it('gets the responses before a request that it has not sent whole', async (t) => {
    let ended = deferred()
    const { port, service } = await serveActions(t, {
      async slow(_, response) {
        await ended.promise
        response.text('slow')
      },
      read: async (request, response) => response.text(await text(request.body)),
      unread: (_, response) => response.text('unread'),
    })
    service.server.on('connection', (socket) => socket.once('end', () => ended.resolve()))
    const body = 'Content-Length: 9\r\n\r\nbody'
    for (const half of [
      'GET /app/unread HTTP/1.1\r\nHost: a',
      `POST /app/read HTTP/1.1\r\nHost: a\r\n${body}`,
      `POST /app/unread HTTP/1.1\r\nHost: a\r\n${body}`,
      `POST /app/unread HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\n${body}`,
    ]) {
      ended = deferred()
      const responses = splitResponses(await sendAndEnd(port, get('slow') + half))
      assert.deepEqual(
        responses.map((bytes) => parse(bytes).body),
        ['slow'],
        half,
      )
    }
  })

  it('gets the response of an action that passes the signal on', async (t) => {
    const ended = deferred()
    const { port, service } = await serveActions(t, {
      async slow({ signal }, response) {
        await ended.promise
        await sleep(1, undefined, { signal })
        response.text('slow')
      },
    })
    service.server.once('connection', (socket) => socket.once('end', ended.resolve))
    assert.equal(parse(await sendAndEnd(port, get('slow'))).body, 'slow')
  })

  it('causes no warning of Node with 8 requests in flight, and others that wait', async (t) => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    t.after(() => void process.off('warning', onWarning))
    const { port } = await serveActions(t, {
      async slow({ signal }, response) {
        await sleep(1, undefined, { signal })
        response.text('slow')
      },
    })
    const received = await sendAndEnd(port, get('slow').repeat(12))
    assert.equal(splitResponses(received).length, 12)
    await new Promise(setImmediate)
    assert.deepEqual(warnings, [])
  })

  it('is disconnected at once if it has no request in flight', async (t) => {
    const { port } = await serveActions(t, { quick: (_, response) => response.text('quick') })
    assert.equal(await sendAndEnd(port, ''), '')
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.write(get('quick'))
    await once(socket, 'data')
    socket.end()
    await once(socket, 'end')
  })

  for (const part of ['GET /app', 'POST /app HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na']) {
    it(`is disconnected in the middle of a request (${part.slice(0, 4)})`, async (t) => {
      const { port, reports } = await serveActions(t, {
        index: async (request) => void (await text(request.body)),
      })
      assert.equal(await sendAndEnd(port, part), '')
      assert.deepEqual(reports, [])
    })
  }

  it('counts as gone after a second in which nothing is sent', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { signal, socket, reports } = await endDuring(t, (signal) => once(signal, 'abort'))
    t.mock.timers.tick(999)
    assert.equal(signal.aborted, false)
    t.mock.timers.tick(1)
    assert.equal(signal.reason.name, 'ClientGoneError')
    await once(socket.resume(), 'close')
    assert.deepEqual(reports, [])
  })

  it('does not count as gone while bytes are sent', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const body = new Readable({ read() {} })
    body.push('1')
    const { signal, socket } = await endDuring(t, async () => body)
    let received = String((await once(socket, 'data'))[0])
    for (const chunk of ['2', '3']) {
      t.mock.timers.tick(999)
      body.push(chunk)
      received += (await once(socket, 'data'))[0]
      t.mock.timers.tick(1)
      assert.equal(signal.aborted, false)
    }
    body.push(null)
    for await (const chunk of socket) received += chunk
    assert.match(received, /\r\n1\r\n.*2\r\n.*3\r\n0\r\n\r\n$/s)
  })

  it('that has closed its side completely is gone with the next bytes', async (t) => {
    const body = new Readable({ read() {} })
    body.push('1')
    const { signal, socket } = await endDuring(t, async () => body)
    const aborted = once(signal, 'abort')
    socket.destroy()
    body.push('2')
    await aborted
    assert.equal(signal.reason.name, 'ClientGoneError')
  })

  it('gets its response from createRequestListener() with server.httpAllowHalfOpen', async (t) => {
    const slow = async (_: unknown, response: { text(text: string): void }): Promise<void> => {
      await ended.promise
      response.text('slow')
    }
    const ended = deferred()
    const server = createServer(createRequestListener(createFront({ app: { slow } })))
    Object.assign(server, { httpAllowHalfOpen: true })
    server.once('connection', (socket) => socket.once('end', ended.resolve))
    const port = await listening(t, server)
    assert.equal(parse(await sendAndEnd(port, get('slow'))).body, 'slow')
  })
})

/** Sends bytes, ends the sending side, and returns everything that the server sends. */
async function sendAndEnd(port: number, bytes: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.end(bytes)
  return text(socket)
}

/** Sends a request whose action returns a body or nothing, and ends the sending side when the action has started. */
async function endDuring(
  t: TestContext,
  run: (signal: AbortSignal) => Promise<unknown>,
): Promise<{ signal: AbortSignal; socket: Socket; reports: readonly unknown[] }> {
  const started = deferred<AbortSignal>()
  const actions: Actions = {
    async wait({ signal }, response: HttpResponse) {
      started.resolve(signal)
      const body = await run(signal)
      if (body instanceof Readable) response.body = body
    },
  }
  const { port, service, reports } = await serveActions(t, actions)
  const ended = once(service.server, 'connection').then(([socket]) => once(socket, 'end'))
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  t.after(() => void socket.destroy())
  socket.write(get('wait'))
  const signal = await started.promise
  socket.end()
  await ended
  return { signal, socket, reports }
}
