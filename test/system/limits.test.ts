import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import {
  type Action,
  FrontController,
  HttpError,
  type Limits,
  type Service,
  serve,
} from '../../lib/index.ts'
import type { ServerLimits } from '../../lib/server/serve.ts'
import { deferred } from '../support/deferred.ts'
import { parse, send } from '../support/http.ts'

type Fate = 'kept' | 'closed'

const get = (target: string, fields = ''): string =>
  `GET ${target} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`
const post = (target: string, fields: string, body = ''): string =>
  `POST ${target} HTTP/1.1\r\nHost: a\r\n${fields}\r\n${body}`
const type = 'Content-Type: application/x-www-form-urlencoded'
const form = (body: string, fields = ''): string =>
  post('/app/form', `${type}\r\n${fields}Content-Length: ${body.length}\r\n`, body)
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
const chunked = (...chunks: string[]): string =>
  post('/app/form', `${type}\r\nTransfer-Encoding: chunked\r\n`, chunks.map(chunk).join(''))
const times = (count: number, text: string): string => text.repeat(count)

// What a second request on the same connection is answered with, where there is an answer.
const next = get('/app/next', 'Connection: close\r\n')

describe('The limits of SPEC section 7', { concurrency: true }, () => {
  const mebi = 1_048_576
  const endless = 'an action that does not end'
  // biome-ignore format: a table
  const table: [what: string, bytes: string, status: number, message: string, fate: Fate][] = [
    ['a form of 1 MiB', form(times(mebi, 'a')), 200, '1', 'kept'],
    ['a form of a byte more', form(times(mebi + 1, 'a')), 413, `The body is larger than ${mebi} bytes`, 'closed'],
    ['a form that declares more, before any of it has come', form('').replace(': 0', ': 1048577'), 413, `The body is larger than ${mebi} bytes`, 'closed'],
    ['a form in chunks, of 1 MiB', chunked(times(mebi / 2, 'a'), times(mebi / 2, 'a'), ''), 200, '1', 'kept'],
    ['a form in chunks, of a byte more', chunked(times(mebi, 'a'), 'a'), 413, `The body is larger than ${mebi} bytes`, 'closed'],
    ['1,000 fields', form(times(1_000, 'a&')), 200, '1000', 'kept'],
    ['1,001 fields', form(times(1_001, 'a&')), 413, 'The form has more than 1000 fields', 'kept'],
    ['1,000 parameters', get(`/app/index?${times(1_000, 'a&')}`), 200, 'ok', 'kept'],
    ['1,001 parameters', get(`/app/index?${times(1_001, 'a&')}`), 400, 'The query string has more than 1000 parameters', 'kept'],
    ['1,000 pairs', get(`/app/index${times(1_000, '/a/b')}`), 200, 'ok', 'kept'],
    ['1,001 pairs', get(`/app/index${times(1_001, '/a/b')}`), 400, 'The path has more than 1000 pairs', 'kept'],
    ['a target of 8 KiB', get('/app/index?'.padEnd(8_192, 'a')), 200, 'ok', 'kept'],
    ['a target of a byte more', get('/app/index?'.padEnd(8_193, 'a')), 414, 'The request target is longer than 8192 bytes', 'kept'],
    ['a header section of 16 KiB', get('/app/index', `X: ${times(16_384 - 14, 'a')}\r\n`), 200, 'ok', 'kept'],
    ['a header section of a byte more', get('/app/index', `X: ${times(16_384 - 13, 'a')}\r\n`), 431, 'The header section is larger than 16384 bytes', 'closed'],
    ['100 header fields', get('/app/index', times(99, 'X: a\r\n')), 200, 'ok', 'kept'],
    ['101 header fields', get('/app/index', times(100, 'X: a\r\n')), 431, 'The request has more than 100 header fields', 'closed'],
    ['2,500 header fields', get('/app/index', times(2_500, 'X:\r\n')), 431, 'The request has more than 100 header fields', 'closed'],
    ['a form in UTF-8', form('a=1').replace(type, `${type}; charset="UTF-8"`), 200, '1', 'kept'],
    ['a form in another charset', form('a=1').replace(type, `${type}; charset=latin1`), 415, 'A form body must be in UTF-8', 'closed'],
    ['a compressed form', form('a=1', 'Content-Encoding: gzip\r\n'), 415, 'A form body must not be compressed', 'closed'],
    ['a body of another type that is too large', post('/app/body', 'Content-Length: 1048577\r\n'), 413, `The body is larger than ${mebi} bytes`, 'closed'],
    ['the same in chunks', chunked(times(mebi, 'a'), 'a').replace('/app/form', '/app/body').replace(type, 'X: a'), 413, `The body is larger than ${mebi} bytes`, 'closed'],
    [endless, get('/app/hang'), 503, 'No answer within 20 milliseconds', 'kept'],
  ]
  for (const [what, bytes, status, message, fate] of table) {
    it(`${status}, connection ${fate}: ${what}`, async (t) => {
      const { port } = await serving(t, what === endless ? { limits: { actionTimeoutMs: 20 } } : {})
      const answers = (await send(port, bytes + next)).split(/(?=HTTP\/1\.1 )/)
      const told = parse(answers[0] ?? '')
      const text = status === 200 ? message : `error/error: ${message}`
      assert.deepEqual([told.status, told.body], [status, text])
      assert.equal(told.headers.connection, fate === 'kept' ? 'keep-alive' : 'close')
      const second = answers.slice(1).map((answer) => parse(answer).body)
      assert.deepEqual(second, fate === 'kept' ? ['next'] : [])
    })
  }

  it('aborts the signal of a request whose action takes too long', async (t) => {
    const aborted = deferred<unknown>()
    const { port } = await serving(t, {
      limits: { actionTimeoutMs: 20 },
      actions: {
        wait(request) {
          request.signal.addEventListener('abort', () => aborted.resolve(request.signal.reason))
          return new Promise(() => {})
        },
      },
    })
    assert.equal(parse(await send(port, get('/app/wait', 'Connection: close\r\n'))).status, 503)
    assert.equal(((await aborted.promise) as Error).message, 'No answer within 20 milliseconds')
  })

  const rejection =
    'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nCache-Control: no-store\r\n' +
    'X-Content-Type-Options: nosniff\r\nContent-Length: 0\r\n\r\n'
  const slow: [what: string, bytes: string][] = [
    ['headers that do not come', 'GET / HTTP/1.1\r\nHost'],
    ['a request line that does not come', 'GET /'],
  ]
  for (const [what, bytes] of slow) {
    it(`408, connection closed: ${what}`, async (t) => {
      const { port } = await serving(t, { server: { headersTimeoutMs: 50 } })
      assert.equal(await send(port, bytes), rejection)
    })
  }

  it('closes a connection that is idle for too long between two requests', async (t) => {
    const { port } = await serving(t, { server: { keepAliveTimeoutMs: 50 } })
    const { status, headers } = parse(await send(port, get('/app/index')))
    assert.deepEqual([status, headers.connection], [200, 'keep-alive'])
  })

  it('closes the connection of a client that does not read its answer, and lets go of the body', async (t) => {
    const released = deferred()
    const { port } = await serving(t, {
      server: { socketTimeoutMs: 50 },
      actions: {
        endless(_, response) {
          const body = new Readable({
            read() {
              this.push(Buffer.alloc(65_536))
            },
          })
          response.body = body.once('close', released.resolve)
        },
      },
    })
    const socket = reading(t, port).pause()
    socket.write(get('/app/endless'))
    await released.promise
  })

  it('drops a connection more than there may be', async (t) => {
    const { port, service } = await serving(t, { server: { maxConnections: 2 } })
    const two: Socket[] = []
    for (let i = 0; i < 2; i++) {
      const accepted = once(service.server, 'connection')
      two.push(reading(t, port))
      await accepted
    }
    assert.equal(await send(port, get('/app/index')), '')
    for (const each of two) {
      each.write(get('/app/index'))
      assert.match(String(await once(each, 'data')), /^HTTP\/1\.1 200 OK/)
    }
  })
})

interface Serving {
  readonly limits?: Partial<Limits>
  readonly server?: Partial<ServerLimits>
  readonly actions?: Record<string, Action>
}

async function serving(
  t: TestContext,
  { limits, server, actions }: Serving,
): Promise<{ port: number; service: Service }> {
  const app: Record<string, Action> = {
    index: (_, response) => response.text('ok'),
    next: (_, response) => response.text('next'),
    hang: () => new Promise(() => {}),
    form: (request, response) => response.text(String(request.form.size)),
    async body(request, response) {
      let bytes = 0
      for await (const chunk of request.body) bytes += chunk.length
      response.text(String(bytes))
    },
    ...actions,
  }
  const error: Action = ({ errorHandler }, response) => {
    const exception = errorHandler?.exception
    response.status = exception instanceof HttpError ? exception.status : 500
    response.text(`error/error: ${exception?.message}`)
  }
  const controllers = new Map([
    ['app', app],
    ['error', { error }],
  ])
  const service = await serve(new FrontController({ controllers, limits }), {
    port: 0,
    limits: server,
  })
  t.after(() => service.close())
  return { port: Number(new URL(service.url).port), service }
}

function reading(t: TestContext, port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  t.after(() => void socket.destroy())
  return socket
}
