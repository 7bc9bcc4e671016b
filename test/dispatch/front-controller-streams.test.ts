import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { HttpRequest, type HttpResponse } from '../../lib/index.ts'
import {
  assertFixed,
  createWatchedFront,
  expectError,
  fail,
  fillIn,
  handleWith,
} from '../support/loop.ts'

async function* later<T>(chunk: T): AsyncGenerator<T> {
  await new Promise(setImmediate)
  yield chunk
}

describe('FrontController.handle() with a stream as the body', () => {
  it('sends a 500 through error/error when the stream fails before its first byte', async () => {
    const disk = new Error('disk')
    const streams: (() => Readable)[] = [
      () =>
        new Readable({
          read() {
            this.destroy(disk)
          },
        }),
      () => new Readable({ construct: (done) => setImmediate(done, disk) }),
      () => Readable.from({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(disk) }) }),
    ]
    for (const stream of streams) {
      const list = (_: HttpRequest, response: HttpResponse): void => {
        fillIn(response)
        response.body = stream()
      }
      const [run, response] = await expectError({ list }, '/news/list')
      assert.equal(run.exception, disk)
      assert.equal(response.status, 500)
    }
  })

  it('sends a 500 through error/error when its first chunk is neither text nor bytes', async () => {
    const chunks = [{ id: 1 }, 1, true, Symbol('a'), ['a'], new ArrayBuffer(1), new Uint16Array(1)]
    const streams = chunks.flatMap((chunk): (() => Readable)[] => [
      () => Readable.from([chunk, 'text']),
      () => new PassThrough({ objectMode: true }).end(chunk),
      () => Readable.from(later(chunk)),
    ])
    for (const stream of streams) {
      const body = stream()
      const list = (_: HttpRequest, response: HttpResponse): void => {
        fillIn(response)
        response.body = body
      }
      const [run, response] = await expectError({ list }, '/news/list')
      assert.ok(run.exception instanceof TypeError)
      assert.match(run.exception.message, /^Expected a chunk of the body to be a string or bytes/)
      assert.equal(response.status, 500)
      assert.equal(body.destroyed, true)
    }
  })

  it('leaves the first chunk of an object stream in the stream', async () => {
    for (const [chunks, whole] of [
      [['a', Buffer.from('b'), 'c'], 'abc'],
      [[new Uint8Array([97])], '97'],
      [['', 'b'], 'b'],
      [['a'], 'a'],
    ] as const) {
      const list = (_: HttpRequest, response: HttpResponse): void => {
        response.body = Readable.from(chunks)
      }
      const { front } = createWatchedFront({ list })
      const { body } = await front.handle(new HttpRequest({ target: '/news/list' }))
      assert.ok(body instanceof Readable)
      assert.equal((await body.toArray()).map(String).join(''), whole)
    }
  })

  it('sends a 500 through error/error when the stream is already destroyed', async () => {
    const list = (_: HttpRequest, response: HttpResponse): void => {
      response.body = new Readable({ read() {} }).destroy()
    }
    const [run] = await expectError({ list }, '/news/list')
    assert.equal(run.type, 'EXCEPTION_OTHER')
  })

  it('sends the fixed 500 when the stream of the error action fails', async () => {
    const error = (_: HttpRequest, response: HttpResponse): void => {
      response.body = new Readable({
        read() {
          this.destroy(new Error('disk'))
        },
      })
    }
    const response = await handleWith({ list: fail }, { error })
    assertFixed(response)
    assert.deepEqual(
      response.exceptions.map(({ message }) => message),
      ['raised', 'disk'],
    )
  })

  it('does not read the stream itself', async () => {
    const list = (_: HttpRequest, response: HttpResponse): void => {
      response.body = Readable.from([Buffer.from('a'), Buffer.from('b')], { objectMode: false })
    }
    const { front } = createWatchedFront({ list })
    const { body } = await front.handle(new HttpRequest({ target: '/news/list' }))
    assert.equal(Buffer.concat(await (body as Readable).toArray()).toString(), 'ab')
  })
})
