import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import {
  type BodySource,
  failedBody,
  firstBytes,
  READ_ALREADY,
  readBody,
  streamBody,
  tooLarge,
} from '../../lib/http/body.ts'

const tooLargeFor = (maxBytes: number) => ({
  name: 'HttpError',
  status: 413,
  message: `The body is larger than ${maxBytes} bytes`,
})
const gone = { name: 'ClientGoneError', status: 400, message: 'The client has gone away' }

function incoming(t: TestContext): PassThrough {
  const stream = new PassThrough()
  t.after(() => stream.on('error', () => {}).destroy())
  return stream
}

async function text(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

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

  it('refuses a stream at the first chunk past the limit, and waits for no end', async (t) => {
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

  it('is a 400 where the stream fails, or is closed before its end', async (t) => {
    for (const error of [new Error('reset'), undefined]) {
      const stream = incoming(t)
      const read = reading(stream, 8)
      stream.write('123')
      stream.destroy(error)
      await assert.rejects(read, gone)
      await assert.rejects(reading(stream, 8), gone)
    }
  })

  it('refuses to read a body twice', async () => {
    const stream = Readable.from([Buffer.from('abc')])
    assert.equal(String(await reading(stream, 3)), 'abc')
    await assert.rejects(reading(stream, 3), { message: READ_ALREADY })
  })

  it('leaves unread what lies past the limit', async (t) => {
    const stream = incoming(t)
    const read = reading(stream, 2)
    stream.write('123')
    await assert.rejects(read, tooLargeFor(2))
    assert.deepEqual([stream.isPaused(), stream.destroyed], [true, false])
    stream.write('4567')
    await new Promise(setImmediate)
    assert.equal(stream.readableLength, 4)
  })
})

describe('streamBody()', () => {
  it('may be destroyed with an error that nobody listens for', async () => {
    const text = streamBody('abc', 10).destroy(new Error('x'))
    const stream = streamBody(Readable.from(['abc']), 10).destroy(new Error('x'))
    await new Promise(setImmediate)
    assert.ok(text.destroyed && stream.destroyed)
  })

  it('gives the bytes of every kind of source, up to the limit', async () => {
    const chunks = ['ab', 'c'].map(Buffer.from)
    for (const source of ['abc', Buffer.from('abc'), Readable.from(chunks)]) {
      assert.equal(await text(streamBody(source, 3)), 'abc')
    }
    assert.equal(await text(streamBody('', 3)), '')
  })

  it('gives what is within the limit, then fails at the first chunk past it', async (t) => {
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

  it('refuses text and bytes past the limit', async () => {
    await assert.rejects(text(streamBody('12345', 4)), tooLargeFor(4))
    await assert.rejects(text(streamBody(new Uint8Array(5), 4)), tooLargeFor(4))
  })

  it('is a 400 where its source fails, or is closed before its end', async (t) => {
    for (const error of [new Error('reset'), undefined]) {
      const source = incoming(t)
      const read = text(streamBody(source, 4))
      source.write('123')
      source.destroy(error)
      await assert.rejects(read, gone)
      await assert.rejects(text(streamBody(source, 4)), gone)
    }
  })

  it('ends at once where its source has been read', async () => {
    const source = Readable.from([Buffer.from('abc')])
    await readBody(source, 3)
    assert.equal(await text(streamBody(source, 3)), '')
  })

  it('pauses its source at the limit, and while nobody reads', async (t) => {
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
    assert.deepEqual(listeners(), before)
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
  it('fails when it is read, and not before', async () => {
    const body = failedBody(tooLarge(4))
    await new Promise(setImmediate)
    assert.equal(body.destroyed, false)
    await assert.rejects(text(body), tooLargeFor(4))
    // Without a listener of anybody's, the error must not end the process.
    await new Promise((resolve) => failedBody(tooLarge(4)).resume().once('close', resolve))
  })
})

describe('tooLarge()', () => {
  it('is a 413', () => {
    const { name, status, message } = tooLarge(10)
    assert.deepEqual({ name, status, message }, tooLargeFor(10))
  })
})

describe('firstBytes()', () => {
  const LONG_MS = 60_000

  it('waits for bytes, and leaves them in the stream', async (t) => {
    const stream = incoming(t)
    const first = firstBytes(stream, LONG_MS)
    stream.write('first')
    await first
    stream.end(', last')
    assert.equal(await text(stream), 'first, last')
  })

  it('does not wait where there are bytes already', async () => {
    const stream = new Readable({ read() {} })
    stream.push('here')
    await firstBytes(stream, LONG_MS)
    stream.push(null)
    assert.equal(await text(stream), 'here')
  })

  it('ends with a stream that is empty', async () => {
    const stream = Readable.from([])
    await firstBytes(stream, LONG_MS)
    assert.equal(await text(stream), '')
  })

  it('does not hold back a stream that has nothing to say yet', async (t) => {
    const stream = incoming(t)
    await firstBytes(stream, 30)
    assert.equal(stream.destroyed, false)
    stream.end('later')
    assert.equal(await text(stream), 'later')
  })

  it('fails as the stream fails, be it before or after', async (t) => {
    const early = incoming(t).destroy(new Error('no such file'))
    await assert.rejects(once(early, 'close'))
    await assert.rejects(firstBytes(early, LONG_MS), { message: 'no such file' })

    const late = incoming(t)
    const first = firstBytes(late, LONG_MS)
    late.destroy(new Error('no such file'))
    await assert.rejects(first, { message: 'no such file' })
  })

  it('fails where the stream is closed without a word', async (t) => {
    const early = incoming(t).destroy()
    await assert.rejects(firstBytes(early, LONG_MS), { message: 'The body was closed unsent' })

    const late = incoming(t)
    const first = firstBytes(late, LONG_MS)
    late.destroy()
    await assert.rejects(first, { message: 'The body was closed unsent' })
  })

  it('leaves no listener behind', async (t) => {
    const stream = incoming(t)
    const events = ['readable', 'error', 'close']
    const before = events.map((event) => stream.listenerCount(event))
    await firstBytes(stream, 1)
    assert.deepEqual(
      events.map((event) => stream.listenerCount(event)),
      before,
    )
  })
})
