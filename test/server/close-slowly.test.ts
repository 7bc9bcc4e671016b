import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, Socket } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { streamBody } from '../../lib/http/body.ts'
import { ClientGoneError, createRequestListener, HttpResponse } from '../../lib/index.ts'
import { LINGER_MS, linger } from '../../lib/server/close-slowly.ts'
import { Connection } from '../../lib/server/connection.ts'
import { deferred } from '../support/deferred.ts'
import { listening } from '../support/http.ts'
import { settled } from '../support/wire.ts'

describe('linger()', () => {
  for (const event of ['end', 'close']) {
    it(`calls back when the message emits "${event}", and removes its listeners`, async () => {
      const message = new PassThrough()
      const done = deferred()
      linger(
        { message: asMessage(message), connection: new Connection(new Socket()) },
        done.resolve,
      )
      message.write('rest')
      if (event === 'end') message.end()
      else message.destroy()
      await done.promise
      assert.equal(message.listenerCount('data'), 0)
      assert.equal(message.listenerCount(event), 0)
    })
  }

  it('lets a reader fail that the action has left, and reads on', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const message = new PassThrough({ highWaterMark: 1 })
    const body = streamBody(message, 1_000_000)
    const failed = once(body, 'error')
    const done = deferred()
    linger({ message: asMessage(message), connection: new Connection(new Socket()) }, done.resolve)
    message.write(Buffer.alloc(100_000))
    await settled(() => body.readableLength)
    const held = body.readableLength
    message.write(Buffer.alloc(100_000))
    await settled(() => body.readableLength)
    assert.equal(body.readableLength, held)
    t.mock.timers.tick(100)
    assert.ok((await failed)[0] instanceof ClientGoneError)
    message.end()
    await done.promise
    assert.equal(message.listenerCount('pause'), 0)
  })

  it('gives no bytes to a reader that has failed', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const message = new PassThrough({ highWaterMark: 1 })
    const reader = Readable.toWeb(message).getReader()
    message.write(Buffer.alloc(100_000))
    await reader.read()
    const done = deferred()
    linger({ message: asMessage(message), connection: new Connection(new Socket()) }, done.resolve)
    message.write(Buffer.alloc(100_000))
    await settled(() => message.readableLength)
    t.mock.timers.tick(100)
    await assert.rejects(
      reader.read().then(() => reader.read()),
      ClientGoneError,
    )
    message.end('last')
    await done.promise
  })

  it('calls back after 16 MiB', async () => {
    const message = new PassThrough()
    const done = deferred()
    let isDone = false
    linger({ message: asMessage(message), connection: new Connection(new Socket()) }, () => {
      isDone = true
      done.resolve()
    })
    message.write(Buffer.alloc(16_777_216))
    await new Promise(setImmediate)
    assert.equal(isDone, false)
    message.write('a')
    await done.promise
    message.destroy()
  })

  it('calls back after a second', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const message = new PassThrough()
    let isDone = false
    linger({ message: asMessage(message), connection: new Connection(new Socket()) }, () => {
      isDone = true
    })
    t.mock.timers.tick(LINGER_MS - 1)
    assert.equal(isDone, false)
    t.mock.timers.tick(1)
    assert.equal(isDone, true)
  })

  it('leaves the message to a reader that pauses it for less than a tenth of a second', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const message = new PassThrough({ highWaterMark: 1 })
    const body = streamBody(message, 1_000_000)
    const done = deferred()
    linger({ message: asMessage(message), connection: new Connection(new Socket()) }, done.resolve)
    message.write(Buffer.alloc(100_000))
    await settled(() => body.readableLength)
    t.mock.timers.tick(99)
    const bytes = buffer(body)
    message.end('last')
    t.mock.timers.tick(99)
    assert.equal((await bytes).length, 100_004)
    await done.promise
  })
})

describe('The bytes behind the last request of a connection', () => {
  const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
  const firsts: Readonly<Record<string, string>> = {
    'an upgrade': 'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\n\r\n',
    'a rejected request': `${get}GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
  }
  for (const [kind, first] of Object.entries(firsts)) {
    it(`are not read until its response has been sent: ${kind}`, async (t) => {
      let read = 0
      const { port, requests, released } = await listenWithDelay(t, () => read++)
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      t.after(() => socket.destroy())
      const received = text(socket)
      const sent = first.split('GET').length - 1
      socket.write(first)
      await requests(sent)
      socket.write(get.repeat(40_000))
      await settled(() => read)
      // The parser cannot be paused within the bytes that one read has returned.
      assert.ok(read <= sent + Math.ceil(65_536 / get.length), `${read} have been read`)
      released.resolve()
      assert.equal((await received).match(/HTTP\/1\.1 \d+/g)?.length, sent)
    })
  }

  it('are left to a listener of the server for `upgrade`, whose connection then ends', async (t) => {
    const { server, port, released } = await listenWithDelay(t)
    server.on('upgrade', (_, stream) =>
      stream.on('error', () => {}).end('HTTP/1.1 401 Unauthorized\r\n\r\n'),
    )
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    t.after(() => socket.destroy())
    const connected = once(server, 'connection')
    socket.write(
      `${firsts['an upgrade']}${get}${get.replace('\r\n\r\n', '\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')}`,
    )
    const [served] = (await connected) as [Socket]
    await once(server, 'upgrade')
    socket.end()
    await once(served, 'close')
    released.resolve()
  })
})

/**
 * Serves an action that waits until it is released.
 *
 * @returns The port, a function that waits until this number of requests has been parsed, and the release.
 */
async function listenWithDelay(t: TestContext, onRequest = () => {}) {
  const released = deferred()
  const handler = {
    async handle() {
      await released.promise
      return new HttpResponse()
    },
  }
  let parsed = 0
  const server = createServer(createRequestListener(handler))
  server.on('request', () => {
    parsed++
    onRequest()
  })
  const port = await listening(t, server)
  const requests = async (count: number): Promise<void> => {
    while (parsed < count) await once(server, 'request')
  }
  return { server, port, requests, released }
}

function asMessage(stream: PassThrough): IncomingMessage {
  return stream as unknown as IncomingMessage
}
