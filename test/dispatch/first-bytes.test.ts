import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { waitForFirstBytes } from '../../lib/dispatch/first-bytes.ts'
import { incoming, text } from '../support/streams.ts'

describe('waitForFirstBytes()', () => {
  const LONG_MS = 60_000

  it('waits for bytes, and leaves them in the stream', async (t) => {
    const stream = incoming(t)
    const first = waitForFirstBytes(stream, LONG_MS)
    stream.write('first')
    await first
    stream.end(', last')
    assert.equal(await text(stream), 'first, last')
  })

  it('does not wait if there are bytes already', async () => {
    const stream = new Readable({ read() {} })
    stream.push('here')
    await waitForFirstBytes(stream, LONG_MS)
    stream.push(null)
    assert.equal(await text(stream), 'here')
  })

  it('ends with an empty stream', async () => {
    const stream = Readable.from([])
    await waitForFirstBytes(stream, LONG_MS)
    assert.equal(await text(stream), '')
  })

  it('does not delay a stream without early bytes past its timeout', async (t) => {
    const stream = incoming(t)
    await waitForFirstBytes(stream, 30)
    assert.equal(stream.destroyed, false)
    stream.end('later')
    assert.equal(await text(stream), 'later')
  })

  it('fails with the error of the stream, before or after the call', async (t) => {
    const early = incoming(t).destroy(new Error('no such file'))
    await assert.rejects(once(early, 'close'))
    await assert.rejects(waitForFirstBytes(early, LONG_MS), { message: 'no such file' })

    const late = incoming(t)
    const first = waitForFirstBytes(late, LONG_MS)
    late.destroy(new Error('no such file'))
    await assert.rejects(first, { message: 'no such file' })
  })

  it('fails if the stream is closed without an error', async (t) => {
    const early = incoming(t).destroy()
    await assert.rejects(waitForFirstBytes(early, LONG_MS), {
      message: 'The body was closed before it was sent',
    })

    const late = incoming(t)
    const first = waitForFirstBytes(late, LONG_MS)
    late.destroy()
    await assert.rejects(first, { message: 'The body was closed before it was sent' })
  })

  it('leaves no listener behind', async (t) => {
    const stream = incoming(t)
    const events = ['readable', 'error', 'close']
    const before = events.map((event) => stream.listenerCount(event))
    await waitForFirstBytes(stream, 1)
    assert.deepEqual(
      events.map((event) => stream.listenerCount(event)),
      before,
    )
  })
})
