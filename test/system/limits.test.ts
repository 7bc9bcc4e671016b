import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Action, type ErrorReport, HttpError, type Limits } from '../../lib/index.ts'
import type { ServerLimits } from '../../lib/server/serve.ts'
import { collectReports } from '../support/collectors.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'
import { parse, send } from '../support/http.ts'
import { type Served, startServing } from '../support/serving.ts'
import { withClose } from '../support/wire.ts'

type Connection = 'kept' | 'closed'

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

// A second request on the same connection: it gets a response if the connection is kept.
const next = get('/app/next', 'Connection: close\r\n')

describe('The limits of SPEC section 7', { concurrency: true }, () => {
  const mebi = 1_048_576
  const endless = 'an action that never ends'
  // biome-ignore format: a table
  const table: [what: string, bytes: string, status: number, message: string, connection: Connection][] = [
    ['a form of 1 MiB', form(times(mebi, 'a')), 200, '1', 'kept'],
    ['a form of a byte more', form(times(mebi + 1, 'a')), 413, `The body is larger than ${mebi} bytes`, 'closed'],
    ['a form that declares more, before any byte of it', form('').replace(': 0', ': 1048577'), 413, `The body is larger than ${mebi} bytes`, 'closed'],
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
    ['200 header fields', get('/app/index', times(199, 'X: a\r\n')), 431, 'The request has more than 100 header fields', 'closed'],
    ['a form in UTF-8', form('a=1').replace(type, `${type}; charset="UTF-8"`), 200, '1', 'kept'],
    ['a form in another charset', form('a=1').replace(type, `${type}; charset=latin1`), 415, 'A form body must be in UTF-8', 'closed'],
    ['a compressed form', form('a=1', 'Content-Encoding: gzip\r\n'), 415, 'A form body must not be compressed', 'closed'],
    ['a body of another type that is too large', post('/app/body', 'Content-Length: 1048577\r\n'), 413, `The body is larger than ${mebi} bytes`, 'closed'],
    ['the same in chunks', chunked(times(mebi, 'a'), 'a').replace('/app/form', '/app/body').replace(type, 'X: a'), 413, `The body is larger than ${mebi} bytes`, 'closed'],
    [endless, get('/app/hang'), 503, 'No response within 20 milliseconds', 'kept'],
  ]
  for (const [what, bytes, status, message, connection] of table) {
    it(`are enforced: ${status}, connection ${connection}, for ${what}`, async (t) => {
      const { port } = await start(t, what === endless ? { limits: { actionTimeoutMs: 20 } } : {})
      const responses = (await send(port, bytes + next)).split(/(?=HTTP\/1\.1 )/)
      const first = parse(responses[0] ?? '')
      const text = status === 200 ? message : `error/error: ${message}`
      assert.deepEqual([first.status, first.body], [status, text])
      assert.equal(first.headers.connection, connection === 'kept' ? 'keep-alive' : 'close')
      const second = responses.slice(1).map((response) => parse(response).body)
      assert.deepEqual(second, connection === 'kept' ? ['next'] : [])
    })
  }

  // From Node 22 on, the parser rejects it.
  it('are enforced: 431, connection closed, for 2,500 header fields', async (t) => {
    const { port } = await start(t, {})
    const received = await send(port, get('/app/index', times(2_500, 'X:\r\n')) + next)
    const { status, headers } = parse(received)
    assert.deepEqual([status, headers.connection], [431, 'close'])
    assert.equal(received.split('HTTP/1.1 ').length, 2)
  })

  it('are enforced by the server if they are lower than those of the front controller', async (t) => {
    const { port } = await start(t, { server: { maxTargetBytes: 20 } })
    const target = '/app/index?'.padEnd(20, 'a')
    const received = await send(port, get(target) + get(`${target}a`) + next)
    const bodies = received.split(/(?=HTTP\/1\.1 )/).map((response) => parse(response).body)
    const tooLong = 'error/error: The request target is longer than 20 bytes'
    assert.deepEqual(bodies, ['ok', tooLong, 'next'])
  })

  it('abort the signal of a request whose action takes too long', async (t) => {
    const aborted = deferred<unknown>()
    const { port } = await start(t, {
      limits: { actionTimeoutMs: 20 },
      actions: {
        wait(request) {
          request.signal.addEventListener('abort', () => aborted.resolve(request.signal.reason))
          return new Promise(() => {})
        },
      },
    })
    assert.equal(parse(await send(port, get('/app/wait', 'Connection: close\r\n'))).status, 503)
    assert.equal(((await aborted.promise) as Error).message, 'No response within 20 milliseconds')
  })
})

// Not concurrent: the large bodies above can delay a request until its short timeout has passed.
describe('The timeouts of SPEC section 7', () => {
  const rejection =
    'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nCache-Control: no-store\r\n' +
    'X-Content-Type-Options: nosniff\r\nContent-Length: 0\r\n\r\n'
  const slow: [what: string, bytes: string][] = [
    ['headers that do not arrive', 'GET / HTTP/1.1\r\nHost'],
    ['a request line that does not arrive', 'GET /'],
  ]
  for (const [what, bytes] of slow) {
    it(`close the connection with a 408: ${what}`, async (t) => {
      const { port } = await start(t, { server: { headersTimeoutMs: 50 } })
      assert.equal(await send(port, bytes), rejection)
    })
  }

  it('close a connection that is idle for too long between two requests', async (t) => {
    const { port } = await start(t, { server: { keepAliveTimeoutMs: 50 } })
    const { status, headers } = parse(await send(port, get('/app/index')))
    assert.deepEqual([status, headers.connection], [200, 'keep-alive'])
  })

  it('report a streamed body that does not begin, and close its connection', async (t) => {
    const { reports, onReport } = collectReports()
    const { port } = await start(t, {
      // Longer than the dispatch waits for the first bytes.
      server: { socketTimeoutMs: 500 },
      onReport,
      actions: {
        late(_, response) {
          response.body = new Readable({ read() {} })
        },
        waiting(request, response) {
          const { signal } = request
          response.body = Readable.from(
            (async function* () {
              await delay(60_000, undefined, { signal })
              yield 'late'
            })(),
          )
        },
        stuck(_, response) {
          response.body = new Readable({ read() {}, destroy() {} })
        },
        events(_, response) {
          response.headers.set('Content-Type', 'text/event-stream')
          response.body = new Readable({ read() {} })
        },
      },
    })
    const actions = ['late', 'waiting', 'stuck', 'events']
    const received = actions.map((action) => send(port, get(`/app/${action}`)))
    assert.deepEqual(
      await Promise.all(received),
      actions.map(() => ''),
    )
    const seen = reports.map(({ message, status, action }) => [action, status, message])
    assert.deepEqual(
      seen.sort(),
      ['late', 'stuck', 'waiting'].map((action) => [action, 500, 'The body is late']),
    )
  })

  for (const [what, more] of [
    ['', ''],
    [', but sends bytes behind its last request', 'x'],
  ]) {
    it(`close the connection of a client that does not read the response${what}, and destroy the body`, async (t) => {
      const destroyed = deferred()
      const { port } = await start(t, {
        // Long enough for the request to arrive first, also on a busy machine.
        server: { socketTimeoutMs: 500 },
        actions: {
          endless(_, response) {
            const body = new Readable({
              read() {
                this.push(Buffer.alloc(65_536))
              },
            })
            response.body = body.once('close', destroyed.resolve)
          },
        },
      })
      const socket = connectTo(t, port).pause()
      const request = get('/app/endless')
      socket.write(more === '' ? request : withClose(request))
      if (more) {
        const timer = setInterval(() => socket.write(more), 100)
        t.after(() => clearInterval(timer))
      }
      await destroyed.promise
    })
  }
})

describe('The maximum of connections', () => {
  it('closes a further connection', async (t) => {
    const { port, service } = await start(t, { server: { maxConnections: 2 } })
    const two: Socket[] = []
    for (let i = 0; i < 2; i++) {
      const accepted = once(service.server, 'connection')
      two.push(connectTo(t, port))
      await accepted
    }
    assert.equal(await send(port, get('/app/index')), '')
    for (const each of two) {
      each.write(get('/app/index'))
      assert.match(String(await once(each, 'data')), /^HTTP\/1\.1 200 OK/)
    }
  })
})

interface Settings {
  readonly limits?: Partial<Limits>
  readonly server?: Partial<ServerLimits>
  readonly actions?: Record<string, Action>
  readonly onReport?: (report: ErrorReport) => void
}

function start(t: TestContext, { limits, server, actions, onReport }: Settings): Promise<Served> {
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
  const front = createFront({ app, error: { error } }, { limits, onReport })
  return startServing(t, front, { limits: server })
}

function connectTo(t: TestContext, port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  t.after(() => void socket.destroy())
  return socket
}
