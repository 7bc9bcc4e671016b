import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type BeforeMiddleware,
  createRequestListener,
  type Handler,
  HttpRequest,
  HttpResponse,
  serve,
} from '../../lib/index.ts'
import { connectionOf } from '../../lib/server/connection.ts'
import type { Access } from '../../lib/server/handler.ts'
import { collectReports } from '../support/collectors.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'
import { bytesOf, exchange, parse, send } from '../support/http.ts'
import { startServing } from '../support/serving.ts'
import {
  keepAliveBytesOf,
  listenWithActions,
  serveActions,
  settled,
  splitResponses,
  withClose,
} from '../support/wire.ts'

const get = (action: string): string => `GET /app/${action} HTTP/1.1\r\nHost: a\r\n\r\n`
const post = (action: string, fields: string): string =>
  `POST /app/${action} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`

/** Sends bytes, and more when the response begins to arrive. Only then reads the whole of it. */
async function sendAndReadLate(
  t: TestContext,
  port: number,
  bytes: string,
  more = '',
): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write(bytes)
  await once(socket, 'readable')
  socket.write(more)
  return text(socket)
}

describe('The last response of a connection', () => {
  it('is the one to a rejected message: nothing behind it is read', async (t) => {
    const targets: string[] = []
    const { port } = await serveActions(t, { next: ({ target }) => void targets.push(target) })
    const next = get('next')
    const bad = post('next', 'Host: b\r\nContent-Length: 3\r\n')
    for (const bytes of [`${bad}a=1${next}`, next.replace('Host: a\r\n', '') + next]) {
      const { status, headers } = parse(await send(port, bytes))
      assert.deepEqual([status, headers.connection, targets], [400, 'close', []])
    }
  })

  it('is the one to a rejected message, also before bytes that are no HTTP', async (t) => {
    const { port, reports } = await serveActions(t, { next: () => {} })
    const bad = 'GET http://u@x/app/next HTTP/1.1\r\nHost: x\r\n\r\n'
    const received = await send(port, `${bad}get /nope HTTP/1.1\r\n\r\n`)
    assert.equal(received.match(/HTTP\/1\.1 /g)?.length, 1)
    assert.equal(reports.length, 1)
  })

  it('is the one to an upgrade: it is a normal response, and nothing behind it is read', async (t) => {
    const { port } = await serveActions(t, { index: (_, response) => response.text('ok') })
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
    const first = `GET /app/index HTTP/1.1\r\nHost: a\r\n${upgrade}`
    const received = await send(port, first + get('index'))
    assert.equal(received.match(/HTTP\/1\.1 /g)?.length, 1)
    const { status, headers, body } = parse(received)
    assert.deepEqual([status, headers.connection, body], [200, 'close', 'ok'])
  })

  it('is the one to a request whose body is left unread', async (t) => {
    const { port } = await listenWithActions(t, { ignores: (_, response) => response.text('ok') })
    const smuggled = get('nosuch')
    const received = await send(port, post('ignores', 'Content-Length: 50000\r\n') + smuggled)
    assert.equal(parse(received).headers.connection, 'close')
    assert.equal(received.match(/HTTP\/1\.1 /g)?.length, 1)
  })

  it('is the one to a request whose body arrives after it: no request behind the body runs', async (t) => {
    let runs = 0
    const { port } = await serveActions(t, {
      ignores: (_, response) => response.text('ok'),
      next: () => void runs++,
    })
    const body = 'x'.repeat(300_000)
    const fields = `Content-Length: ${body.length}\r\n`
    const received = await send(port, `${post('ignores', fields)}${body}${get('next')}`)
    assert.equal(parse(received).headers.connection, 'close')
    assert.deepEqual([received.match(/HTTP\/1\.1 /g)?.length, runs], [1, 0])
  })

  describe('arrives whole, although the client has sent more', () => {
    const unread = `${post('big', 'Content-Length: 3000\r\n')}${'x'.repeat(3_000)}`
    const requests = get('next').repeat(6_000)
    const junk = 'no request '.repeat(20_000)
    const expecting = unread.replace('\r\n', '\r\nExpect: 100-continue\r\n')
    for (const [name, bytes, length] of [
      ['requests behind an unread body', unread + requests, 3_000_000],
      [
        'an unread body that waits for no 100',
        expecting.replace('3000', '300000') + junk,
        3_000_000,
      ],
      [
        'an unread body that waits for no 100, with "Connection: close"',
        withClose(expecting.replace('3000', '300000')) + junk,
        3_000_000,
      ],
      ['requests behind "Connection: close"', withClose(get('big')) + requests, 3_000_000],
      ['junk behind an unread body', unread + junk, 3_000_000],
      ['junk behind "Connection: close"', withClose(get('big')) + junk, 3_000_000],
      [
        'junk behind an upgrade',
        get('big').replace('\r\n', '\r\nUpgrade: x\r\n') + junk,
        3_000_000,
      ],
      ['junk behind a rejected message', post('big', 'Host: b\r\n') + junk, undefined],
    ] as const) {
      it(name, async (t) => {
        const { port } = await serveActions(t, {
          big: (_, response) => response.text('x'.repeat(3_000_000)),
        })
        const { headers, body } = parse(await sendAndReadLate(t, port, bytes))
        assert.deepEqual([headers.connection, body.length > 0], ['close', true])
        if (length !== undefined) assert.equal(body.length, length)
      })
    }

    it('junk that was read with the last request, after its response', async (t) => {
      const { port } = await serveActions(t, {
        ignores: (_, response) => response.text('x'.repeat(200_000)),
      })
      const bytes = post('ignores', 'Content-Length: 0\r\nConnection: close\r\n') + junk
      assert.equal(parse(await sendAndReadLate(t, port, bytes)).body.length, 200_000)
    })

    it('requests behind an upgrade that a middleware responds to', async (t) => {
      const middleware: BeforeMiddleware = (_, out) => void out.end('x'.repeat(200_000))
      const { port } = await serveActions(t, {}, { before: [middleware] })
      const upgrade = get('big').replace('\r\n', '\r\nUpgrade: x\r\n')
      const received = await sendAndReadLate(t, port, upgrade, requests)
      assert.equal(parse(received).body.length, 200_000)
    })

    it('requests that arrive after the response', async (t) => {
      const { port } = await serveActions(t, {
        ignores: (_, response) => response.text('x'.repeat(200_000)),
      })
      const received = await sendAndReadLate(t, port, unread.replace('big', 'ignores'), requests)
      assert.equal(parse(received).body.length, 200_000)
    })
  })

  it('is the one to a request with a trailer that closes the connection for the parser', async (t) => {
    const { port } = await serveActions(t, {
      async echo({ body }, response) {
        response.text(await text(body))
      },
    })
    for (const [trailer, count] of [
      ['Connection: close', 1],
      ['proxy-connection: x, Close', 1],
      ['Connection: keep-alive', 2],
      ['X-A: connection', 2],
    ] as const) {
      const bytes = `${post('echo', 'Transfer-Encoding: chunked\r\n')}2\r\nab\r\n0\r\n`
      const trailers = `X-A: b\r\n${trailer}\r\n\r\n`
      const received = await send(port, bytes + trailers + withClose(get('nosuch')))
      const { status, headers } = parse(received)
      assert.deepEqual([status, headers.connection], [200, count === 1 ? 'close' : 'keep-alive'])
      assert.equal(splitResponses(received).length, count, trailer)
    }
  })

  it('is not the one to a request that expects a 100, if its unread body and a request have arrived', async (t) => {
    const sockets: Socket[] = []
    const { port, service } = await serveActions(t, {
      async ignores(_, response) {
        await settled(() => sockets[0]?.bytesRead ?? 0)
        response.text('ignored')
      },
      next: (_, response) => response.text('next'),
    })
    service.server.on('connection', (socket) => sockets.push(socket))
    const expects = post('ignores', 'Expect: 100-continue\r\nContent-Length: 3\r\n')
    const received = await send(port, `${expects}a=1${withClose(get('next'))}`)
    const responses = splitResponses(received).map((each) => parse(each))
    assert.deepEqual(
      responses.map(({ status, headers, body }) => [status, headers.connection, body]),
      [
        [100, undefined, ''],
        [200, 'keep-alive', 'ignored'],
        [200, 'close', 'next'],
      ],
    )
  })

  it('is not the one to a request whose unread body is empty', async (t) => {
    const { port } = await listenWithActions(t, { ignores: (_, response) => response.text('ok') })
    const empty = `${post('ignores', 'Transfer-Encoding: chunked\r\n')}0\r\n\r\n`
    const received = await send(port, empty + empty + withClose(get('ignores')))
    assert.equal(received.match(/HTTP\/1\.1 200 OK/g)?.length, 3)
    assert.equal(received.match(/Connection: close/g)?.length, 1)
  })

  it('is the last one of the pipelined requests when the server stops', async (t) => {
    const started = deferred()
    const finish = deferred()
    const { port, service } = await serveActions(t, {
      async first(_, response) {
        await finish.promise
        response.text('first')
      },
      second(_, response) {
        started.resolve()
        response.text('second')
      },
    })
    const received = send(port, get('first') + get('second'))
    // The second request has been handled, and its response is queued behind the first.
    await started.promise
    const closed = service.close()
    finish.resolve()
    assert.deepEqual(await closed, { connections: 0, actions: 0 })
    assert.match(await received, /first.*second$/s)
  })

  it('is the one that closes the connection at the stop: no request behind it runs', async (t) => {
    const closing = new AbortController()
    const finish = deferred()
    let runs = 0
    const { port } = await listenWithActions(
      t,
      {
        stream(_, response) {
          closing.abort()
          response.body = (async function* () {
            yield 'begin'
            await finish.promise
            yield 'end'
          })()
        },
        next: () => void runs++,
      },
      { closing: closing.signal },
    )
    const socket = connect(port, '127.0.0.1').setEncoding('utf8')
    let received = ''
    socket.on('data', (text) => {
      received += text
      if (text.includes('begin')) socket.write(get('next'))
    })
    socket.write(get('stream'))
    await settled(() => received.length + runs)
    finish.resolve()
    await once(socket, 'close')
    assert.match(received, /\r\nConnection: close\r\n.*begin.*end/s)
    assert.equal(runs, 0)
  })

  it('is the only one with Connection: close when the server is about to stop', async (t) => {
    const form = [['Content-Type', 'application/x-www-form-urlencoded']] as const
    for (const request of [{}, { method: 'POST', body: 'a=1', headers: form }]) {
      const closing = new AbortController()
      const { port } = await listenWithActions(
        t,
        {
          stop(_, response) {
            closing.abort()
            response.text('stop')
          },
          text: (_, response) => response.text('text'),
        },
        { closing: closing.signal },
      )
      const bytes = ['/app/text', '/app/stop', '/app/text'].map((target) =>
        keepAliveBytesOf({ target, ...request }),
      )
      const received = await send(port, bytes.join(''))
      const connections = [...received.matchAll(/\r\nConnection: (\S+)/g)].map(([, value]) => value)
      assert.deepEqual(connections, ['keep-alive', 'keep-alive', 'close'])
      assert.match(received, /text$/)
    }
  })
})

describe('The option idHeader', () => {
  /** Collects the ids in the access log, up to a number. */
  function collectIds(count: number) {
    const ids: unknown[] = []
    const { promise, resolve } = deferred()
    const onAccess = ({ response }: Access): void => {
      if (ids.push(response.request?.id) === count) resolve()
    }
    return { ids, onAccess, all: promise }
  }

  it('puts the id of the access log into every response, and keeps a header of the action', async (t) => {
    const { ids, onAccess, all } = collectIds(7)
    const { port } = await serveActions(
      t,
      {
        text: (_, response) => response.text('ok'),
        fail() {
          throw new Error('boom')
        },
        nothing: (_, response) => {
          response.status = 204
        },
        own: (_, response) => {
          response.headers.set('x-REQUEST-id', 'own')
        },
      },
      { onAccess, idHeader: 'X-Request-Id' },
    )
    const received: unknown[] = []
    for (const target of ['/app/text', '/app/fail', '/app/nothing', '/none', '/%ff', '/app/own']) {
      const { headers } = await exchange(port, { target })
      received.push(headers['x-request-id'])
    }
    received.push(
      parse(await send(port, get('text').replace('Host: a', 'X: a'))).headers['x-request-id'],
    )
    await all
    assert.equal(new Set(ids).size, 7)
    assert.deepEqual(received, ids.with(5, 'own'))
  })

  it('puts it into the response to an error of the handler, and to OPTIONS *', async (t) => {
    const { ids, onAccess, all } = collectIds(2)
    const handle = async (): Promise<never> => {
      throw new Error('boom')
    }
    const { port } = await startServing(t, { handle }, { onAccess, idHeader: 'X-Id' })
    const received: unknown[] = []
    for (const request of [{ target: '/' }, { target: '*', method: 'OPTIONS' }]) {
      const { headers } = await exchange(port, request)
      received.push(headers['x-id'])
    }
    await all
    assert.deepEqual(received, ids)
    assert.match(String(received[0]), /^[0-9a-f-]{36}$/)
  })

  it('is none by default, and must be the name of a header', async (t) => {
    const { port } = await listenWithActions(t, { text: (_, response) => response.text('ok') })
    const { headers } = await exchange(port, { target: '/app/text' })
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.includes('id')),
      [],
    )
    const handler = { handle: async () => new HttpResponse() }
    for (const idHeader of ['', 'a b', 'Connection', 'Content-Length', 42 as unknown as string]) {
      assert.throws(() => createRequestListener(handler, { idHeader }), {
        name: 'TypeError',
        message: 'Expected "idHeader" to be a header name such as "X-Request-Id"',
      })
      await assert.rejects(serve(handler, { port: 0, idHeader }), TypeError)
    }
  })
})

describe('The option onAccess', () => {
  it('may fail: its report masks the cookies of the response', async (t) => {
    const { reports, onReport } = collectReports()
    const actions = {
      text(_: unknown, response: HttpResponse) {
        response.cookies.set('sid', 'c4n4ry-Tok')
        response.text('ok')
      },
    }
    const front = createFront({ app: actions }, { onReport })
    // The request that is reported is not the one of the connection.
    const wrapped: Handler = {
      handle: ({ target }) => front.handle(new HttpRequest({ target })),
      report: (error, context) => front.report(error, context),
    }
    for (const handler of [front, wrapped]) {
      const { port } = await startServing(t, handler, {
        onAccess({ response }) {
          throw new Error(`not counted: ${response.headers.get('Set-Cookie')}`)
        },
      })
      assert.equal((await exchange(port, { target: '/app/text' })).status, 200)
      await settled(() => reports.length)
    }
    assert.equal(reports.length, 2)
    // Bun shows the header of the response among those of the request.
    for (const { message } of reports) {
      assert.match(message, /^not counted: (?:sid=\[secret\]|\[header\]); Path=\/; HttpOnly/)
    }
  })

  it('gets an error of `before` that masks the cookies of the response that was not sent', async (t) => {
    const { reports, onReport } = collectReports()
    const front = createFront(
      {
        app: {
          text: (_: unknown, { cookies }: HttpResponse) =>
            cookies.set('sid', 'c4n4ry-Tok') && undefined,
        },
      },
      { onReport },
    )
    const before: BeforeMiddleware[] = [
      (_, out, next) => {
        Object.assign(out, {
          writeHead(...args: unknown[]) {
            throw new Error(`no ${JSON.stringify(args)}`)
          },
        })
        next()
      },
    ]
    const { port } = await startServing(t, front, { before })
    await exchange(port, { target: '/app/text' }).catch(() => {})
    await settled(() => reports.length)
    assert.match(reports[0]?.message ?? '', /^no .*sid=\[secret\]/)
    assert.doesNotMatch(JSON.stringify(reports), /c4n4ry/)
  })

  it('is called once for a pipelined upload that is left unread, if its client leaves', async (t) => {
    const statuses: number[] = []
    const responded = deferred()
    const { port } = await serveActions(
      t,
      {
        slow: async (_, response) => void response.text(await responded.promise.then(() => 'ok')),
        deny(_, response) {
          response.status = 403
          setImmediate(responded.resolve)
        },
      },
      { onAccess: ({ response }) => void statuses.push(response.status) },
    )
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(`${get('slow')}${post('deny', 'Content-Length: 1000\r\n')}part`)
    await responded.promise
    await once(socket, 'readable')
    socket.resetAndDestroy()
    await settled(() => statuses.length)
    assert.deepEqual(statuses.sort(), [200, 403])
  })

  it('is called once per request with the response, its bytes and its duration', async (t) => {
    const log: Access[] = []
    const all = deferred()
    const onAccess = (access: Access): void => {
      log.push(access)
      if (log.length === 3) all.resolve()
    }
    const { port } = await serveActions(
      t,
      {
        index: (_, response) => response.text('grün'),
        stream(_, response) {
          response.body = Readable.from(['abc', 'def'])
        },
        empty(_, response) {
          response.status = 204
        },
      },
      { onAccess },
    )
    await exchange(port, { target: '/app/index' })
    await exchange(port, { target: '/app/stream' })
    await exchange(port, { method: 'POST', target: '/app/empty' })
    await all.promise
    const facts = log.map(({ method, response, bytes }) => [method, response.status, bytes])
    assert.deepEqual(facts, [
      ['GET', 200, 5],
      ['GET', 200, 6],
      ['POST', 204, 0],
    ])
    for (const { durationMs } of log) assert.ok(durationMs > 0)
  })

  for (const [what, onAccess] of [
    [
      'throws',
      () => {
        throw new Error('no disk')
      },
    ],
    ['returns a promise that rejects', () => Promise.reject(new Error('no disk'))],
  ] as const) {
    it(`is reported with the request if it ${what}, also for each of several that are cut`, async (t) => {
      const arrived = deferred()
      const aborted: unknown[] = []
      const { port, reports } = await serveActions(
        t,
        {
          text: (_, response) => response.text('ok'),
          async wait({ signal }) {
            signal.addEventListener('abort', () => aborted.push(signal.reason))
            if (signal.aborted) return
            arrived.resolve()
            await once(signal, 'abort')
          },
        },
        { onAccess },
      )
      const { status } = await exchange(port, { target: '/app/text' })
      assert.equal(status, 200)
      const socket = connect(port, '127.0.0.1')
      socket.write(get('wait') + get('wait'))
      await arrived.promise
      await sleep(20)
      socket.resetAndDestroy()
      await sleep(50)
      assert.deepEqual(
        reports.map(({ name, message, action }) => [name, message, action]),
        ['text', 'wait', 'wait'].map((action) => ['Error', 'no disk', action]),
      )
      assert.equal(aborted.length, 2)
    })
  }

  it('is called when the response has been sent, with the requested names', async (t) => {
    const log: Access[] = []
    const { port } = await listenWithActions(
      t,
      {
        text: (_, response) => response.text('grün'),
        stream(_, response) {
          response.body = Readable.from(['ab', 'c'])
        },
        nothing: (_, response) => {
          response.status = 204
        },
      },
      { onAccess: (access) => void log.push(access) },
    )
    const before = performance.now()
    for (const target of ['/app/text', '/app/stream', '/app/nothing']) {
      await exchange(port, { target })
    }
    const { body } = await exchange(port, { method: 'PUT', target: '/nope' })
    assert.deepEqual(
      log.map(({ method, response, route, bytes }) => [
        method,
        response.status,
        response.request?.controller,
        response.request?.action,
        route,
        bytes,
      ]),
      [
        ['GET', 200, 'app', 'text', 'app/text', 5],
        ['GET', 200, 'app', 'stream', 'app/stream', 3],
        ['GET', 204, 'app', 'nothing', 'app/nothing', 0],
        ['PUT', 404, 'nope', 'index', null, body.length],
      ],
    )
    for (const { durationMs } of log) {
      assert.ok(durationMs > 0 && durationMs <= performance.now() - before)
    }
  })

  it('is called for responses that are queued when the client leaves', async (t) => {
    const actions: string[] = []
    const all = deferred()
    const started = deferred()
    const onAccess = ({ response }: Access): void => {
      actions.push(response.request?.action ?? '')
      if (actions.length === 3) all.resolve()
    }
    const { port } = await serveActions(
      t,
      {
        slow: ({ signal }) => once(signal, 'abort').then(() => {}),
        quick: (_, response) => response.text('ok'),
        last(_, response) {
          response.text('ok')
          started.resolve()
        },
      },
      { onAccess },
    )
    const socket = connect(port, '127.0.0.1')
    for (const action of ['slow', 'quick', 'last']) socket.write(get(action))
    await started.promise
    socket.destroy()
    await all.promise
    assert.deepEqual(actions.sort(), ['last', 'quick', 'slow'])
  })

  it('is called for a response that is ready after its client has left', async (t) => {
    const started = deferred()
    const finish = deferred()
    const accessed = deferred<Access>()
    const { port, service } = await serveActions(
      t,
      {
        async slow(_, response) {
          started.resolve()
          await finish.promise
          response.text('late')
        },
      },
      { onAccess: accessed.resolve },
    )
    const connected = once(service.server, 'connection')
    const socket = connect(port, '127.0.0.1')
    const [accepted] = await connected
    socket.write(get('slow'))
    await started.promise
    // Not once(): the reset is also an error of the connection.
    const closed = deferred()
    accepted.on('close', () => closed.resolve())
    socket.resetAndDestroy()
    await closed.promise
    finish.resolve()
    const { bytes, response } = await accessed.promise
    assert.deepEqual([bytes, response.status], [0, 200])
  })
})

describe('Exchange', () => {
  it('responds to OPTIONS with the target `*` with the methods of the server, without the handler', async (t) => {
    const log: Access[] = []
    const { port, reports } = await serveActions(
      t,
      { index: (_, response) => response.text('ok') },
      { onAccess: (access) => void log.push(access) },
    )
    const options = { method: 'OPTIONS', target: '*' }
    const received = await send(port, keepAliveBytesOf(options) + bytesOf(options))
    for (const bytes of splitResponses(received)) {
      const { status, headers, body } = parse(bytes)
      assert.deepEqual(
        [status, headers.allow, headers['content-length'], body],
        [204, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS', undefined, ''],
      )
    }
    assert.deepEqual(
      log.map(({ method, response }) => [method, response.status, response.request?.target]),
      Array(2).fill(['OPTIONS', 204, '*']),
    )
    assert.deepEqual(reports, [])
    assert.equal((await exchange(port, { ...options, method: 'GET' })).status, 400)
    assert.equal((await exchange(port, { ...options, headers: [['Host', 'b']] })).status, 400)
  })

  it('leaves no listener on a connection that is kept alive', async (t) => {
    const { port, sockets } = await listenWithActions(t, {
      text: ({ signal }, response) => response.text(String(signal.aborted)),
      stream(_, response) {
        response.body = Readable.from(['false'])
      },
    })
    const client = connect(port, '127.0.0.1').setEncoding('latin1')
    t.after(() => client.destroy())
    const counts = new Set<string>()
    for (let i = 0; i < 20; i++) {
      const target = i % 2 === 0 ? '/app/text' : '/app/stream'
      client.write(keepAliveBytesOf({ target }))
      for (let received = ''; !/false(\r\n0\r\n\r\n)?$/.test(received); ) {
        received += (await once(client, 'data'))[0]
      }
      await new Promise(setImmediate)
      const [socket] = sockets
      const names = socket?.eventNames() ?? []
      counts.add(names.map((name) => `${String(name)} ${socket?.listenerCount(name)}`).join())
    }
    const [socket] = sockets
    assert.ok(socket && sockets.length === 1)
    assert.equal(connectionOf(socket).onClose.size, 0)
    assert.equal(counts.size, 1, [...counts].join('\n'))
  })
})
