import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, it } from 'node:test'
import {
  type Access,
  createRequestListener,
  type HttpRequest,
  type HttpResponse,
  incomingMessageOf,
} from '../../lib/index.ts'
import { type Connection, connectionOf } from '../../lib/server/connection.ts'
import { createFront } from '../support/front.ts'
import { listening, send } from '../support/http.ts'
import { keepAliveBytesOf, withClose } from '../support/wire.ts'

describe('connectionOf()', () => {
  it('returns one connection for all exchanges of a socket, and another for each socket', () => {
    const socket = new Socket()
    const connection = connectionOf(socket)
    assert.equal(connectionOf(socket), connection)
    assert.notEqual(connectionOf(new Socket()), connection)
  })

  it('calls the functions in onClose once, with a single listener on the socket', () => {
    const socket = new Socket()
    const { onClose } = connectionOf(socket)
    const called: string[] = []
    const removed = (): void => void called.push('removed')
    onClose.add(() => called.push('one')).add(removed)
    connectionOf(socket).onClose.add(() => called.push('two'))
    onClose.delete(removed)
    assert.equal(socket.listenerCount('close'), 1)
    socket.emit('close')
    socket.emit('close')
    assert.deepEqual(called, ['one', 'two'])
  })
})

describe('Connection.activeResponse', () => {
  it('is the latest response until it has been sent', () => {
    const socket = new Socket()
    assert.equal(connectionOf(socket).activeResponse, undefined)
    const connection = connectionOf(socket)
    assert.equal(connection.activeResponse, undefined)
    const response = new ServerResponse({ method: 'GET' } as IncomingMessage)
    connection.latest = response
    assert.equal(connectionOf(socket).activeResponse, response)
    connection.latest = { writableFinished: true } as ServerResponse
    assert.equal(connectionOf(socket).activeResponse, undefined)
  })
})

describe('Connection.latest', () => {
  it('is released when the response closes', () => {
    const connection = connectionOf(new Socket())
    const [first, second] = [responseOn(connection), responseOn(connection)]
    connection.recordRequest(first, false)
    connection.recordRequest(second, false)
    // As node:http emits them for a response that has been sent.
    for (const event of ['finish', 'close']) first.emit(event)
    assert.equal(connection.latest, second)
    for (const event of ['finish', 'close']) second.emit(event)
    assert.equal(connection.latest, undefined)
  })

  it('is the response to an earlier request if that is sent after a later one', () => {
    const connection = connectionOf(new Socket())
    const [first, second, third] = [1, 2, 3].map(() => responseOn(connection)) as [
      ServerResponse,
      ServerResponse,
      ServerResponse,
    ]
    for (const out of [third, first, second]) {
      connection.recordRequest(out, false)
      connection.pipeline?.start(out, () => {})
    }
    for (const [sent, left] of [
      [first, second],
      [second, third],
      [third, undefined],
    ] as const) {
      for (const event of ['finish', 'close']) sent.emit(event)
      assert.equal(connection.latest, left)
    }
  })
})

describe('A response', () => {
  it('is recorded although pipeline() has removed the socket of its message, and the application has set `client`', async (t) => {
    const accessed: number[] = []
    const front = createFront({
      app: {
        async run(request: HttpRequest, response: HttpResponse) {
          const message = incomingMessageOf(request)
          const failing = new Writable({ write: (_, __, done) => done(new Error('full')) })
          if (message) await pipeline(message, failing).catch(() => {})
          response.text('ok')
        },
      },
    })
    const onAccess = ({ response }: Access): void => void accessed.push(response.status)
    const listener = createRequestListener(front, { onAccess })
    const server = createServer((message, out) =>
      listener(Object.assign(message, { client: 'that of an OAuth server' }), out),
    )
    const port = await listening(t, server)
    const bytes = 'POST /app/run HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na'
    assert.match(await send(port, withClose(bytes)), /^HTTP\/1\.1 200 .*ok$/s)
    assert.deepEqual(accessed, [200])
  })
})

describe('A response that has been sent', () => {
  it('leaves nothing of its request in the memory of V8 for the last match', async (t) => {
    const matched: unknown[] = []
    const front = createFront({
      app: { run: (_: HttpRequest, response: HttpResponse) => response.text('ok') },
    })
    const server = createServer(createRequestListener(front))
    server.on('request', (_, out) =>
      out.on('close', () => setImmediate(() => matched.push(Reflect.get(RegExp, 'input')))),
    )
    const port = await listening(t, server)
    const request = keepAliveBytesOf({ target: '/app/run' }).replace('Host: ', 'Host: news.')
    for (const bytes of [request, request.replace('GET /', 'GET http://news.example/')])
      await send(port, withClose(bytes))
    assert.deepEqual(matched, ['', ''])
  })
})

function responseOn({ socket }: Connection): ServerResponse {
  return new ServerResponse({
    method: 'GET',
    rawHeaders: [] as string[],
    socket,
  } as IncomingMessage)
}
