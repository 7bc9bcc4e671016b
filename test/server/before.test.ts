import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import compression from 'compression'
import helmet from 'helmet'
import { fetch, request } from 'undici'
import {
  type Access,
  type BeforeMiddleware,
  createMiddleware,
  createRequestListener,
  type ErrorReport,
  type HttpRequest,
  HttpResponse,
  type ServeOptions,
  serve,
} from '../../lib/index.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'
import { bytesOf, exchange, parse, send } from '../support/http.ts'
import { startServing } from '../support/serving.ts'
import {
  type Actions,
  keepAliveBytesOf,
  serveActions,
  splitResponses,
  withClose,
} from '../support/wire.ts'

type Before = NonNullable<ServeOptions['before']>

const LONG = 'a long text '.repeat(1_000)
const actions: Actions = {
  short: (_, response) => response.text('short'),
  long: (_, response) => response.text(LONG),
  stream: (_, response) => {
    response.headers.set('Content-Type', 'text/plain')
    response.body = Readable.from(Array.from({ length: 1_000 }, () => 'a long text '))
  },
  fail: () => {
    throw new Error('failed')
  },
}
const packages: Before = [helmet(), compression()]

describe('The option "before"', () => {
  it('runs middlewares in order in front of the handler', async (t) => {
    const calls: string[] = []
    const note =
      (name: string): Before[number] =>
      (_, out, next) => {
        calls.push(name)
        out.setHeader(`X-${name}`, '1')
        setImmediate(next)
      }
    const { port } = await serveActions(t, actions, { before: [note('One'), note('Two')] })
    const { status, headers, body } = await exchange(port, { target: '/app/short' })
    assert.deepEqual([status, body, calls], [200, 'short', ['One', 'Two']])
    assert.deepEqual([headers['x-one'], headers['x-two']], ['1', '1'])
  })

  it('removes a cookie that a middleware has set from an error', async (t) => {
    for (const [value, cookies] of [
      ['k7rq9 zM2x4v', 'sid=k7rq9 zM2x4v; Path=/'],
      ['k7rq9 zM2x4v', ['a=1', 'sid=k7rq9%20zM2x4v; HttpOnly']],
      ['a|b7c', ['pin=a|b7c; Path=/']],
    ] as const) {
      const middleware: Before[number] = (_, out, next) => {
        out.setHeader('Set-Cookie', cookies)
        next()
      }
      const { port, reports } = await serveActions(
        t,
        {
          fail() {
            throw new Error(`No session ${value}`)
          },
        },
        { before: [middleware] },
      )
      await exchange(port, { target: '/app/fail' })
      assert.deepEqual(
        reports.map(({ message }) => message),
        ['No session [header]'],
      )
    }
  })

  for (const when of ['while the response is sent', 'after next()']) {
    it(`removes the values of the form from an error ${when}, and names the action`, async (t) => {
      const reported = deferred<ErrorReport>()
      let user: string | undefined
      const save = (request: HttpRequest): void => {
        user = String(request.param('user'))
      }
      const front = createFront({ login: { save } }, { onReport: reported.resolve })
      const middleware: Before[number] = async (_, out, next) => {
        const sent = once(out, 'finish')
        if (when !== 'after next()') {
          const { writeHead } = out
          out.writeHead = () => {
            out.writeHead = writeHead
            throw new Error(`no entry for ${user}`)
          }
        }
        next()
        await sent
        if (when === 'after next()') throw new Error(`no entry for ${user}`)
      }
      const { url } = await startServing(t, front, { before: [middleware] })
      await fetch(`${url}/login/save`, {
        method: 'POST',
        body: new URLSearchParams({ user: 'c4n4ry-Token' }),
      })
      const { message, controller, action } = await reported.promise
      assert.deepEqual([message, controller, action], ['no entry for [user]', 'login', 'save'])
    })
  }

  it('ends a request that a middleware responds to, and records its access', async (t) => {
    const accesses: Access[] = []
    let runs = 0
    const { port } = await serveActions(
      t,
      { run: () => void runs++ },
      {
        before: [
          (_, out, next) => {
            out.writeHead(401, { 'Content-Length': 2 }).end('no')
            // A second response would destroy the connection.
            next()
          },
        ],
        onAccess: (access) => void accesses.push(access),
      },
    )
    const { status, body } = await exchange(port, { target: '/app/run' })
    assert.deepEqual([status, body, runs], [401, 'no', 0])
    assert.deepEqual(
      accesses.map(({ method, response }) => [method, response.status]),
      [['GET', 401]],
    )
  })

  it('records one access for a request that it passes on', async (t) => {
    const accesses: Access[] = []
    for (const before of [
      [(_, __, next) => next()],
      [(_, __, next) => setImmediate(next)],
    ] as Before[]) {
      const options = { before, onAccess: (access: Access) => void accesses.push(access) }
      const { port } = await serveActions(t, actions, options)
      await exchange(port, { target: '/app/short' })
    }
    assert.deepEqual(
      accesses.map(({ response, bytes }) => [response.status, bytes]),
      [
        [200, 5],
        [200, 5],
      ],
    )
  })

  it('records one access for a request whose client leaves while a middleware waits', async (t) => {
    const accesses: Access[] = []
    const [arrived, passed] = [deferred(), deferred()]
    const { port } = await serveActions(t, actions, {
      before: [
        (message, __, next) => {
          arrived.resolve()
          message.socket.once('close', () =>
            setImmediate(() => {
              next()
              passed.resolve()
            }),
          )
        },
      ],
      onAccess: (access) => void accesses.push(access),
    })
    const socket = connect(port, '127.0.0.1')
    socket.write(bytesOf({ target: '/app/short' }))
    await arrived.promise
    socket.resetAndDestroy()
    await passed.promise
    await new Promise(setImmediate)
    assert.deepEqual(
      accesses.map(({ response, bytes }) => [response.status, bytes]),
      [[400, 0]],
    )
  })

  const failures: [string, Before[number]][] = [
    ['next(error)', (_, __, next) => next(new Error('broken'))],
    [
      'a throw',
      () => {
        throw new Error('broken')
      },
    ],
    ['a rejection', async () => Promise.reject(new Error('broken'))],
    [
      'a rejection of another kind of promise',
      () => {
        const rejected = Promise.reject(new Error('broken'))
        return Object.fromEntries([['then', rejected.then.bind(rejected)]])
      },
    ],
    ['next(error) later', (_, __, next) => setImmediate(next, new Error('broken'))],
  ]
  for (const [what, failing] of failures) {
    it(`reports ${what}, and sends a 500 without a body`, async (t) => {
      const { port, reports } = await serveActions(t, actions, { before: [failing] })
      const { status, body } = await exchange(port, { target: '/app/short' })
      assert.deepEqual([status, body], [500, ''])
      assert.deepEqual(
        reports.map(({ name, status }) => [name, status]),
        [['Error', 500]],
      )
    })
  }

  it('only reports what a middleware writes after it has called next(), or behind the end of its response', async (t) => {
    for (const middleware of [
      (_, out, next) => {
        next()
        out.end('Unauthorized')
      },
      (_, out) => out.end('a').end('b'),
    ] satisfies Before) {
      const { port, reports } = await serveActions(t, actions, { before: [middleware] })
      const { status } = await exchange(port, { target: '/app/short' })
      assert.deepEqual(
        [status, ...reports.map(({ code }) => code)],
        [200, 'ERR_STREAM_WRITE_AFTER_END'],
      )
    }
  })

  it('only reports what a middleware throws after it has responded', async (t) => {
    const before: Before = [
      (_, out) => {
        out.setHeader('Content-Length', 4).end('done')
        throw new Error('late')
      },
    ]
    const { port, reports } = await serveActions(t, actions, { before })
    const { status, body } = await exchange(port, { target: '/app/short' })
    assert.deepEqual([status, body, reports.length], [200, 'done', 1])
  })

  it('may respond while the action runs: a stream of the action is then destroyed', async (t) => {
    const body = new PassThrough()
    const closed = once(body, 'close')
    const late: Actions = {
      stream: async (_, response) => {
        await setTimeout(20)
        body.write('late')
        response.body = body
      },
    }
    const before: Before = [
      (_, out, next) => {
        next()
        out.setHeader('Content-Length', 7).end('timeout')
      },
    ]
    const { port, reports } = await serveActions(t, late, { before })
    // The connection stays open.
    const response = await fetch(`http://127.0.0.1:${port}/app/stream`)
    assert.equal(await response.text(), 'timeout')
    await closed
    assert.equal(reports.length, 1)
  })

  // As on-headers before 1.1 does: that of compression before 1.8.1 and of morgan before 1.10.1.
  it('may replace writeHead() by a function that reads a list as pairs', async (t) => {
    const replaceHead: Before[number] = (_, out, next) => {
      const writeHead = out.writeHead.bind(out)
      out.writeHead = (status: number, fields: unknown) => {
        const pairs = Array.isArray(fields) ? fields : Object.entries(fields as object)
        for (const [name, value] of pairs) out.setHeader(name, value)
        return writeHead(status)
      }
      next()
    }
    const { port } = await serveActions(
      t,
      {
        list: (_, response) => {
          response.cookies.set('a', '1').set('b', '2')
          return response.text('list')
        },
      },
      { before: [replaceHead] },
    )
    const response = await fetch(`http://127.0.0.1:${port}/app/list`)
    const { headers } = response
    assert.deepEqual([await response.text(), headers.get('Content-Length')], ['list', '4'])
    assert.deepEqual(
      headers.getSetCookie().map((cookie) => cookie.slice(0, 3)),
      ['a=1', 'b=2'],
    )
  })

  it('may make the response impossible to send: the connection is closed', async (t) => {
    const obstacles: ((out: ServerResponse) => unknown)[] = [
      (out) => Object.assign(out, { statusMessage: 'not\none line' }),
      (out) => out.setHeader('Trailer', 'X-Sum'),
      (out) => {
        out.writeHead = () => assert.fail('replaced')
      },
    ]
    for (const obstacle of obstacles) {
      for (const name of ['short', 'later']) {
        const later: Actions[string] = async (_, response) => {
          await setTimeout(50)
          return response.text('later')
        }
        const { port, reports } = await serveActions(
          t,
          { ...actions, later },
          { before: [({ method }, out, next) => next(void (method === 'GET' && obstacle(out)))] },
        )
        assert.equal(await send(port, bytesOf({ target: `/app/${name}` })), '')
        assert.equal(reports.length, 1)
        // The response to the request before it is sent.
        const before = 'POST /app/later HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n'
        const received = await send(port, before + bytesOf({ target: `/app/${name}` }))
        assert.match(received, /^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nlater$/s)
      }
    }
  })

  for (const [what, chunks] of [
    ['a broken chunk', 'zz\r\n'],
    ['a trailer "Connection: close"', '0\r\nConnection: close\r\n\r\n'],
  ] as const) {
    it(`may respond after ${what}, and the connection is closed`, async (t) => {
      const { port } = await serveActions(t, actions, {
        before: [(_, out) => globalThis.setTimeout(() => out.end('late'), 20)],
      })
      const head = keepAliveBytesOf({
        method: 'POST',
        target: '/app/short',
        headers: [['Transfer-Encoding', 'chunked']],
      })
      // Returns when the server has closed the connection.
      const received = await send(port, `${head}${chunks}`)
      assert.match(received, /^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*Connection: close\r\n/)
      assert.match(received, /late$/)
    })
  }

  it('may end the connection at once: no request behind it runs', async (t) => {
    let calls = 0
    const { port } = await serveActions(t, actions, {
      before: [
        (_, out) => {
          calls++
          out.setHeader('Connection', 'close')
          out.end('x')
        },
      ],
    })
    await send(port, keepAliveBytesOf({ target: '/app/short' }).repeat(3))
    assert.equal(calls, 1)
  })

  it('may set Connection: close for the response of the action: no request behind it runs', async (t) => {
    let calls = 0
    const count: BeforeMiddleware = (_, out, next) => {
      calls++
      out.setHeader('Connection', 'close')
      next()
    }
    const { port } = await serveActions(t, actions, { before: [count] })
    const received = await send(port, keepAliveBytesOf({ target: '/app/short' }).repeat(3))
    assert.equal(received.match(/HTTP\/1\.1 200/g)?.length, 1)
    assert.equal(calls, 1)
  })

  it('may end the connection later: no request that arrives then runs, also behind another one', async (t) => {
    const targets: string[] = []
    const [started, arrived] = [deferred(), deferred()]
    const { port } = await serveActions(t, actions, {
      before: [
        async ({ url = '' }, out) => {
          targets.push(url)
          if (url !== '/first') {
            arrived.resolve()
            return out.end('x')
          }
          await arrived.promise
          out.setHeader('Connection', 'close')
          out.write('x')
          started.resolve()
          await setTimeout(50)
          return out.end('x')
        },
      ],
    })
    const socket = connect(port, '127.0.0.1')
    const received = text(socket)
    for (const target of ['/first', '/second']) socket.write(keepAliveBytesOf({ target }))
    await started.promise
    socket.write(keepAliveBytesOf({ target: '/third' }))
    await received
    assert.deepEqual(targets, ['/first', '/second'])
  })

  it('may be another front controller, also for the last request of a connection', async (t) => {
    const inner = createFront({
      app: { run: (_: HttpRequest, response: HttpResponse) => response.text('inner') },
    })
    const { port } = await serveActions(t, actions, { before: [createMiddleware(inner)] })
    const fields = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: other'
    const received = await send(port, `GET /app/run HTTP/1.1\r\n${fields}\r\n\r\n`)
    assert.match(received, /^HTTP\/1\.1 200 OK\r\n.*\r\n\r\ninner$/s)
  })

  it('may be another front controller, also for requests with a body', {
    timeout: 5_000,
  }, async (t) => {
    const inner = createFront({
      app: { run: ({ form }: HttpRequest, response: HttpResponse) => response.text(`${form}`) },
    })
    // Slow, so that the requests behind one arrive before the inner listener gets it.
    const wait: Before[number] = (_, __, next) => void globalThis.setTimeout(next, 5)
    const { port } = await serveActions(t, actions, { before: [wait, createMiddleware(inner)] })
    const fields = 'Host: a\r\nContent-Type: application/x-www-form-urlencoded\r\n'
    const posts = ['a', 'b', 'c'].map((name) => {
      const close = name === 'c' ? 'Connection: close\r\n' : ''
      return `POST /app/run HTTP/1.1\r\n${fields}${close}Content-Length: 3\r\n\r\n${name}=1`
    })
    const received = splitResponses(await send(port, posts.join('')))
    assert.deepEqual(
      received.map((response) => parse(response).body),
      ['a=1', 'b=1', 'c=1'],
    )
  })

  it('may be another front controller, also for a client that waits for a 100 (Continue)', {
    timeout: 5_000,
  }, async (t) => {
    const inner = createFront({
      app: { read: ({ form }: HttpRequest, response: HttpResponse) => response.text(`${form}`) },
    })
    const { port } = await serveActions(t, {}, { before: [createMiddleware(inner)] })
    const [type, body] = ['application/x-www-form-urlencoded', 'a=b']
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST /app/read HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Type: ${type}\r\nContent-Length: 3\r\n\r\n`,
    )
    const [first] = (await once(socket, 'data')) as [Buffer]
    assert.match(String(first), /^HTTP\/1\.1 100 Continue\r\n\r\n$/)
    socket.write(body)
    assert.match(await text(socket), /^HTTP\/1\.1 200 .*a=b$/s)
  })

  it('does not run for a message that is rejected for its framing', async (t) => {
    let runs = 0
    const before: Before = [(_, out) => out.end(String(runs++))]
    const { port } = await serveActions(t, actions, { before })
    const { status } = await exchange(port, { target: '/', headers: [['Host', 'b']] })
    assert.deepEqual([status, runs], [400, 0])
  })

  it('rejects a value that is not a list of functions', async () => {
    const front = createFront({})
    for (const before of [helmet(), [1], 'x'] as never[]) {
      assert.throws(() => createRequestListener(front, { before }), /^TypeError: Expected "before"/)
      await assert.rejects(serve(front, { port: 0, before }), /^TypeError: Expected "before"/)
    }
  })
})

describe('helmet() and compression() in front of actions', () => {
  it('compress the body of an action, and of a stream', async (t) => {
    const { port } = await serveActions(t, actions, { before: packages })
    for (const action of ['long', 'stream']) {
      for (const [encoding, decompress] of [
        ['gzip', gunzipSync],
        ['br', brotliDecompressSync],
      ] as const) {
        const headers = { 'Accept-Encoding': encoding }
        const url = `http://127.0.0.1:${port}/app/${action}`
        const response = await request(url, { headers })
        const bytes = Buffer.from(await response.body.arrayBuffer())
        assert.equal(response.headers['content-encoding'], encoding)
        assert.equal(response.headers['content-length'], undefined)
        assert.equal(response.headers.vary, 'Accept-Encoding')
        assert.equal(response.headers['x-frame-options'], 'SAMEORIGIN')
        assert.ok(bytes.length < 1_000)
        assert.equal(decompress(bytes).toString(), LONG)
      }
    }
  })

  it('lose no response to a client that sends a long body which nothing reads', async (t) => {
    const { port } = await serveActions(t, actions, { before: packages })
    const fields = `Accept-Encoding: gzip\r\nContent-Length: ${640 * 65_536}\r\n`
    const closing = `${fields}Connection: close\r\n`
    const clients = Array.from({ length: 8 }, async (_, i) => {
      const socket = connect(port, '127.0.0.1').setEncoding('latin1')
      let received = ''
      socket.on('data', (data) => {
        received += data
      })
      socket.write(`POST /app/long HTTP/1.1\r\nHost: a\r\n${i % 2 ? closing : fields}\r\n`)
      const upload = Readable.from(Array(640).fill(Buffer.alloc(65_536)))
      upload.pipe(socket, { end: false })
      await Promise.race([once(socket, 'end'), once(socket, 'close')])
      socket.destroy()
      assert.match(received, /^HTTP\/1\.1 200 OK\r\n.*\r\n0\r\n\r\n$/s)
    })
    await Promise.all(clients)
  })

  it('leave short bodies, HEAD and clients without an encoding as they are', async (t) => {
    const { port } = await serveActions(t, actions, { before: packages })
    const gzip: [string, string][] = [['Accept-Encoding', 'gzip']]
    const short = await exchange(port, { target: '/app/short', headers: gzip })
    assert.deepEqual([short.body, short.headers['content-length']], ['short', '5'])
    const head = await exchange(port, { method: 'HEAD', target: '/app/long', headers: gzip })
    assert.deepEqual([head.status, head.body], [200, ''])
    assert.equal(head.headers['content-length'], String(LONG.length))
    const plain = await exchange(port, { target: '/app/long' })
    assert.equal(plain.body, LONG)
    assert.equal(plain.headers['content-length'], String(LONG.length))
  })

  it('add their headers to the pages of errors', async (t) => {
    const { port, reports } = await serveActions(t, actions, { before: packages })
    for (const [target, expected] of [
      ['/app/fail', 500],
      ['/none', 404],
    ] as const) {
      const { status, headers } = await exchange(port, { target })
      assert.equal(status, expected)
      assert.equal(headers['x-content-type-options'], 'nosniff')
    }
    assert.equal(reports.length, 2)
  })

  it('leave the headers of an action in place, also several of one name', async (t) => {
    const cookies: Actions = {
      set: (_, response) => {
        response.headers.set('X-Frame-Options', 'DENY').set('Set-Cookie', ['a=1', 'b=2'])
        response.text(LONG)
      },
    }
    for (const before of [packages, [helmet()]]) {
      const { port } = await serveActions(t, cookies, { before })
      const { rawHeaders } = await exchange(port, { target: '/app/set' })
      assert.deepEqual(rawHeaders.match(/^(?:X-Frame-Options|Set-Cookie): .*$/gim)?.sort(), [
        'Set-Cookie: a=1',
        'Set-Cookie: b=2',
        'X-Frame-Options: DENY',
      ])
    }
  })

  it('add to Vary, to which an action and an error page add too', async (t) => {
    const before: Before = [
      (_, response, next) => {
        // As cors() does for an origin that it allows.
        response.setHeader('Vary', 'Origin')
        next()
      },
    ]
    const negotiated: Actions = {
      chosen: (request, response) => response.text(String(request.accepts(['text/plain']))),
      plain: (_, response) => response.text('plain'),
    }
    const { port } = await serveActions(t, negotiated, { before })
    const reused = new HttpResponse().text('reused').vary('Accept')
    const served = await startServing(t, { handle: async () => reused }, { before })
    for (let i = 0; i < 2; i++) {
      assert.equal((await exchange(served.port, { target: '/' })).headers.vary, 'Origin, Accept')
    }
    for (const [action, expected] of [
      ['chosen', 'Origin, Accept'],
      ['plain', 'Origin'],
      ['missing', 'Origin, Accept'],
    ]) {
      const { headers } = await exchange(port, { target: `/app/${action}` })
      assert.equal(headers.vary, expected)
    }
  })

  it('keep a connection, and the order of pipelined requests', async (t) => {
    const slowFirst: Before[number] = ({ url }, _, next) =>
      url === '/app/long' ? void setTimeout(10).then(() => next()) : next()
    const { port } = await serveActions(t, actions, { before: [slowFirst, ...packages] })
    const socket = connect(port, '127.0.0.1')
    const bytes = ['long', 'short', 'fail', 'short'].map((action) =>
      keepAliveBytesOf({ target: `/app/${action}` }),
    )
    socket.write(bytes.slice(0, 3).join('') + withClose(bytes[3] ?? ''))
    const received = await text(socket)
    const statuses = received.match(/HTTP\/1\.1 \d+/g)
    assert.deepEqual(statuses, ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 500', 'HTTP/1.1 200'])
    assert.ok(received.indexOf(LONG) < received.indexOf('\r\n\r\nshort'))
  })

  it('let the drain complete a compressed response in flight', async (t) => {
    const started = deferred<void>()
    const released = deferred<void>()
    const slow: Actions = {
      slow: async (_, response) => {
        started.resolve()
        await released.promise
        response.text(LONG)
      },
    }
    const { port, service } = await serveActions(t, slow, { before: packages })
    const response = fetch(`http://127.0.0.1:${port}/app/slow`)
    await started.promise
    const closing = service.close()
    released.resolve()
    const { headers, text: read } = await response.then(async (r) => ({
      headers: r.headers,
      text: await r.text(),
    }))
    assert.deepEqual([headers.get('content-encoding') !== null, read], [true, LONG])
    assert.equal(headers.get('connection'), 'close')
    assert.equal((await closing).actions, 0)
  })
})
