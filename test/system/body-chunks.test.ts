import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web'
import { describe, it } from 'node:test'
import {
  type Action,
  type BodyChunks,
  HttpRequest,
  HttpResponse,
  type ResponseBody,
} from '../../lib/index.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'
import { bytesOf, exchange, send } from '../support/http.ts'
import { listenWithActions } from '../support/wire.ts'

// Each kind of chunked body. It calls `ended` when the rest of it is not needed.
const kinds = {
  'an async generator': (chunks: Iterable<unknown>, ended: () => void) =>
    (async function* () {
      try {
        for (const chunk of chunks) yield chunk
      } finally {
        ended()
      }
    })(),
  'an async iterable': (chunks: Iterable<unknown>, ended: () => void) => ({
    [Symbol.asyncIterator]() {
      const values = chunks[Symbol.iterator]()
      return {
        next: async () => values.next(),
        return: async () => {
          ended()
          return { done: true, value: undefined }
        },
      }
    },
  }),
  'a web stream': (chunks: Iterable<unknown>, ended: () => void) => {
    const values = chunks[Symbol.iterator]()
    return new ReadableStream({
      pull(controller) {
        const { done, value } = values.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: ended,
    })
  },
} as const

function* endless(): Iterable<string> {
  for (;;) yield 'x'.repeat(999)
}

for (const [kind, make] of Object.entries(kinds)) {
  const body = (chunks: Iterable<unknown>, ended: () => void = () => {}): BodyChunks =>
    make(chunks, ended) as BodyChunks

  describe(`The body of a response that is ${kind}`, () => {
    it('is sent chunk by chunk, text as UTF-8', async (t) => {
      const { port } = await listenWithActions(t, {
        run: (_, response) => {
          response.body = body(['grün ', Buffer.from('und '), new Uint8Array([98, 108, 97, 117])])
        },
      })
      const { rawHeaders, body: sent } = await exchange(port, { target: '/app/run' })
      assert.match(rawHeaders, /Transfer-Encoding: chunked/)
      assert.equal(unchunked(sent), 'grün und blau')
    })

    it('sends no more than its Content-Length', async (t) => {
      const { port, reports } = await listenWithActions(t, {
        run: (request, response) => {
          response.headers.set('Content-Length', request.param('length') ?? '')
          response.body = body(['ab', 'cd'])
        },
      })
      assert.equal((await exchange(port, { target: '/app/run/length/4' })).body, 'abcd')
      assert.ok((await exchange(port, { target: '/app/run/length/3' })).body.length <= 3)
      assert.equal(reports.length, 1)
    })

    it('becomes a response of the error controller if its first chunk is neither text nor bytes', async (t) => {
      const { port, reports } = await listenWithActions(t, {
        run: (_, response) => {
          response.body = body([{ not: 'bytes' }])
        },
      })
      assert.equal((await exchange(port, { target: '/app/run' })).status, 500)
      assert.deepEqual(
        reports.map(({ name }) => name),
        ['TypeError'],
      )
    })

    it('is ended if the client leaves', async (t) => {
      const ended = deferred()
      const { port } = await listenWithActions(t, {
        run: (_, response) => {
          response.body = body(endless(), ended.resolve)
        },
      })
      const client = connect(port, '127.0.0.1').on('error', () => {})
      client.write(bytesOf({ target: '/app/run' }))
      await once(client, 'data')
      client.destroy()
      await ended.promise
    })

    it('is ended if it is not sent: for HEAD, a 204, another body, or an error', async (t) => {
      let made = 0
      let closed = 0
      const { port } = await listenWithActions(t, {
        run: (request, response) => {
          made++
          // A generator that has not started has nothing to end.
          const iterable = body(['x'])
          response.body = iterable
          const stream = response.body as Readable
          stream.once('close', () => closed++)
          const { method } = request
          if (request.query.has('empty')) response.status = 204
          if (request.query.has('other')) response.text('other')
          if (request.query.has('error')) throw new Error('no')
          assert.equal(stream.destroyed, request.query.has('other'), method)
        },
      })
      for (const query of ['empty', 'other', 'error']) {
        await exchange(port, { target: `/app/run?${query}` })
      }
      await exchange(port, { method: 'HEAD', target: '/app/run' })
      while (closed < 4) await new Promise(setImmediate)
      assert.deepEqual([made, closed], [4, 4])
    })

    it('may be set twice, and read back', async () => {
      const response = new HttpResponse()
      const given = body(['once'])
      response.body = given
      const stream = response.body
      assert.ok(stream instanceof Readable)
      response.body = given
      response.body = response.body as ResponseBody
      assert.equal(response.body, stream)
      assert.equal(stream.destroyed, false)
      assert.equal(await text(stream), 'once')
    })
  })

  describe(`The body of a request that is ${kind}`, () => {
    it('is read like any other: as a form, and as a stream', async () => {
      const seen: unknown[] = []
      const run: Action = async (request) => {
        seen.push(String(request.form), await text(request.body))
      }
      const front = createFront({ app: { run } })
      const target = '/app/run'
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const form = body(['a=1', '&b=2'])
      await front.handle(new HttpRequest({ method: 'POST', target, headers, body: form }))
      await front.handle(new HttpRequest({ method: 'PUT', target, body: body(['a', 'b']) }))
      assert.deepEqual(seen, ['a=1&b=2', 'a=1&b=2', '', 'ab'])
    })
  })
}

describe('The body of a response', () => {
  it('cancels a web stream with a pending read if the client leaves', async (t) => {
    const pending = deferred()
    const cancelled = deferred<unknown>()
    const { port } = await listenWithActions(t, {
      run: (_, response) => {
        const chunks = ['first']
        const source = {
          pull(controller: ReadableStreamDefaultController) {
            const chunk = chunks.pop()
            if (chunk !== undefined) return controller.enqueue(chunk)
            pending.resolve()
            return new Promise<void>(() => {})
          },
          cancel: cancelled.resolve,
        }
        // Without a queue: each pull is then a read of the response.
        response.body = new ReadableStream(source, { highWaterMark: 0 })
      },
    })
    const client = connect(port, '127.0.0.1').on('error', () => {})
    client.write(bytesOf({ target: '/app/run' }))
    await once(client, 'data')
    await pending.promise
    client.destroy()
    await cancelled.promise
  })

  it('becomes a response of the error controller if an iterable fails before its first byte', async (t) => {
    const { port } = await listenWithActions(t, {
      run: (_, response) => {
        // biome-ignore lint/correctness/useYield: it fails before its first chunk
        response.body = (async function* () {
          throw new Error('no such row')
        })()
      },
    })
    assert.equal((await exchange(port, { target: '/app/run' })).status, 500)
  })

  it('breaks off if an iterable fails later, with a report', async (t) => {
    const { port, reports } = await listenWithActions(t, {
      run: (_, response) => {
        response.body = (async function* () {
          yield 'first'
          throw new RangeError('no more')
        })()
      },
    })
    const raw = await send(port, bytesOf({ target: '/app/run' }))
    assert.match(raw, /200 OK.*first/s)
    assert.doesNotMatch(raw, /\r\n0\r\n\r\n$/)
    assert.deepEqual(
      reports.map(({ name }) => name),
      ['RangeError'],
    )
  })

  it('rejects a web stream that is locked to a reader', () => {
    const stream = new ReadableStream()
    stream.getReader()
    const response = new HttpResponse()
    assert.throws(() => {
      response.body = stream
    }, TypeError)
    assert.equal(response.body, undefined)
  })

  it('rejects lists and other synchronous iterables', () => {
    const response = new HttpResponse()
    const given: unknown[] = [
      ['a'],
      new Set(['a']),
      new Map(),
      'a'.matchAll(/a/g),
      (function* () {})(),
    ]
    for (const each of given) {
      assert.throws(() => {
        response.body = each as ResponseBody
      }, TypeError)
    }
    response.body = 'text'
    assert.equal(response.body, 'text')
  })
})

// Joins the chunks: their sizes may differ from those that were written.
function unchunked(sent: string): string {
  assert.match(sent, /\r\n0\r\n\r\n$/)
  return Buffer.from(sent.replace(/[\da-f]+\r\n(.*?)\r\n/gs, '$1'), 'latin1')
    .toString()
    .trim()
}

async function text(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}
