import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { createRequestListener, HttpResponse } from '../../lib/index.ts'
import { connectionOf } from '../../lib/server/connection.ts'
import { deferred } from '../support/deferred.ts'
import { bytesOf, listening, send } from '../support/http.ts'
import { keepAliveBytesOf, listenWithActions, settled, withClose } from '../support/wire.ts'

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

describe('Pipelined requests', () => {
  const form = 'Content-Type: application/x-www-form-urlencoded\r\n'

  it('get their responses in order', async (t) => {
    const { port } = await listenWithActions(t, {
      async echo(request, response) {
        const id = Number(request.param('id'))
        for (let i = 0; i < id % 7; i++) await new Promise(setImmediate)
        response.text(`<${id}>`)
      },
    })
    const one = (id: number): string => {
      const target = `/app/echo/id/${id}`
      return id === 99 ? bytesOf({ target }) : keepAliveBytesOf({ target })
    }
    const received = await send(port, Array.from({ length: 100 }, (_, id) => one(id)).join(''))
    const ids = [...received.matchAll(/<(\d+)>/g)].map(([, id]) => Number(id))
    assert.deepEqual(
      ids,
      Array.from({ length: 100 }, (_, id) => id),
    )
  })

  it('start up to 64 at a time, and no more are read until a response has been sent', async (t) => {
    for (const bytes of [
      'GET /app/wait HTTP/1.1\r\nHost: a\r\n\r\n',
      `POST /app/wait HTTP/1.1\r\nHost: a\r\n${form}Content-Length: 3\r\n\r\na=1`,
      `POST /app/wait HTTP/1.1\r\nHost: a\r\n${form}Content-Length: 99999\r\n\r\n${'a'.repeat(99_999)}`,
    ]) {
      const count = Math.max(200, Math.floor(1_000_000 / bytes.length))
      const released = deferred()
      let started = 0
      const { port } = await listenWithActions(t, {
        async wait(request, response) {
          started++
          await released.promise
          response.text(request.method)
        },
      })
      const received = send(port, bytes.repeat(count - 1) + withClose(bytes))
      await settled(() => started)
      assert.ok(started <= 1 + 64, `${started} of ${count} are active`)
      released.resolve()
      assert.equal((await received).match(/ 200 OK/g)?.length, count)
      assert.equal(started, count)
    }
  })

  it('are read again after maxPauseMs, so that a partly received request does not time out', async (t) => {
    const released = deferred()
    const read = deferred()
    let requests = 0
    const handler = {
      async handle() {
        await released.promise
        return new HttpResponse()
      },
    }
    const server = createServer(createRequestListener(handler, { maxPauseMs: 20 }))
    server.on('request', () => {
      if (++requests === 10_000) read.resolve()
    })
    const port = await listening(t, server)
    const bytes = 'GET /app/wait HTTP/1.1\r\nHost: a\r\n\r\n'
    const received = send(port, bytes.repeat(9_999) + withClose(bytes))
    await read.promise
    released.resolve()
    assert.equal((await received).match(/ 200 OK/g)?.length, 10_000)
  })
})
