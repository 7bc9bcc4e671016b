import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { request } from 'undici'
import {
  type Action,
  createRequestListener,
  type Handler,
  type HttpRequest,
  HttpResponse,
} from '../../lib/index.ts'
import { TestAgent } from '../../lib/testing.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'
import { bytesOf, exchange, listening } from '../support/http.ts'

describe('createRequestListener()', () => {
  it('responds 505 to each request of HTTP/2', async (t) => {
    const server = createHttp2Server(createRequestListener(createFront({})) as never)
    t.after(() => server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const client = connectHttp2(`http://127.0.0.1:${port}`)
    for (let i = 0; i < 3; i++) {
      const [headers] = await once(client.request({ ':path': '/' }), 'response')
      assert.equal(headers[':status'], 505)
    }
    client.close()
  })

  it('sends a 500 without a body when the handler fails, and reports the error to it', async (t) => {
    const secret = new Error('secret')
    const handles: Handler['handle'][] = [
      () => Promise.reject(secret),
      () => {
        throw secret
      },
      // This is no HttpResponse, so it can't be written.
      async () => ({ body: '', status: 200, headers: new Map([['X', 'a\nb']]) }) as never,
    ]
    for (const [i, handle] of handles.entries()) {
      const reported: unknown[] = []
      const report: Handler['report'] = (error, { request, status }) => {
        reported.push(i < 2 ? error : (error as Error).name, request?.target, status)
      }
      const dispatcher = new TestAgent({ handle, report })
      t.after(() => dispatcher.close())
      const { statusCode, body } = await request('http://a/x', { dispatcher })
      assert.deepEqual([statusCode, await body.text()], [500, ''])
      assert.deepEqual(reported, [i < 2 ? secret : 'TypeError', '/x', 500])
    }
  })

  it('closes the connection when writing fails after the headers have been sent', async (t) => {
    const reported = deferred<unknown>()
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
      report: reported.resolve,
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
    assert.equal(((await reported.promise) as Error).message, 'too late')
    assert.deepEqual(
      sockets.map((socket) => socket.destroyed),
      [true],
    )
  })

  it('reads one path from any target: q is the routed path, decoded once', async (t) => {
    const originals = new Map<string, HttpRequest>()
    const error: Action = (request, response) => {
      if (request.errorHandler) originals.set(request.target, request.errorHandler.request)
      response.text('')
    }
    const front = createFront({ error: { error } })
    const port = await listening(t, createServer(createRequestListener(front)))
    for (const target of targets) {
      await exchange(port, { target })
      const original = originals.get(target)
      // node:http itself rejects some targets.
      if (original === undefined) continue
      const { path, q, controller, action } = original
      if (q !== path) assert.equal(q, decodeURIComponent(path), target)
      assert.doesNotMatch(q, /\p{Cc}/u, target)
      const names = path.split('/').filter((segment) => segment !== '')
      assert.equal(controller, names[0] ?? 'index', target)
      if (!path.includes(`${controller}//`)) assert.equal(action, names[1] ?? 'index', target)
    }
    assert.ok(originals.size > targets.length / 2)
  })
})

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
