import assert from 'node:assert/strict'
import { once } from 'node:events'
import { nextTick } from 'node:process'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { type BodySource, failedBody, readBody, streamBody, tooLarge } from '../../lib/http/body.ts'
import { garbageCollector } from '../support/gc.ts'
import { incoming, text } from '../support/streams.ts'

const tooLargeFor = (maxBytes: number) => ({
  name: 'HttpError',
  status: 413,
  message: `The body is larger than ${maxBytes} bytes`,
})
// As node:http ends the message of a client that leaves.
const aborted = Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
const gone = { name: 'ClientGoneError', status: 400, message: 'The client has gone away' }

async function reading(source: BodySource, maxBytes: number): Promise<Buffer> {
  return readBody(source, maxBytes)
}

describe('readBody()', () => {
  it('reads text and bytes up to the limit, counted in bytes', async () => {
    assert.equal(String(await reading('héé', 5)), 'héé')
    assert.deepEqual(await reading(Uint8Array.of(0, 255), 2), Buffer.of(0, 255))
    assert.equal((await reading('', 1)).length, 0)
    await assert.rejects(reading('hééé', 6), tooLargeFor(6))
    await assert.rejects(reading(new Uint8Array(3), 2), tooLargeFor(2))
  })

  it('reads a stream of no, one and several chunks', async () => {
    for (const chunks of [[], ['abc'], ['a', 'b', 'c']]) {
      const bytes = await reading(Readable.from(chunks.map(Buffer.from)), 3)
      assert.equal(String(bytes), chunks.join(''))
    }
  })

  it('rejects a stream at the first chunk past the limit, without waiting for its end', async (t) => {
    const stream = incoming(t)
    const read = reading(stream, 8)
    stream.write('12345678')
    stream.write('9')
    await assert.rejects(read, tooLargeFor(8))
    assert.equal(stream.writableEnded, false)
    assert.deepEqual(
      ['data', 'end', 'close'].map((event) => stream.listenerCount(event)),
      [0, 0, 0],
    )
  })

  it('throws a 400 if the client leaves or the stream closes before its end', async (t) => {
    for (const error of [aborted, undefined]) {
      const stream = incoming(t)
      const read = reading(stream, 8)
      stream.write('123')
      stream.destroy(error)
      await assert.rejects(read, gone)
      await assert.rejects(reading(stream, 8), gone)
    }
  })

  it('throws any other error of the stream', async (t) => {
    const error = new Error('not in gzip format')
    const stream = incoming(t)
    const read = reading(stream, 8)
    stream.destroy(error)
    await assert.rejects(read, error)
    await assert.rejects(reading(stream, 8), error)
    await assert.rejects(text(streamBody(stream, 8)), error)
  })

  it('rejects a second read of a body', async () => {
    const stream = Readable.from([Buffer.from('abc')])
    assert.equal(String(await reading(stream, 3)), 'abc')
    await assert.rejects(reading(stream, 3), {
      message: 'The body has already been read: keep the result of the first read',
    })
  })

  it('leaves the bytes past the limit unread', async (t) => {
    const stream = incoming(t)
    const read = reading(stream, 2)
    stream.write('123')
    await assert.rejects(read, tooLargeFor(2))
    assert.deepEqual([stream.isPaused(), stream.destroyed], [true, false])
    stream.write('4567')
    await new Promise(setImmediate)
    assert.equal(stream.readableLength, 4)
  })

  it('returns the bytes of chunks of every size in their order', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251))
    for (const sizes of [[1, 2, 3], [70_000, 1, 65_536], [65_536], [300_000], [1, 299_999]]) {
      const chunks: Buffer[] = []
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const size = sizes[i % sizes.length] ?? 1
        chunks.push(bytes.subarray(at, at + size))
        at += size
      }
      const read = await reading(Readable.from(chunks, { objectMode: false }), bytes.length)
      assert.equal(read.equals(bytes), true, String(sizes))
    }
  })

  it('leaves no listener with the chunks on a stream that it has read', async () => {
    const stream = Readable.from(['a', 'b'], { objectMode: false })
    assert.equal(String(await reading(stream, 2)), 'ab')
    assert.deepEqual(
      ['data', 'end', 'close'].map((name) => stream.listenerCount(name)),
      [0, 0, 0],
    )
  })

  it('keeps at most twice the body and 64 KiB of chunks of one byte', async () => {
    const collectGarbage = garbageCollector()
    const used = (): number => {
      collectGarbage()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    const [length, before] = [1_048_576, used()]
    let most = 0
    const chunks = function* (): Generator<Buffer> {
      for (let i = 0; i < length; i++) yield Buffer.alloc(1)
      most = used() - before
    }
    await reading(Readable.from(chunks(), { objectMode: false }), length)
    assert.ok(most < 2 * length + 65_536, `${most} bytes`)
  })
})

describe('streamBody()', () => {
  it('joins small chunks that arrive together, and keeps their order', async () => {
    const source = new Readable({ read() {} })
    const read: number[] = []
    const body = streamBody(source, 100_000)
    const parts = [...Array.from({ length: 3_000 }, () => 'a'), 'b'.repeat(8_000), 'c', 'd']
    let received = ''
    body.on('data', (chunk) => {
      read.push(chunk.length)
      received += chunk
    })
    // As node:http does, which runs the ticks after each chunk of one read.
    for (const part of parts) {
      source.push(part)
      await new Promise<void>((resolve) => nextTick(resolve))
    }
    source.push(null)
    await once(body, 'end')
    assert.equal(received, parts.join(''))
    assert.ok(read.length < 40, `${read.length} chunks`)
    // Each small chunk that waits takes 1 kB.
    assert.deepEqual(read.slice(0, 23), new Array(23).fill(128))
  })

  it('does not pause its source after it has been destroyed: the server reads the rest', async () => {
    const source = new Readable({ read() {} })
    const body = streamBody(source, 10)
    let received = 0
    body.on('data', () => received++)
    source.push('a')
    await once(source, 'data')
    body.destroy()
    source.resume()
    await new Promise(setImmediate)
    assert.deepEqual([received, source.isPaused()], [0, false])
  })

  it('may be destroyed with an error that has no listener', async () => {
    const text = streamBody('abc', 10).destroy(new Error('x'))
    const stream = streamBody(Readable.from(['abc']), 10).destroy(new Error('x'))
    await new Promise(setImmediate)
    assert.ok(text.destroyed && stream.destroyed)
  })

  it('returns the bytes of every kind of source, up to the limit', async () => {
    const chunks = ['ab', 'c'].map(Buffer.from)
    for (const source of ['abc', Buffer.from('abc'), Readable.from(chunks)]) {
      assert.equal(await text(streamBody(source, 3)), 'abc')
    }
    assert.equal(await text(streamBody('', 3)), '')
  })

  it('returns the bytes within the limit, then fails at the first chunk past it', async (t) => {
    const source = incoming(t)
    const body = streamBody(source, 4)
    source.write('1234')
    const [chunk] = await once(body, 'data')
    assert.equal(String(chunk), '1234')
    const failed = once(body, 'error')
    source.write('5')
    const [error] = await failed
    assert.deepEqual(
      [error.name, error.status, error.message],
      ['HttpError', 413, 'The body is larger than 4 bytes'],
    )
  })

  it('rejects text and bytes past the limit', async () => {
    await assert.rejects(text(streamBody('12345', 4)), tooLargeFor(4))
    await assert.rejects(text(streamBody(new Uint8Array(5), 4)), tooLargeFor(4))
  })

  it('fails with a 400 if the client leaves or its source closes before its end', async (t) => {
    for (const error of [aborted, undefined]) {
      const source = incoming(t)
      const read = text(streamBody(source, 4))
      source.write('123')
      source.destroy(error)
      await assert.rejects(read, gone)
      await assert.rejects(text(streamBody(source, 4)), gone)
    }
  })

  it('ends immediately if its source has been read', async () => {
    const source = Readable.from([Buffer.from('abc')])
    await readBody(source, 3)
    assert.equal(await text(streamBody(source, 3)), '')
  })

  it('pauses its source at the limit, and without a reader', async (t) => {
    const source = incoming(t)
    const listeners = (): number[] =>
      ['data', 'end', 'error', 'close'].map((event) => source.listenerCount(event))
    const before = listeners()
    const body = streamBody(source, 4)
    assert.equal(source.isPaused(), true)
    const failed = once(body.resume(), 'error')
    source.write('12345')
    await failed
    assert.deepEqual([source.isPaused(), source.destroyed], [true, false])
    // A listener for `error` stays: node:http emits an error some ticks after it has looked for one.
    assert.deepEqual(listeners(), before.with(2, (before[2] ?? 0) + 1))
    source.write('6789')
    await new Promise(setImmediate)
    assert.equal(source.readableLength, 4)

    const slow = incoming(t)
    const unread = streamBody(slow, 1_000_000)
    unread.read(0)
    slow.write(Buffer.alloc(unread.readableHighWaterMark))
    await new Promise(setImmediate)
    assert.equal(slow.isPaused(), true)
  })
})

describe('failedBody()', () => {
  it('fails when it is read, not before', async () => {
    const body = failedBody(tooLarge(4))
    await new Promise(setImmediate)
    assert.equal(body.destroyed, false)
    await assert.rejects(text(body), tooLargeFor(4))
    // Without a listener, the error must not end the process.
    await new Promise((resolve) => failedBody(tooLarge(4)).resume().once('close', resolve))
  })
})

describe('tooLarge()', () => {
  it('returns a 413', () => {
    const { name, status, message } = tooLarge(10)
    assert.deepEqual({ name, status, message }, tooLargeFor(10))
  })
})
