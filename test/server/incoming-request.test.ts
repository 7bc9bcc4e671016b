import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as httpRequest, IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { finished, pipeline } from 'node:stream/promises'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { inspect } from 'node:util'
import {
  type Action,
  createMiddleware,
  createRequestListener,
  HttpRequest,
  incomingMessageOf,
} from '../../lib/index.ts'
import { connectionOf } from '../../lib/server/connection.ts'
import { collectReports } from '../support/collectors.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'
import { bytesOf, exchange, listening, parse, send } from '../support/http.ts'
import { startServing } from '../support/serving.ts'
import {
  keepAliveBytesOf,
  listenWithActions,
  sendInPieces,
  serveActions,
  splitResponses,
  withClose,
} from '../support/wire.ts'

const form = 'Content-Type: application/x-www-form-urlencoded\r\n'
const post = (action: string, fields: string): string =>
  `POST /app/${action} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`

describe('IncomingRequest.body', () => {
  it('sends a 100 (Continue) only when the body is requested', async (t) => {
    const { port } = await serveActions(t, {
      form: (request, response) => response.text(`${request.form}`),
      ignores: (_, response) => response.text('ok'),
    })
    const expects = `Expect: 100-continue\r\n${form}Content-Length: 3\r\n`
    const closing = `Connection: close\r\n${expects}`
    const continued = await send(port, `${post('form', closing)}a=1`)
    assert.match(continued, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n.*a=1$/s)
    for (const [bytes, expected] of [
      [post('form', expects.replace('3', '3000000')), 413],
      [post('form', expects.replace('Content-Length', 'Content-Encoding: gzip\r\n$&')), 415],
      [post('form', expects.replace('Host: a', '')).replace('Host: a\r\n', ''), 400],
      [post('ignores', expects.replace(form, '')), 200],
    ] as const) {
      const { status, headers } = parse(await send(port, bytes))
      assert.deepEqual([status, headers.connection], [expected, 'close'])
    }
  })

  it('sends a 100 (Continue) in front of the head, also behind another response', async (t) => {
    const { port } = await serveActions(t, {
      async slow(_, response) {
        await sleep(20)
        response.text('slow')
      },
      async bytes(request, response) {
        await text(request.body)
        response.body = Buffer.from('bytes')
      },
      async ignores(_, response) {
        await sleep(5)
        response.body = Buffer.from('bytes')
      },
    })
    for (const action of ['bytes', 'ignores']) {
      const expects = post(
        action,
        'Connection: close\r\nExpect: 100-continue\r\nContent-Length: 3\r\n',
      )
      const received = await send(port, `${keepAliveBytesOf({ target: '/app/slow' })}${expects}abc`)
      assert.match(
        received,
        /slowHTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n.*\r\n\r\nbytes$/s,
      )
    }
  })

  it('sends no head alone behind a 100 (Continue)', async (t) => {
    const { port, service } = await serveActions(t, {
      form: (request, response) => response.text(`${request.form}`),
    })
    let flushes = 0
    service.server.prependListener('checkContinue', (_, out) => {
      out.flushHeaders = () => flushes++
    })
    const expects = `Connection: close\r\nExpect: 100-continue\r\n${form}Content-Length: 3\r\n`
    assert.match(await send(port, `${post('form', expects)}a=1`), / 100 Continue.*a=1$/s)
    assert.equal(flushes, 0)
  })

  it('sends no 100 (Continue) behind the head of a response that streams while it reads the body', async (t) => {
    const { port, reports } = await serveActions(t, {
      stream(request, response) {
        response.headers.set('Content-Length', 10)
        response.body = Readable.from(
          (async function* () {
            yield 'first '
            await new Promise(setImmediate)
            yield await text(request.body)
          })(),
        )
      },
    })
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', (bytes) => {
      if (received === '') socket.write('sent')
      received += bytes
    })
    const expects = 'Connection: close\r\nExpect: 100-continue\r\nContent-Length: 4\r\n'
    socket.write(post('stream', expects))
    await once(socket, 'close')
    const { status, body } = parse(received)
    assert.deepEqual([status, body, reports], [200, 'first sent', []])
  })

  it('may be the body of the response of an asynchronous action, also without a byte', async (t) => {
    const { port, reports } = await serveActions(t, {
      async echo(request, response) {
        response.body = request.body
      },
    })
    for (const [fields, body] of [
      ['', ''],
      ['Content-Length: 0\r\n', ''],
      ['Transfer-Encoding: chunked\r\n', '0\r\n\r\n'],
      ['Expect: 100-continue\r\nContent-Length: 0\r\n', ''],
    ]) {
      const received = await send(port, post('echo', `Connection: close\r\n${fields}`) + body)
      assert.match(received, /HTTP\/1\.1 200 OK\r\n.*\r\n\r\n(?:0\r\n\r\n)?$/s, fields)
    }
    assert.deepEqual(reports, [])
  })

  it('reads all chunks that have arrived before the body is requested', async (t) => {
    const { port } = await serveActions(t, {
      async body(request, response) {
        const message = incomingMessageOf(request)
        while (message?.complete === false) await new Promise(setImmediate)
        response.text(await text(request.body))
      },
    })
    const fields = 'Connection: close\r\nTransfer-Encoding: chunked\r\n'
    const received = await send(
      port,
      `${post('body', fields)}1\r\na\r\n2\r\nbc\r\n1\r\nd\r\n0\r\n\r\n`,
    )
    assert.equal(parse(received).body, 'abcd')
  })

  it('reads a body that arrives with the headers, in pieces, or with the next request', async (t) => {
    const { port } = await serveActions(t, {
      form: (request, response) => response.text(`${request.form}`),
      body: async (request, response) => response.text(await text(request.body)),
    })
    const sized = (fields: string): string => `${fields}Content-Length: 7\r\n`
    const chunked = (fields: string): string => `${fields}Transfer-Encoding: chunked\r\n`
    for (const [head, body] of [
      [post('form', sized(form)), 'a=1&b=2'],
      [post('form', chunked(form)), '3\r\na=1\r\n4\r\n&b=2\r\n0\r\n\r\n'],
      [post('body', sized('')), 'a=1&b=2'],
      [post('body', chunked('')), '3\r\na=1\r\n4\r\n&b=2\r\n0\r\n\r\n'],
    ] as const) {
      const last = `${withClose(head)}${body}`
      for (const pieces of [
        [`${head}${body}${last}`],
        [`${head}${body}`, last],
        [head, `${body}${last}`],
        [head, body.slice(0, 5), body.slice(5), last],
        [`${head}${body.slice(0, 5)}`, `${body.slice(5)}${last}`],
        [...`${head}${body}`, last],
      ]) {
        const responses = splitResponses(await sendInPieces(port, pieces)).map(parse)
        assert.deepEqual(
          responses.map(({ status, headers, body }) => [status, headers.connection, body]),
          [
            [200, 'keep-alive', 'a=1&b=2'],
            [200, 'close', 'a=1&b=2'],
          ],
          `${pieces.length} pieces of ${head}`,
        )
      }
    }
  })

  it('can be read once, also after the action has waited for the end of the message', async (t) => {
    const { port } = await serveActions(t, {
      async form(request, response) {
        const message = incomingMessageOf(request)
        if (message !== undefined) await finished(message)
        response.text(`${request.form}`)
      },
      async twice(request, response) {
        const first = await text(request.body)
        const second = text(request.body).catch(({ message }: Error) => message)
        response.text(`${first}|${await second}`)
      },
    })
    for (const [head, body] of [
      [post('form', `${form}Content-Length: 3\r\nConnection: close\r\n`), 'a=1'],
      [
        post('twice', `Content-Length: 3\r\nConnection: close\r\n`),
        'a=1|The body has already been read: keep the result of the first read',
      ],
    ] as const) {
      for (const pieces of [[`${head}a=1`], [head, 'a=1']]) {
        assert.equal(parse(await sendInPieces(port, pieces)).body, body, `${pieces}`)
      }
    }
  })

  it('is complete when malformed bytes follow it', async (t) => {
    const { port } = await serveActions(t, {
      async late(request, response) {
        await sleep(20)
        response.text(await text(request.body))
      },
    })
    const received = await send(port, `${post('late', 'Content-Length: 3\r\n')}a=1no request`)
    const [first = '', second = ''] = received.split(/(?=HTTP\/1\.1 400 )/)
    assert.deepEqual([parse(first).body, parse(second).status], ['a=1', 400])
  })

  it('is not kept after the response if the action has left it before its end', async (t) => {
    const [isLeft, isWhole] = [deferred(), deferred()]
    let message: IncomingMessage | undefined
    const { port } = await serveActions(t, {
      async run(request, response) {
        for await (const _ of request.body) break
        isLeft.resolve()
        await isWhole.promise
        message = incomingMessageOf(request)
        response.text('left')
      },
    })
    const client = connect(port, '127.0.0.1')
    t.after(() => void client.destroy())
    client.write(`${post('run', 'Content-Length: 5000\r\n')}1`)
    await isLeft.promise
    client.write('2'.repeat(4_999))
    await sleep(50)
    isWhole.resolve()
    await once(client, 'data')
    await new Promise(setImmediate)
    assert.deepEqual([message?.complete, message?.readableEnded], [true, true])
  })

  it('has the bytes of a form as they were sent, and those of any other type', async (t) => {
    const { port } = await listenWithActions(t, {
      async echo(request, response) {
        const chunks: Buffer[] = []
        for await (const chunk of request.body) chunks.push(chunk)
        response.text(`${Buffer.concat(chunks)}|${request.form}`)
      },
    })
    const target = '/app/echo'
    const json = await exchange(port, { method: 'POST', target, body: '{"a":1}' })
    assert.equal(json.body, '{"a":1}|')
    const headers = [['Content-Type', 'application/x-www-form-urlencoded']] as const
    const urlencoded = await exchange(port, { method: 'POST', target, headers, body: 'a=%31' })
    assert.equal(urlencoded.body, 'a=%31|a=1')
  })

  it('throws if a middleware has read it before, for a form and for an action', async (t) => {
    const { reports, onReport } = collectReports()
    const run = (request: HttpRequest): void => void request.body
    const front = createFront({ app: { run } }, { onReport })
    const listener = createRequestListener(front)
    const server = createServer((message, out) => {
      message.on('end', () => listener(message, out)).resume()
    })
    const port = await listening(t, server)
    for (const type of ['application/x-www-form-urlencoded', 'application/json']) {
      const { status } = await exchange(port, {
        method: 'POST',
        target: '/app/run',
        headers: [['Content-Type', type]],
        body: 'a=1',
      })
      assert.equal(status, 500)
    }
    const expected =
      'The body was read before the request arrived here: mount Portico before any body parser'
    assert.deepEqual(
      reports.map(({ message }) => message),
      [expected, expected],
    )
  })
})

describe('IncomingRequest.signal', () => {
  it('does not abort if it is first read after the response, and the connection has been closed', async (t) => {
    const signal = deferred<AbortSignal>()
    const { port } = await serveActions(t, {
      run(request, response) {
        incomingMessageOf(request)?.socket.once('close', () => signal.resolve(request.signal))
        return response.text('x')
      },
    })
    await exchange(port, { target: '/app/run' })
    assert.equal((await signal.promise).aborted, false)
  })

  it('aborts when the client leaves, also for a request behind another', async (t) => {
    const started = deferred()
    const aborted = deferred()
    const { port } = await listenWithActions(t, {
      first: () => aborted.promise,
      second(request) {
        request.signal.addEventListener('abort', () => aborted.resolve())
        started.resolve()
        return aborted.promise
      },
    })
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(keepAliveBytesOf({ target: '/app/first' }))
    socket.write(bytesOf({ target: '/app/second' }))
    await started.promise
    socket.destroy()
    await aborted.promise
  })

  it('has an error that is reported if a request fails with it whose client has not left', async (t) => {
    const [first, second] = [deferred(), deferred()]
    let shared: Promise<unknown> | undefined
    const { port, reports } = await serveActions(t, {
      async wait({ signal }) {
        const started = shared ? second : first
        shared ??= once(signal, 'abort').then(() => Promise.reject(signal.reason))
        started.resolve()
        await shared
      },
    })
    const socket = connect(port, '127.0.0.1')
    socket.write(bytesOf({ target: '/app/wait' }))
    await first.promise
    const other = exchange(port, { target: '/app/wait' })
    await second.promise
    socket.destroy()
    assert.equal((await other).status, 400)
    const messages = reports.map(({ message }) => message)
    assert.deepEqual(messages, ['The client has gone away'])
  })
})

describe('IncomingRequest.remoteAddress', () => {
  it('is known to each request that runs: one whose client has reset the connection at once does not', async (t) => {
    const addresses: string[] = []
    const { port } = await listenWithActions(t, {
      who({ client }, response) {
        addresses.push(client.address)
        return response.text('')
      },
    })
    for (let i = 0; i < 60; i++) {
      const client = connect(port, '127.0.0.1')
      await once(client, 'connect')
      // The parser emits the pipelined ones although the connection has been destroyed at the first one.
      const requests = keepAliveBytesOf({ target: '/app/who' }).repeat(1 + (i % 3))
      client.write(requests, () => client.resetAndDestroy())
      await once(client, 'close')
    }
    await exchange(port, { target: '/app/who' })
    assert.deepEqual(new Set(addresses), new Set(['127.0.0.1']))
  })

  it('is known after the client has reset its connection', async (t) => {
    const [started, left] = [deferred(), deferred<string>()]
    const { port } = await listenWithActions(t, {
      async wait(request) {
        started.resolve()
        await once(request.signal, 'abort')
        left.resolve(request.client.address)
      },
    })
    const client = connect(port, '127.0.0.1').on('error', () => {})
    client.write(bytesOf({ target: '/app/wait' }))
    await started.promise
    client.resetAndDestroy()
    assert.equal(await left.promise, '127.0.0.1')
  })
})

describe('The body of a client that leaves', () => {
  // An error without a listener would end the process, and so fail the test.
  for (const [how, leave] of [
    ['resets the connection', (client: Socket) => void client.resetAndDestroy()],
    ['closes it', (client: Socket) => void client.destroy()],
  ] as const) {
    it(`fails for a pipeline to a request with the signal, if the client ${how}`, async (t) => {
      const upstream = createServer((message) => void message.resume())
      const to = await listening(t, upstream)
      const [started, failed] = [deferred(), deferred<unknown>()]
      const { port, reports } = await listenWithActions(t, {
        async upload({ body, signal }) {
          const request = httpRequest({ port: to, method: 'POST', signal })
          request.once('socket', () => started.resolve())
          await pipeline(body, request).catch((error) => {
            failed.resolve(error)
            throw error
          })
        },
      })
      const client = connect(port, '127.0.0.1').on('error', () => {})
      client.write(`${post('upload', 'Content-Length: 9\r\n')}a=1`)
      await started.promise
      await sleep(20)
      leave(client)
      await failed.promise
      // The message emits its error some ticks later.
      await sleep(20)
      assert.deepEqual(reports, [])
    })
  }
})

describe('IncomingRequest.aborted', () => {
  it('is true if the client leaves within the message, also behind a response that waits', async (t) => {
    const [started, finish] = [deferred(), deferred()]
    const { port, reports } = await serveActions(t, {
      async slow() {
        started.resolve()
        await finish.promise
      },
      async read({ body }) {
        await text(body).finally(finish.resolve)
      },
    })
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    const post = bytesOf({ method: 'POST', target: '/app/read', body: 'all or a part' })
    socket.write(keepAliveBytesOf({ target: '/app/slow' }) + post.replace(' or a part', ''))
    await started.promise
    socket.end()
    await once(socket.resume(), 'close')
    assert.deepEqual(reports, [])
  })

  it('is false if the client leaves after its response: an AbortError of later work is reported', async (t) => {
    const { reports, onReport } = collectReports()
    const failed = deferred()
    const run: Action = (request, response) => {
      incomingMessageOf(request)?.socket.once('close', () => {
        front.report(new DOMException('x', 'AbortError'), { request })
        failed.resolve()
      })
      return response.text('x')
    }
    const front = createFront({ app: { run } }, { onReport })
    const { port } = await startServing(t, front)
    await exchange(port, { target: '/app/run' })
    await failed.promise
    assert.deepEqual(
      reports.map(({ name }) => name),
      ['AbortError'],
    )
  })
})

describe('IncomingRequest.remoteAddress', () => {
  it('is the address of the client', async (t) => {
    const { port } = await serveActions(t, {
      who: ({ client }, response) => response.text(client.address),
    })
    assert.equal((await exchange(port, { target: '/app/who' })).body, '127.0.0.1')
  })
})

describe('IncomingRequest.protocol', () => {
  // With a pre-shared key, TLS needs no certificate.
  const key = { psk: Buffer.from('key'), identity: 'test' }
  const tls = { ciphers: 'PSK-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' } as const

  it('is https on a server with TLS, for the action and for the router', async (t) => {
    const routed: string[] = []
    const router = {
      route({ client }: HttpRequest) {
        routed.push(client.protocol)
        return { module: 'default', controller: 'app', action: 'who' }
      },
    }
    const who: Action = ({ client }, response) => response.json(client)
    const front = createFront({ app: { who } }, { router, trustProxy: ['127.0.0.1'] })
    const middleware = createMiddleware(front, { fallThrough: true })
    const server = createTlsServer({ ...tls, pskCallback: () => key.psk }, (message, out) =>
      middleware(message, out, () => assert.fail()),
    )
    const port = await listening(t, server)
    for (const [field, protocol] of [
      ['X: a', 'https'],
      ['X-Forwarded-For: 6.6.6.6', 'https'],
      ['X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: http', 'http'],
    ] as const) {
      const checkServerIdentity = (): undefined => undefined
      const socket = connectTls({ ...tls, port, pskCallback: () => key, checkServerIdentity })
      socket.write(withClose(`GET / HTTP/1.1\r\nHost: a\r\n${field}\r\n\r\n`))
      assert.equal(JSON.parse(parse(await text(socket)).body).protocol, protocol)
    }
    assert.deepEqual([...new Set(routed)], ['https', 'http'])
  })

  it('is http on a server without TLS', async (t) => {
    const { port } = await serveActions(t, {
      who: ({ client }, response) => response.text(client.protocol),
    })
    assert.equal((await exchange(port, { target: '/app/who' })).body, 'http')
  })
})

describe('HttpRequest.header()', () => {
  it('joins repeated fields as node:http does, and has what a middleware has set', async (t) => {
    const names = ['Accept', 'cookie', 'USER-AGENT', 'set-cookie', 'x-none', 'x-sent', 'x-set']
    const action: Action = (request, response) =>
      response.json(names.map((name) => request.header(name) ?? null))
    const front = createFront({ app: { action } })
    const listener = createRequestListener(front, {
      before: [
        ({ headers }, _out, next) => {
          headers['x-set'] = 'set'
          delete headers['x-sent']
          next()
        },
      ],
    })
    const port = await listening(t, createServer(listener))
    const { body } = await exchange(port, {
      target: '/app/action',
      headers: ['Accept', 'Cookie', 'User-Agent', 'Set-Cookie', 'X-Sent'].flatMap((name) => [
        [name, 'a=1'] as const,
        [name, 'b=2'] as const,
      ]),
    })
    const expected = ['a=1, b=2', 'a=1; b=2', 'a=1', 'a=1, b=2', null, null, 'set']
    assert.deepEqual(JSON.parse(body), expected)
  })
})

describe('incomingMessageOf()', () => {
  it('returns the message of a request, a forwarded request and that of the error action', async (t) => {
    const seen: unknown[] = []
    const see = (request: HttpRequest): void => {
      const message = incomingMessageOf(request)
      seen.push(message instanceof IncomingMessage && message.rawHeaders.includes('X-Raw'))
    }
    const app = {
      first(request: HttpRequest) {
        see(request)
        return request.forward({ action: 'second' })
      },
      second(request: HttpRequest) {
        see(request)
        throw new Error('no')
      },
    }
    const front = createFront({ app, error: { error: see } })
    const port = await listening(t, createServer(createRequestListener(front)))
    await exchange(port, { target: '/app/first', headers: [['X-Raw', 'yes']] })
    assert.deepEqual(seen, [true, true, true])
  })

  it('returns undefined for a request that did not arrive over the wire', () => {
    assert.equal(incomingMessageOf(new HttpRequest({ target: '/' })), undefined)
  })

  it('returns a message that emits "end" and "close", whatever its body', async (t) => {
    const sized = 'Content-Length: 3\r\n'
    for (const bytes of [
      post('form', '').replace('POST', 'GET'),
      post('form', 'Content-Length: 0\r\n'),
      `${post('form', `${form}${sized}`)}a=1`,
      `${post('form', sized)}a=1`,
    ]) {
      for (const event of ['end', 'close']) {
        const emitted = deferred()
        const { port } = await serveActions(t, {
          form(request, response) {
            incomingMessageOf(request)?.once(event, emitted.resolve)
            response.text(`${request.form}`)
          },
        })
        const socket = connect(port, '127.0.0.1')
        t.after(() => socket.destroy())
        socket.write(bytes)
        await emitted.promise
      }
    }
  })

  it('returns a message that the action may destroy, as for await and pipeline() do', async (t) => {
    const { port } = await serveActions(t, {
      async one(request, response) {
        for await (const chunk of incomingMessageOf(request) ?? []) return response.text(`${chunk}`)
        return response
      },
      async failed(request, response) {
        const body = incomingMessageOf(request) ?? []
        const fail = async (): Promise<never> => {
          throw new Error('full')
        }
        await pipeline(body, fail).catch(({ message }) => response.text(message))
      },
    })
    for (const [action, text] of Object.entries({ one: 'abc', failed: 'full' })) {
      assert.equal(
        (await exchange(port, { target: `/app/${action}`, method: 'POST', body: 'abc' })).body,
        text,
      )
    }
  })

  it('waits for no rest of a message that the action has destroyed', async (t) => {
    const { port, sockets } = await listenWithActions(t, {
      async failed(request, response) {
        const fail = async (): Promise<never> => {
          throw new Error('full')
        }
        await pipeline(incomingMessageOf(request) ?? [], fail).catch(() => response.text('full'))
      },
    })
    const client = connect(port, '127.0.0.1')
    t.after(() => client.destroy())
    client.write(`${post('failed', 'Content-Length: 9\r\n')}abc`)
    await once(client, 'data')
    assert.equal(connectionOf(sockets[0] as Socket).endLinger, undefined)
  })

  it('leaves the message out of an inspected request', async (t) => {
    const { port } = await listenWithActions(t, {
      run: (request, response) => response.text(inspect(request, { depth: 9, showHidden: true })),
    })
    const target = '/app/run/key/secret-value'
    const headers = [['Cookie', 'secret-value']] as const
    const { status, body } = await exchange(port, { target, headers })
    assert.equal(status, 200)
    assert.doesNotMatch(body, /secret-value/)
  })
})

describe('IncomingRequest.rawFields', () => {
  it('lets a report find a header that code removed, every one of a repeated header, and the trailers', async (t) => {
    const keys = ['Aa1-first', 'Bb2-second', 'Cc3-third', 'Dd4-fourth']
    const { reports, onReport } = collectReports()
    const list: Action = async (request) => {
      delete (request.headers as Record<string, unknown>).authorization
      for await (const _ of request.body);
      throw new Error(`refused: ${keys.join(' and ')}`)
    }
    const front = createFront({ news: { list } }, { onReport })
    const listener = createRequestListener(front)
    const server = createServer((message, response) => {
      delete message.headers['x-api-key']
      listener(message, response)
    })
    const port = await listening(t, server)
    const fields = [
      `Authorization: Bearer ${keys[0]}`,
      `Authorization: Bearer ${keys[1]}`,
      `X-Api-Key: ${keys[2]}`,
      'Transfer-Encoding: chunked',
      'Connection: close',
    ]
    const head = ['POST /news/list HTTP/1.1', 'Host: a', ...fields, '', ''].join('\r\n')
    await send(port, `${head}1\r\na\r\n0\r\nX-Checksum-Key: ${keys[3]}\r\n\r\n`)
    assert.equal(reports[0]?.message, 'refused: [header] and [header] and [header] and [header]')
  })
})
