import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { LINGER_MS } from '../../lib/server/close-slowly.ts'
import { Connection } from '../../lib/server/connection.ts'
import { linger } from '../../lib/server/linger.ts'
import { deferred } from '../support/deferred.ts'

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

  it('reads on behind a reader that the action has left, and that pauses the message', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const message = new PassThrough()
    const done = deferred()
    message.on('data', () => message.pause())
    linger(asMessage(message), new Connection(new Socket()), done.resolve)
    message.write('one')
    await new Promise(setImmediate)
    message.end('two')
    await done.promise
    assert.equal(message.listenerCount('pause'), 0)
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
})

function asMessage(stream: PassThrough): IncomingMessage {
  return stream as unknown as IncomingMessage
}
