import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { streamBody } from '../../lib/http/body.ts'
import { ClientGoneError } from '../../lib/index.ts'
import { LINGER_MS, linger } from '../../lib/server/close-slowly.ts'
import { Connection } from '../../lib/server/connection.ts'
import { deferred } from '../support/deferred.ts'
import { settled } from '../support/wire.ts'

describe('linger()', () => {
  for (const event of ['end', 'close']) {
    it(`calls back when the message emits "${event}", and removes its listeners`, async () => {
      const message = new PassThrough()
      const done = deferred()
      linger(asMessage(message), new Connection(new Socket()), done.resolve)
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
    linger(asMessage(message), new Connection(new Socket()), done.resolve)
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
    linger(asMessage(message), new Connection(new Socket()), done.resolve)
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
    linger(asMessage(message), new Connection(new Socket()), () => {
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
    linger(asMessage(message), new Connection(new Socket()), () => {
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
    linger(asMessage(message), new Connection(new Socket()), done.resolve)
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

function asMessage(stream: PassThrough): IncomingMessage {
  return stream as unknown as IncomingMessage
}
