import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { type Dispatcher, request } from 'undici'
import {
  type Access,
  type Action,
  createRequestListener,
  type ErrorReport,
  FrontController,
  type FrontControllerOptions,
  type Handler,
  type HttpRequest,
  HttpResponse,
} from '../../lib/index.ts'
import { connectionOf } from '../../lib/server/connection.ts'
import { TestAgent } from '../../lib/testing.ts'
import { deferred } from '../support/deferred.ts'
import { bytesOf, exchange, listening, parse, send } from '../support/http.ts'

describe('createRequestListener()', () => {
  it('answers HEAD as GET, header for header, without the body', async (t) => {
    const port = await serving(t, {
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

  it('sends no body with a status that has none', async (t) => {
    const bodiless = (status: number): Action => {
      return (_, response) => {
        response.text('text')
        response.status = status
      }
    }
    const actions = { none: bodiless(204), reset: bodiless(205), same: bodiless(304) }
    const port = await serving(t, actions)
    for (const [action, length] of [
      ['none', undefined],
      ['reset', '0'],
      ['same', undefined],
    ] as const) {
      const { headers, body } = await exchange(port, { target: `/app/${action}` })
      assert.deepEqual([headers['content-length'], body], [length, ''], action)
    }
  })

  it('counts bytes, not characters', async (t) => {
    const ask = asking(t, { text: (_, response) => response.text('grün') })
    const { headers, body } = await ask('text')
    assert.equal(headers['content-length'], '5')
    assert.equal(await body.text(), 'grün')
  })

  it('sends each field of a header on a line of its own', async (t) => {
    const port = await serving(t, {
      cookies(_, response) {
        response.headers.append('Set-Cookie', 'a=1').append('Set-Cookie', 'b=2')
      },
    })
    const { rawHeaders } = await exchange(port, { target: '/app/cookies' })
    assert.match(rawHeaders, /Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n/)
  })

  it('leaves the framing to itself: a Content-Length of the application does not count', async (t) => {
    const port = await serving(t, {
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

  it('ends the connection under a stream of another length than declared', async (t) => {
    const port = await serving(t, {
      lies(_, response) {
        response.headers.set('Content-Length', 2)
        response.body = Readable.from(['abc'])
      },
    })
    const { body } = await exchange(port, { target: '/app/lies' })
    assert.ok(body.length <= 2, body)
  })

  it('ends the connection when a stream fails under way', async (t) => {
    const port = await serving(t, {
      fails(_, response) {
        response.body = Readable.from(
          (async function* () {
            yield 'begun'
            throw new Error('no more')
          })(),
        )
      },
    })
    const { status, body } = await exchange(port, { target: '/app/fails' })
    assert.equal(status, 200)
    // The last chunk, of length 0, is what tells a whole answer from half of one.
    assert.doesNotMatch(body, /\r\n0\r\n\r\n$/)
  })

  it('keeps the order of 100 pipelined requests', async (t) => {
    const port = await serving(t, {
      async echo(request, response) {
        const id = Number(request.param('id'))
        for (let i = 0; i < id % 7; i++) await new Promise(setImmediate)
        response.text(`<${id}>`)
      },
    })
    const one = (id: number): string =>
      bytesOf({ target: `/app/echo/id/${id}` }).replace('close', id === 99 ? 'close' : 'keep-alive')
    const answers = await send(port, Array.from({ length: 100 }, (_, id) => one(id)).join(''))
    const ids = [...answers.matchAll(/<(\d+)>/g)].map(([, id]) => Number(id))
    assert.deepEqual(
      ids,
      Array.from({ length: 100 }, (_, id) => id),
    )
  })

  it('begins 64 requests that were sent ahead of an answer, and reads no further, until it is out', async (t) => {
    for (const bytes of [
      'GET /app/wait HTTP/1.1\r\nHost: a\r\n\r\n',
      `POST /app/wait HTTP/1.1\r\nHost: a\r\n${FORM}Content-Length: 3\r\n\r\na=1`,
      `POST /app/wait HTTP/1.1\r\nHost: a\r\n${FORM}Content-Length: 99999\r\n\r\n${'a'.repeat(99_999)}`,
    ]) {
      const count = Math.max(200, Math.floor(1_000_000 / bytes.length))
      const released = deferred()
      let asked = 0
      const port = await serving(t, {
        async wait(request, response) {
          asked++
          await released.promise
          response.text(request.method)
        },
      })
      const answers = send(port, bytes.repeat(count - 1) + closing(bytes))
      await settled(() => asked)
      assert.ok(asked <= 1 + 64, `${asked} of ${count} are under way`)
      released.resolve()
      assert.equal((await answers).match(/ 200 OK/g)?.length, count)
      assert.equal(asked, count)
    }
  })

  it('holds a streamed body back while the client does not read, and lets go when it leaves', async (t) => {
    const total = 4_096
    const closed = deferred()
    let read = 0
    const port = await serving(t, {
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

  it("aborts the request's signal when the client leaves, also behind another request", async (t) => {
    const asked = deferred()
    const aborted = deferred()
    const port = await serving(t, {
      first: () => aborted.promise,
      second(request) {
        request.signal.addEventListener('abort', () => aborted.resolve())
        asked.resolve()
        return aborted.promise
      },
    })
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(bytesOf({ target: '/app/first' }).replace('close', 'keep-alive'))
    socket.write(bytesOf({ target: '/app/second' }))
    await asked.promise
    socket.destroy()
    await aborted.promise
  })

  it('lets go of a stream whose client has left before it was sent', async (t) => {
    const asked = deferred()
    const left = deferred()
    const closed = deferred()
    const port = await serving(t, {
      async late(request, response) {
        request.signal.addEventListener('abort', () => left.resolve())
        asked.resolve()
        await left.promise
        response.body = Readable.from(['late']).once('close', closed.resolve)
      },
    })
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(bytesOf({ target: '/app/late' }))
    await asked.promise
    socket.destroy()
    await closed.promise
  })

  it('closes the connection when a body was left unread', async (t) => {
    const port = await serving(t, { ignores: (_, response) => response.text('ok') })
    const head = 'POST /app/ignores HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n'
    const smuggled = 'GET /app/nosuch HTTP/1.1\r\nHost: a\r\n\r\n'
    const answer = await send(port, head + smuggled)
    assert.equal(parse(answer).headers.connection, 'close')
    assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1)
  })

  it('keeps the connection when a body was left unread that has no bytes', async (t) => {
    const port = await serving(t, { ignores: (_, response) => response.text('ok') })
    const head = 'POST /app/ignores HTTP/1.1\r\nHost: a\r\n'
    const post = `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    const last = 'GET /app/ignores HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    const answer = await send(port, post + post + last)
    assert.equal(answer.match(/HTTP\/1\.1 200 OK/g)?.length, 3)
    assert.equal(answer.match(/Connection: close/g)?.length, 1)
  })

  it('gives an action a body of another type than a form, and of a form the bytes as they came', async (t) => {
    const ask = asking(t, {
      async echo(request, response) {
        const chunks: Buffer[] = []
        for await (const chunk of request.body) chunks.push(chunk)
        response.text(`${Buffer.concat(chunks)}|${request.form}`)
      },
    })
    const json = await ask('echo', { method: 'POST', body: '{"a":1}' })
    assert.equal(await json.body.text(), '{"a":1}|')
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const form = await ask('echo', { method: 'POST', headers, body: 'a=%31' })
    assert.equal(await form.body.text(), 'a=%31|a=1')
  })

  it('answers 500 when a handler fails that is no front controller, and tells it so', async (t) => {
    const secret = new Error('secret')
    const handles: Handler['handle'][] = [
      () => Promise.reject(secret),
      () => {
        throw secret
      },
      // What is no response of ours can't be written.
      async () => ({ body: '', status: 200, headers: new Map([['X', 'a\nb']]) }) as never,
    ]
    for (const [i, handle] of handles.entries()) {
      const told: unknown[] = []
      const report: Handler['report'] = (error, { request, status }) => {
        told.push(i < 2 ? error : (error as Error).name, request?.target, status)
      }
      const dispatcher = new TestAgent({ handle, report })
      t.after(() => dispatcher.close())
      const { statusCode, body } = await request('http://a/x', { dispatcher })
      assert.deepEqual([statusCode, await body.text()], [500, ''])
      assert.deepEqual(told, [i < 2 ? secret : 'TypeError', '/x', 500])
    }
  })

  it('ends the connection when a handler fails whose headers have left', async (t) => {
    const told = deferred<unknown>()
    const handler: Handler = {
      async handle() {
        const body = new Readable({ read() {} })
        body.once = () => {
          throw new Error('too late')
        }
        const response = new HttpResponse()
        response.body = body
        return response
      },
      report: told.resolve,
    }
    const sockets: Socket[] = []
    const server = createServer(createRequestListener(handler))
    const port = await listening(
      t,
      server.on('connection', (socket) => sockets.push(socket)),
    )
    const client = connect(port, '127.0.0.1').on('error', () => {})
    t.after(() => client.destroy())
    client.write(bytesOf({ target: '/' }))
    assert.equal(((await told.promise) as Error).message, 'too late')
    assert.deepEqual(
      sockets.map((socket) => socket.destroyed),
      [true],
    )
  })

  it('ends the connection under a body of objects, and nothing else', async (t) => {
    const reports: ErrorReport[] = []
    const front = frontOf(
      {
        objects(_, response) {
          response.body = Readable.from(['begun', { secret: 1 }, 'never'])
        },
        text: (_, response) => response.text('ok'),
      },
      { onReport: (report) => void reports.push(report) },
    )
    const port = await listening(t, createServer(createRequestListener(front)))
    const answer = await send(port, bytesOf({ target: '/app/objects' }))
    assert.doesNotMatch(answer, /never|\r\n0\r\n\r\n$/)
    assert.equal((await exchange(port, { target: '/app/text' })).body, 'ok')
    assert.deepEqual(
      reports.map(({ name, status, controller, action }) => [name, status, controller, action]),
      // The request is the one of the wire: it was never routed.
      [['TypeError', 500, 'app', 'objects']],
    )
  })

  it('lets no listeners pile up on a connection that is kept alive', async (t) => {
    const sockets: Socket[] = []
    const port = await listening(
      t,
      createServer(
        createRequestListener(
          frontOf({
            text: ({ signal }, response) => response.text(String(signal.aborted)),
            stream(_, response) {
              response.body = Readable.from(['false'])
            },
          }),
        ),
      ).on('connection', (socket) => sockets.push(socket)),
    )
    const client = connect(port, '127.0.0.1').setEncoding('latin1')
    t.after(() => client.destroy())
    const counts = new Set<string>()
    for (let i = 0; i < 20; i++) {
      const target = i % 2 === 0 ? '/app/text' : '/app/stream'
      client.write(bytesOf({ target }).replace('Connection: close\r\n', ''))
      for (let answer = ''; !/false(\r\n0\r\n\r\n)?$/.test(answer); ) {
        answer += (await once(client, 'data'))[0]
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

  it('tells of a stream that fails under way, and not of a client that leaves', async (t) => {
    const reports: ErrorReport[] = []
    const closed = deferred()
    const front = frontOf(
      {
        fails(_, response) {
          response.body = Readable.from(
            (async function* () {
              yield 'begun'
              throw new RangeError('no more')
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
      },
      { onReport: (report) => void reports.push(report) },
    )
    const port = await listening(t, createServer(createRequestListener(front)))
    const client = connect(port, '127.0.0.1').on('error', () => {})
    client.write(bytesOf({ target: '/app/endless' }))
    await once(client, 'data')
    client.destroy()
    await closed.promise
    await exchange(port, { target: '/app/fails' })
    assert.deepEqual(
      reports.map(({ name, status }) => [name, status]),
      [['RangeError', 500]],
    )
  })

  it('tells of every request, and how it was answered, when the answer is out', async (t) => {
    const told: Access[] = []
    const front = frontOf({
      text: (_, response) => response.text('grün'),
      stream(_, response) {
        response.body = Readable.from(['ab', 'c'])
      },
      nothing: (_, response) => {
        response.status = 204
      },
    })
    const onAccess = (access: Access): void => void told.push(access)
    const port = await listening(t, createServer(createRequestListener(front, { onAccess })))
    const before = performance.now()
    for (const target of ['/app/text', '/app/stream', '/app/nothing']) {
      await exchange(port, { target })
    }
    const { body } = await exchange(port, { method: 'PUT', target: '/nope' })
    assert.deepEqual(
      told.map(({ method, response, bytes }) => [
        method,
        response.status,
        response.request?.controller,
        response.request?.action,
        bytes,
      ]),
      [
        ['GET', 200, 'app', 'text', 5],
        ['GET', 200, 'app', 'stream', 3],
        ['GET', 204, 'app', 'nothing', 0],
        ['PUT', 404, 'nope', 'index', body.length],
      ],
    )
    for (const { durationMs } of told) {
      assert.ok(durationMs > 0 && durationMs <= performance.now() - before)
    }
  })

  it('says Connection: close when the server is about to stop, on the last answer alone', async (t) => {
    const form = [['Content-Type', 'application/x-www-form-urlencoded']] as const
    for (const request of [{}, { method: 'POST', body: 'a=1', headers: form }]) {
      let closing = false
      const front = frontOf({
        stop(_, response) {
          closing = true
          response.text('stop')
        },
        text: (_, response) => response.text('text'),
      })
      const listener = createRequestListener(front, { closing: () => closing })
      const port = await listening(t, createServer(listener))
      const bytes = ['/app/text', '/app/stop', '/app/text'].map((target) =>
        bytesOf({ target, ...request }).replace('Connection: close\r\n', ''),
      )
      const answers = await send(port, bytes.join(''))
      const connections = [...answers.matchAll(/\r\nConnection: (\S+)/g)].map(([, value]) => value)
      assert.deepEqual(connections, ['keep-alive', 'keep-alive', 'close'])
      assert.match(answers, /text$/)
    }
  })

  it('reads on after a time, so that the rest of a request does not come too late', async (t) => {
    const released = deferred()
    const read = deferred()
    let requests = 0
    const front = frontOf({
      async wait(_, response) {
        await released.promise
        response.text('ok')
      },
    })
    const server = createServer(createRequestListener(front, { maxPauseMs: 20 }))
    server.on('request', () => {
      if (++requests === 10_000) read.resolve()
    })
    const port = await listening(t, server)
    const bytes = 'GET /app/wait HTTP/1.1\r\nHost: a\r\n\r\n'
    const answers = send(port, bytes.repeat(9_999) + closing(bytes))
    await read.promise
    released.resolve()
    assert.equal((await answers).match(/ 200 OK/g)?.length, 10_000)
  })

  it('speaks to a client of HTTP/1.0', async (t) => {
    const port = await serving(t, {
      stream(_, response) {
        response.body = Readable.from(['a', 'b'])
      },
    })
    const answer = parse(await send(port, 'GET /app/stream HTTP/1.0\r\n\r\n'))
    assert.equal(answer.headers['transfer-encoding'], undefined)
    assert.equal(answer.body, 'ab')
  })

  it('reads one path from any target: q is what was routed, decoded once', async (t) => {
    const told = new Map<string, HttpRequest>()
    const error: Action = (request, response) => {
      if (request.errorHandler) told.set(request.target, request.errorHandler.request)
      response.text('')
    }
    const front = new FrontController({ controllers: new Map([['error', { error }]]) })
    const port = await listening(t, createServer(createRequestListener(front)))
    for (const target of targets) {
      await exchange(port, { target })
      const request = told.get(target)
      // What node:http itself refuses never becomes a request.
      if (request === undefined) continue
      const { path, q, controller, action } = request
      if (q !== path) assert.equal(q, decodeURIComponent(path), target)
      assert.doesNotMatch(q, /\p{Cc}/u, target)
      const names = path.split('/').filter((segment) => segment !== '')
      assert.equal(controller, names[0] ?? 'index', target)
      if (!path.includes(`${controller}//`)) assert.equal(action, names[1] ?? 'index', target)
    }
    assert.ok(told.size > targets.length / 2)
  })
})

// biome-ignore format: a table
const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n'

const closing = (bytes: string): string => bytes.replace('\r\n', '\r\nConnection: close\r\n')

const targets = [
  '/',
  '//',
  '///',
  '/a',
  '//a',
  '/a/',
  '/a//',
  '/a//b',
  '/a/b/../c',
  '/./a',
  '/../a',
  '/a/%2e%2e/b',
  '/%2fa',
  '/a%2fb',
  '/a%5cb',
  '/a\\b',
  '/a;x=1',
  '/a%3fb',
  '/a?b?c',
  '/a??b',
  '/a%23b',
  '/a#b',
  '/a#?b',
  '/a%00',
  '/a%0d%0aX:%20y',
  '/%',
  '/%zz',
  '/%c3%28',
  '/%e2%80%a8',
  '/%c2%85',
  '/caf%C3%A9',
  '/café',
  'http://a/b',
  'HTTP://a/b',
  'http://a',
  'http://a?b',
  'http://a//b',
  '//a.example/b',
  '*',
  'a',
  '',
  'a:80',
  '/http://a/b',
  '/a?http://b/c',
  '/%68%74',
  '/A',
  '/a.b',
  '/a+b',
  '/a%2Bb',
  '/0',
  '/0/0',
  '/-',
  '/_',
  '/~',
  '/__proto__',
  '/constructor/toString',
  '/a|b',
  '/a"b',
  '/a<b>',
  '/a^b',
  '/{a}',
  '/a`b',
  '/a\tb',
  '/a b',
  `/${'a'.repeat(4000)}`,
  `/${'/'.repeat(4000)}a`,
  `/${'%41'.repeat(1000)}`,
]

/** Asks for an action by its name, without a port. */
function asking(t: TestContext, actions: Record<string, Action>) {
  const dispatcher = new TestAgent(frontOf(actions))
  t.after(() => dispatcher.close())
  return (action: string, options: Partial<Dispatcher.RequestOptions> = {}) =>
    request(`http://a/app/${action}`, { ...options, dispatcher })
}

async function serving(t: TestContext, actions: Record<string, Action>): Promise<number> {
  return listening(t, createServer(createRequestListener(frontOf(actions))))
}

function frontOf(
  actions: Record<string, Action>,
  options: FrontControllerOptions = {},
): FrontController {
  return new FrontController({ controllers: new Map([['app', actions]]), ...options })
}

function withoutDate(headers: string): string {
  return headers.replace(/\r\nDate: [^\r]*/, '')
}

// Waits until a count stands still for a while of turns of the event loop.
async function settled(count: () => number): Promise<void> {
  for (let last = -1; last !== count(); ) {
    last = count()
    for (let turn = 0; turn < 2_000; turn++) await new Promise(setImmediate)
  }
}
