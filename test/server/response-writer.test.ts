import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Action,
  ClientGoneError,
  createRequestListener,
  type ErrorReport,
  type HttpRequest,
  type HttpResponse,
} from '../../lib/index.ts'
import { collectReports } from '../support/collectors.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'
import { bytesOf, exchange, listening, parse, send } from '../support/http.ts'
import { keepAliveBytesOf, listenWithActions, serveActions, settled } from '../support/wire.ts'

// The chunk of length 0 at the end of a complete response.
const LAST_CHUNK = /\r\n0\r\n\r\n$/

describe('writeResponse()', () => {
  it('sends the same header fields for HEAD as for GET, and no body', async (t) => {
    const { port } = await listenWithActions(t, {
      text: (_, response) => response.text('grün'),
      stream: (_, response) => {
        response.body = Readable.from(['a', 'b'])
      },
      sized: (_, response) => {
        response.headers.set('Content-Length', 2)
        response.body = Readable.from(['a', 'b'])
      },
      nothing: () => {},
      gone: (_, response) => {
        response.status = 204
      },
      fails: () => {
        throw new Error('no')
      },
    })
    for (const action of ['text', 'stream', 'sized', 'nothing', 'gone', 'fails', 'nosuch']) {
      const target = `/app/${action}`
      const get = await exchange(port, { target })
      const head = await exchange(port, { method: 'HEAD', target })
      assert.equal(withoutDate(head.rawHeaders), withoutDate(get.rawHeaders), action)
      assert.equal(head.body, '', action)
    }
  })

  it('sends no body with the statuses 204, 205 and 304', async (t) => {
    const bodiless = (status: number): Action => {
      return (_, response) => {
        response.text('text')
        response.status = status
      }
    }
    const { port } = await listenWithActions(t, {
      none: bodiless(204),
      reset: bodiless(205),
      same: bodiless(304),
    })
    for (const [action, length] of [
      ['none', undefined],
      ['reset', '0'],
      ['same', undefined],
    ] as const) {
      const { headers, body } = await exchange(port, { target: `/app/${action}` })
      assert.deepEqual([headers['content-length'], body], [length, ''], action)
    }
  })

  it('sends no bytes that an action has transferred to another thread', async (t) => {
    const { port } = await listenWithActions(t, {
      moved(_, response) {
        const bytes = new Uint8Array(8)
        response.body = bytes
        structuredClone(bytes, { transfer: [bytes.buffer] })
      },
    })
    const { status, headers, body } = await exchange(port, { target: '/app/moved' })
    assert.deepEqual([status, headers['content-length'], body], [200, '0', ''])
  })

  it('counts bytes for Content-Length, not characters', async (t) => {
    const { port } = await listenWithActions(t, { text: (_, response) => response.text('grün') })
    const { headers, body } = await exchange(port, { target: '/app/text' })
    assert.equal(headers['content-length'], '5')
    assert.equal(Buffer.from(body, 'latin1').toString(), 'grün')
  })

  it('sends each value of a header on a line of its own', async (t) => {
    const { port } = await listenWithActions(t, {
      cookies(_, response) {
        response.headers.append('Set-Cookie', 'a=1').append('Set-Cookie', 'b=2')
      },
    })
    const { rawHeaders } = await exchange(port, { target: '/app/cookies' })
    assert.match(rawHeaders, /Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n/)
  })

  it('ignores the Content-Length of an action for a body that is no stream', async (t) => {
    const { port } = await listenWithActions(t, {
      lies(_, response) {
        response.text('four')
        response.headers.set('Content-Length', 2)
      },
    })
    const { rawHeaders, body } = await exchange(port, { target: '/app/lies' })
    assert.match(rawHeaders, /Content-Length: 4/)
    assert.doesNotMatch(rawHeaders, /Content-Length: 2/)
    assert.equal(body, 'four')
  })

  it('sends a whole rejection to a client that is still sending, and then closes', async (t) => {
    const { port } = await serveActions(t, {})
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk
    })
    const failed = once(socket, 'error').then(([error]) => Promise.reject(error))
    const closed = once(socket, 'close')
    failed.catch(() => {})
    const bytes = 4_000_000
    const type = 'Content-Type: application/x-www-form-urlencoded'
    socket.write(
      `POST /app/form HTTP/1.1\r\nHost: a\r\n${type}\r\nContent-Length: ${bytes}\r\n\r\n`,
    )
    for (let sent = 0; sent < bytes; sent += 100_000) {
      if (!socket.write('a'.repeat(100_000))) await Promise.race([once(socket, 'drain'), failed])
    }
    await Promise.race([closed, failed])
    const { status, headers } = parse(received)
    assert.deepEqual([status, headers.connection], [413, 'close'])
  })
})

describe('writeResponse() with a stream', () => {
  it('aborts the signal of a stream that is not sent, and lets its generator end', async (t) => {
    const bus = new EventEmitter()
    const waiting = (request: HttpRequest): Readable =>
      Readable.from(
        (async function* () {
          for (;;) yield String(await once(bus, 'news', { signal: request.signal }))
        })(),
      )
    const { port } = await listenWithActions(t, {
      news(request, response) {
        response.body = waiting(request)
      },
      unchanged(request, response) {
        response.status = 304
        response.body = waiting(request)
      },
      async fails(request, response) {
        const body = waiting(request)
        response.body = body
        body.read(0)
        while (bus.listenerCount('news') === 0) await new Promise(setImmediate)
        throw new Error('later')
      },
    })
    for (const [method, action] of [
      ['HEAD', 'news'],
      ['GET', 'unchanged'],
      ['GET', 'fails'],
    ] as const) {
      await exchange(port, { method, target: `/app/${action}` })
      assert.equal(bus.listenerCount('news'), 0, action)
    }
  })

  for (const error of [new Error('The database is gone'), undefined]) {
    it(`aborts the signal of a stream that is destroyed with ${error} before its first bytes`, async (t) => {
      const reasons: unknown[] = []
      const { port } = await listenWithActions(t, {
        poll({ signal }, response) {
          const body = new PassThrough()
          const timer = setInterval(() => body.destroy(error), 5)
          t.after(() => clearInterval(timer))
          signal.addEventListener('abort', () => {
            clearInterval(timer)
            reasons.push(signal.reason.name)
          })
          response.body = body
        },
      })
      assert.equal((await exchange(port, { target: '/app/poll' })).status, 500)
      assert.deepEqual(reasons, ['AbortError'])
    })
  }

  it('does not abort the signal of a generator that has failed: a listener would cancel a reader that has failed too', async (t) => {
    const reasons: unknown[] = []
    const rejections: unknown[] = []
    const { port } = await listenWithActions(t, {
      proxy({ signal }, response) {
        const upstream = new ReadableStream({
          start: (controller) => void setTimeout(() => controller.error(new Error('gone')), 5),
        })
        const reader = upstream.getReader()
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason)
          reader.cancel().catch((error) => rejections.push(error))
        })
        response.body = (async function* () {
          for (;;) yield (await reader.read()).value
        })()
      },
    })
    assert.equal((await exchange(port, { target: '/app/proxy' })).status, 500)
    assert.deepEqual([reasons, rejections], [[], []])
  })

  for (const [what, bodyOf] of [
    ['sent back', ({ body }: HttpRequest) => body],
    [
      'read by a stream that fails with an error of its own',
      ({ body }: HttpRequest) =>
        Readable.from(
          (async function* () {
            try {
              yield* body
            } catch (cause) {
              throw new Error('Bad upload', { cause })
            }
          })(),
        ),
    ],
  ] as const) {
    it(`aborts the signal with a ClientGoneError if the client leaves while the body of the request is ${what}`, async (t) => {
      const reasons: unknown[] = []
      const echoed = deferred()
      const { port } = await serveActions(t, {
        echo(request, response) {
          request.signal.addEventListener('abort', () => reasons.push(request.signal.reason.name))
          response.body = bodyOf(request)
          echoed.resolve()
        },
      })
      const client = connect(port, '127.0.0.1')
      client.write('POST /app/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n')
      await echoed.promise
      await sleep(10)
      client.resetAndDestroy()
      await settled(() => reasons.length)
      assert.deepEqual(reasons, ['ClientGoneError'])
    })
  }

  it('aborts the signal of the error action whose stream is not sent', async (t) => {
    const reasons: unknown[] = []
    async function* page({ signal }: HttpRequest): AsyncGenerator<string> {
      await once(signal, 'abort')
      reasons.push(signal.reason.name)
      yield 'late'
    }
    const front = createFront({
      error: {
        error(request: HttpRequest, response: HttpResponse) {
          response.body = page(request)
        },
      },
    })
    const port = await listening(t, createServer(createRequestListener(front)))
    await exchange(port, { method: 'HEAD', target: '/nosuch' })
    await settled(() => reasons.length)
    assert.deepEqual(reasons, ['AbortError'])
  })

  it('cancels a web stream that is not sent, whose listener for the signal may close it', async (t) => {
    const closing = (request: HttpRequest, pull?: () => never): ReadableStream =>
      new ReadableStream({
        start(controller) {
          signals.push(request.signal)
          request.signal.addEventListener('abort', () => controller.close())
        },
        ...(pull && { pull }),
        cancel() {
          cancelled++
        },
      })
    const signals: AbortSignal[] = []
    let cancelled = 0
    const { port } = await listenWithActions(t, {
      news(request, response) {
        response.body = closing(request)
      },
      unchanged(request, response) {
        response.status = 304
        response.body = closing(request)
      },
      fails(request, response) {
        response.body = closing(request, () => {
          throw new Error('no news')
        })
      },
    })
    for (const [method, action, status, count] of [
      ['HEAD', 'news', 200, 1],
      ['GET', 'unchanged', 304, 2],
      ['GET', 'fails', 500, 2],
    ] as const) {
      assert.equal((await exchange(port, { method, target: `/app/${action}` })).status, status)
      assert.equal(cancelled, count, action)
    }
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [false, false, false],
    )
  })

  it('reports a later error of an action alike, whether its stream is sent or not', async (t) => {
    const late = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
    const { reports, onReport } = collectReports()
    let last: HttpRequest | undefined
    const front = createFront(
      {
        app: {
          news(request: HttpRequest, response: HttpResponse) {
            last = request
            response.body = Readable.from(['a'], { objectMode: false })
          },
        },
      },
      { onReport },
    )
    const port = await listening(t, createServer(createRequestListener(front)))
    for (const method of ['GET', 'HEAD']) {
      await exchange(port, { method, target: '/app/news' })
      front.report(late, { request: last })
    }
    assert.equal(reports.length, 2)
  })

  it('sends it whole to a client whose body is left unread, and then closes', async (t) => {
    const sent = 200_000
    const { port } = await serveActions(t, {
      stream(_, response) {
        response.body = Readable.from([Buffer.alloc(sent, 'a')], { objectMode: false })
      },
    })
    const upload = 4_000_000
    for (const method of ['POST', 'HEAD']) {
      const head = `${method} /app/stream HTTP/1.1\r\nHost: a\r\nContent-Length: ${upload}\r\n\r\n`
      const { status, headers, body } = parse(await send(port, head + 'b'.repeat(upload)))
      assert.deepEqual([status, headers.connection], [200, 'close'])
      assert.equal(body.match(/a/g)?.length ?? 0, method === 'HEAD' ? 0 : sent)
    }
  })

  it('sends it without chunks to a client of HTTP/1.0', async (t) => {
    const { port } = await listenWithActions(t, {
      stream(_, response) {
        response.body = Readable.from(['a', 'b'])
      },
    })
    const { headers, body } = parse(await send(port, 'GET /app/stream HTTP/1.0\r\n\r\n'))
    assert.equal(headers['transfer-encoding'], undefined)
    assert.equal(body, 'ab')
  })

  it('sends no more than the declared length, and closes the connection', async (t) => {
    const { port } = await listenWithActions(t, {
      lies(_, response) {
        response.headers.set('Content-Length', 2)
        response.body = Readable.from(['abc'])
      },
    })
    const { body } = await exchange(port, { target: '/app/lies' })
    assert.ok(body.length <= 2, body)
  })

  it('closes the connection when it fails after its first bytes, without an error of the client', async (t) => {
    const { port, sockets } = await listenWithActions(t, {
      fails(_, response) {
        response.body = Readable.from(
          (async function* () {
            yield 'first'
            throw new Error('no more')
          })(),
        )
      },
    })
    const { status, body } = await exchange(port, { target: '/app/fails' })
    assert.equal(status, 200)
    assert.doesNotMatch(body, LAST_CHUNK)
    assert.equal(sockets[0]?.errored, null)
  })

  it('closes the connection behind other responses too, and sends those before', async (t) => {
    const { received, reports } = await sendBehindSlow(t, (_, response) => {
      response.body = Readable.from(
        (async function* () {
          yield 'first'
          throw new Error('no more')
        })(),
      )
    })
    assert.match(received, /slow.*first/s)
    assert.doesNotMatch(received, LAST_CHUNK)
    assert.equal(reports.length, 1)
  })

  it('closes the connection if it emits an error without being destroyed, behind another response', async (t) => {
    const { received, reports } = await sendBehindSlow(t, (_, response) => {
      const body = new Readable({ read() {} })
      body.push('first')
      setTimeout(() => body.emit('error', new Error('no more')), 20)
      response.body = body
    })
    assert.match(received, /slow/)
    assert.deepEqual(
      reports.map(({ message }) => message),
      ['no more'],
    )
  })

  it('sends a 500 when it yields an object at first', async (t) => {
    const { port, reports } = await serveActions(t, {
      odd(_, response) {
        response.body = Readable.from([{ no: 'bytes' }, 'text'])
      },
    })
    const target = '/app/odd'
    const { status, headers, body } = await exchange(port, { target })
    assert.deepEqual([status, headers['content-type']], [500, 'application/problem+json'])
    assert.doesNotMatch(body, /text/)
    assert.equal((await exchange(port, { method: 'HEAD', target })).status, 500)
    assert.deepEqual(
      reports.map((report) => report.status),
      [500, 500],
    )
  })

  it('closes the connection when an object follows its first bytes', async (t) => {
    const { port, reports } = await serveActions(t, {
      odd(_, response) {
        response.body = Readable.from(['text', { no: 'bytes' }])
      },
    })
    assert.doesNotMatch((await exchange(port, { target: '/app/odd' })).body, LAST_CHUNK)
    assert.equal(reports.length, 1)
  })

  it('keeps serving other connections after an object in a stream', async (t) => {
    const { port, reports } = await listenWithActions(t, {
      objects(_, response) {
        response.body = Readable.from(['first', { secret: 1 }, 'never'])
      },
      text: (_, response) => response.text('ok'),
    })
    const received = await send(port, bytesOf({ target: '/app/objects' }))
    assert.doesNotMatch(received, /never|\r\n0\r\n\r\n$/)
    assert.equal((await exchange(port, { target: '/app/text' })).body, 'ok')
    assert.deepEqual(
      reports.map(({ name, status, controller, action }) => [name, status, controller, action]),
      // The listener's request has not been routed: the names come from the one in the response.
      [['TypeError', 500, 'app', 'objects']],
    )
  })

  it('reports one that is closed before its end, and closes the connection', async (t) => {
    const { port, reports } = await serveActions(t, {
      closed(_, response) {
        const body = new Readable({ read: () => {} })
        body.push('text')
        setImmediate(() => setImmediate(() => body.destroy()))
        response.body = body
      },
    })
    const { body } = await exchange(port, { target: '/app/closed' })
    assert.doesNotMatch(body, LAST_CHUNK)
    assert.equal(reports.length, 1)
  })

  it('reports one that the application aborts after its first bytes', async (t) => {
    const { port, reports } = await serveActions(t, {
      aborted(_, response) {
        const controller = new AbortController()
        const body = new Readable({ read: () => {}, signal: controller.signal })
        body.push('text')
        setImmediate(() => setImmediate(() => controller.abort()))
        response.body = body
      },
    })
    const { body } = await exchange(port, { target: '/app/aborted' })
    assert.doesNotMatch(body, LAST_CHUNK)
    assert.equal(reports[0]?.previous?.name, 'AbortError')
  })

  for (const [what, error] of [
    ['an AbortError', new DOMException('x', 'AbortError')],
    ['the error of another client', new ClientGoneError()],
  ] as const) {
    it(`reports one that fails with ${what} after its first bytes`, async (t) => {
      const { port, reports } = await serveActions(t, {
        fails(_, response) {
          response.body = (async function* () {
            yield 'text'
            throw error
          })()
        },
      })
      const { body } = await exchange(port, { target: '/app/fails' })
      assert.doesNotMatch(body, LAST_CHUNK)
      assert.deepEqual(
        reports.map(({ previous }) => previous?.name),
        [error.name],
      )
    })
  }

  it('reports one that fails after its first bytes, but not a client that leaves', async (t) => {
    const closed = deferred()
    const { port, reports } = await listenWithActions(t, {
      fails(_, response) {
        response.cookies.set('sid', 'k7Qx9ZpLm2vB')
        response.body = Readable.from(
          (async function* () {
            yield 'first'
            throw new RangeError(`no more for ${response.headers.get('Set-Cookie')}`)
          })(),
        )
      },
      endless(_, response) {
        response.body = new Readable({
          read() {
            this.push('x'.repeat(1_000))
          },
        }).once('close', closed.resolve)
      },
    })
    const client = connect(port, '127.0.0.1').on('error', () => {})
    client.write(bytesOf({ target: '/app/endless' }))
    await once(client, 'data')
    client.destroy()
    await closed.promise
    await exchange(port, { target: '/app/fails' })
    assert.deepEqual(
      reports.map(({ name, status, message }) => [name, status, message]),
      [['RangeError', 500, 'no more for sid=[secret]; Path=/; HttpOnly; SameSite=Lax']],
    )
  })

  it('stops reading it while the client does not read, and destroys it when the client leaves', async (t) => {
    const total = 4_096
    const closed = deferred()
    let read = 0
    const { port } = await listenWithActions(t, {
      large(_, response) {
        response.body = new Readable({
          read() {
            read++
            this.push(read > total ? null : Buffer.alloc(65_536))
          },
        }).once('close', closed.resolve)
      },
    })
    const socket = connect(port, '127.0.0.1')
    socket.write(bytesOf({ target: '/app/large' }))
    await new Promise((resolve) => socket.once('readable', resolve))
    await settled(() => read)
    assert.ok(read < total / 2, `${read} of ${total} chunks were read`)
    socket.destroy()
    await closed.promise
  })

  it('destroys it if the client has left before', async (t) => {
    const started = deferred()
    const left = deferred()
    const closed = deferred()
    const { port } = await listenWithActions(t, {
      async late(request, response) {
        request.signal.addEventListener('abort', () => left.resolve())
        started.resolve()
        await left.promise
        response.body = Readable.from(['late']).once('close', closed.resolve)
      },
    })
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(bytesOf({ target: '/app/late' }))
    await started.promise
    socket.destroy()
    await closed.promise
  })
})

function withoutDate(headers: string): string {
  return headers.replace(/\r\nDate: [^\r]*/, '')
}

/** Sends a request to an action between two others, whose response takes 40 ms. */
async function sendBehindSlow(
  t: TestContext,
  action: Action,
): Promise<{ received: string; reports: readonly ErrorReport[] }> {
  const { port, reports } = await serveActions(t, {
    async slow(_, response) {
      await sleep(40)
      response.text('slow')
    },
    action,
  })
  const [slow, bytes] = ['slow', 'action'].map((name) =>
    keepAliveBytesOf({ target: `/app/${name}` }),
  )
  return { received: await send(port, `${slow}${bytes}${slow}`), reports }
}
