import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { type Dispatcher, request, fetch as undiciFetch } from 'undici'
import { type Action, createRequestListener, type Handler, serve } from '../../lib/index.ts'
import { TestAgent, type TestAgentOptions, type TestTarget } from '../../lib/testing.ts'
import { collectReports } from '../support/collectors.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'
import { startNode } from '../support/run-node.ts'

// The types of the fetch of Node refer to another copy of undici.
const globalFetch = globalThis.fetch as unknown as typeof undiciFetch

for (const [name, fetch] of [
  ['of undici', undiciFetch],
  ['of Node', globalFetch],
] as const) {
  describe(`fetch ${name} by a TestAgent`, () => {
    it('gets the response of a front controller, at any origin', async (t) => {
      const whose: Action = ({ client }, response) => response.json(client.address)
      const dispatcher = agentOf(t, createFront({ app: { whose } }))
      for (const origin of ['http://any.test', 'https://any.test', 'http://[::1]:81']) {
        const response = await fetch(`${origin}/app/whose`, { dispatcher })
        assert.deepEqual([response.status, await response.json()], [200, '127.0.0.1'])
        assert.equal(response.headers.get('content-type'), 'application/json')
      }
    })

    it('posts a form', async (t) => {
      const save: Action = ({ form }, response) => response.json([...form])
      const dispatcher = agentOf(t, createFront({ app: { save } }))
      const body = new URLSearchParams({ title: 'grün & gut' })
      const response = await fetch('http://a/app/save', { method: 'POST', body, dispatcher })
      assert.deepEqual(await response.json(), [['title', 'grün & gut']])
    })

    it('streams an upload, and the response during the upload', async (t) => {
      const echo: Action = (request, response) => {
        response.body = request.body
      }
      const dispatcher = agentOf(t, createFront({ app: { echo } }))
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const writer = writable.getWriter()
      const init = { method: 'PUT', body: readable, duplex: 'half', dispatcher } as const
      const response = fetch('http://a/app/echo', init as Parameters<typeof fetch>[1])
      await writer.write(Buffer.from('first'))
      const reader = (await response).body?.getReader()
      assert.equal(String(Buffer.from((await reader?.read())?.value)), 'first')
      await writer.write(Buffer.from('second'))
      assert.equal(String(Buffer.from((await reader?.read())?.value)), 'second')
      await writer.close()
      assert.equal((await reader?.read())?.done, true)
    })

    it('aborts the signal of the request', async (t) => {
      const [requested, aborted] = [deferred(), deferred()]
      const wait: Action = async (request) => {
        request.signal.addEventListener('abort', () => aborted.resolve())
        requested.resolve()
        await aborted.promise
      }
      const dispatcher = agentOf(t, createFront({ app: { wait } }))
      const controller = new AbortController()
      const { signal } = controller
      const response = fetch('http://a/app/wait', { dispatcher, signal })
      await requested.promise
      controller.abort()
      await assert.rejects(response, { name: 'AbortError' })
      await aborted.promise
    })
  })
}

describe('TestAgent', () => {
  it('gets no body for HEAD, but its length', async (t) => {
    const text: Action = (_, response) => response.text('grün')
    const dispatcher = agentOf(t, createFront({ app: { text } }))
    const response = await request('http://a/app/text', { method: 'HEAD', dispatcher })
    assert.equal(response.headers['content-length'], '5')
    assert.equal(await response.body.text(), '')
  })

  it('sends 100 requests in parallel, each on a separate connection', async (t) => {
    const [server, connections] = counting(
      frontListener({
        async echo(request, response) {
          await new Promise(setImmediate)
          response.text(request.param('id') ?? '')
        },
      }),
    )
    const dispatcher = agentOf(t, server)
    const ids = Array.from({ length: 100 }, (_, id) => String(id))
    const bodies = await Promise.all(
      ids.map(async (id) => {
        const { body } = await request(`http://a/app/echo/id/${id}`, { dispatcher })
        return body.text()
      }),
    )
    assert.deepEqual(bodies, ids)
    assert.equal(connections(), 100)
  })

  it('keeps a connection alive, until one side closes it', async (t) => {
    const [server, connections] = counting((req, res) => {
      if (req.url === '/close') res.setHeader('Connection', 'close')
      res.end('ok')
    })
    // With several connections, undici would use another one while this one is not idle yet.
    const dispatcher = agentOf(t, server, { connections: 1 })
    for (const path of ['/', '/', '/', '/close', '/']) {
      const { body } = await request(`http://a${path}`, { dispatcher })
      await body.text()
    }
    assert.equal(connections(), 2)
  })

  it('accepts the options of an agent', async (t) => {
    const [server, connections] = counting(frontListener({ text: (_, res) => res.text('ok') }))
    const dispatcher = agentOf(t, server, { connections: 1 })
    const one = async () => (await request('http://a/app/text', { dispatcher })).body.text()
    await Promise.all([one(), one(), one()])
    assert.equal(connections(), 1)
  })

  it('carries bodies of many chunks in both directions, with backpressure', async (t) => {
    const total = 4_096
    let made = 0
    const endless: Action = (_, response) => {
      response.body = new Readable({
        read() {
          made++
          this.push(made > total ? null : Buffer.alloc(65_536))
        },
      })
    }
    const dispatcher = agentOf(t, createFront({ app: { endless } }))
    const { body } = await request('http://a/app/endless', { dispatcher })
    await turns()
    assert.ok(made < total / 2, `${made} of ${total} chunks were made`)
    let bytes = 0
    for await (const chunk of body) bytes += chunk.length
    assert.equal(bytes, total * 65_536)
  })

  it('destroys a stream when its reader leaves', async (t) => {
    const closed = deferred()
    const endless: Action = (_, response) => {
      const push = function (this: Readable): void {
        this.push('x'.repeat(1_000))
      }
      response.body = new Readable({ read: push }).once('close', closed.resolve)
    }
    const dispatcher = agentOf(t, createFront({ app: { endless } }))
    const { body } = await request('http://a/app/endless', { dispatcher })
    body.on('error', () => {}).destroy()
    await closed.promise
  })

  it('rejects when a stream fails, and when the server closes the connection', async (t) => {
    const { reports, onReport } = collectReports()
    const fails: Action = (_, response) => {
      response.body = Readable.from(
        (async function* () {
          yield 'begun'
          throw new RangeError('no more')
        })(),
      )
    }
    const dispatcher = agentOf(t, createFront({ app: { fails } }, { onReport }))
    const { body } = await request('http://a/app/fails', { dispatcher })
    await assert.rejects(body.text(), { code: 'UND_ERR_SOCKET', message: 'other side closed' })
    assert.deepEqual(
      reports.map(({ name }) => name),
      ['RangeError'],
    )
    const hangsUp = agentOf(t, (req) => req.socket.destroy())
    await assert.rejects(request('http://a/', { dispatcher: hangsUp }), { code: 'UND_ERR_SOCKET' })
  })

  it('gets a 500 when an action or a handler fails', async (t) => {
    const fail = (): never => {
      throw new Error('secret')
    }
    const handler: Handler = { handle: async () => fail() }
    for (const target of [createFront({ app: { fail } }), handler]) {
      const dispatcher = agentOf(t, target)
      const { statusCode, body } = await request('http://a/app/fail', { dispatcher })
      assert.equal(statusCode, 500)
      assert.doesNotMatch(await body.text(), /secret/)
    }
  })

  it('parses requests with node:http', async (t) => {
    const dispatcher = agentOf(t, (_, res) => void res.end())
    const headers = { 'X-Large': 'a'.repeat(20_000) }
    const { statusCode } = await request('http://a/', { headers, dispatcher })
    assert.equal(statusCode, 431)
  })

  it('connects to a server that listens, with its limits, and lets it close', async (t) => {
    const text: Action = (_, response) => response.text('ok')
    const front = createFront({ app: { text } })
    const service = await serve(front, { port: 0, limits: { maxHeaderFields: 3 } })
    const dispatcher = agentOf(t, service.server)
    const statusOf = async (headers: Record<string, string>): Promise<number> => {
      const { statusCode, body } = await request('http://a/app/text', { headers, dispatcher })
      await body.dump()
      return statusCode
    }
    assert.equal(await statusOf({ a: '1' }), 200)
    assert.equal(await statusOf({ a: '1', b: '2', c: '3' }), 431)
    assert.deepEqual(await service.close(), { connections: 0, actions: 0 })
  })

  it('closes idle connections after the keep-alive time of the server', async (t) => {
    const [server] = counting((_, res) => void res.end('ok'))
    server.keepAliveTimeout = 1
    const closed = deferred()
    server.on('connection', (socket) => socket.once('close', closed.resolve))
    const { body } = await request('http://a/', { dispatcher: agentOf(t, server) })
    await body.text()
    // The timer does not keep the process alive.
    const alive = setInterval(() => {}, 1_000)
    await closed.promise
    clearInterval(alive)
  })

  it('closes its connections on close()', async (t) => {
    const [server] = counting((_, res) => void res.end('ok'))
    const closed = deferred()
    server.on('connection', (socket) => socket.once('close', closed.resolve))
    const dispatcher = agentOf(t, server)
    await (await request('http://a/', { dispatcher })).body.text()
    await dispatcher.close()
    await closed.promise
    await assert.rejects(request('http://a/', { dispatcher }), { code: 'UND_ERR_DESTROYED' })
  })

  it('does not keep the process alive, closed or not', async (t) => {
    // The client closes an idle connection after 4 seconds. A process that ends earlier does not see that.
    const code = `
      import { createServer } from 'node:http'
      import { request } from 'undici'
      import { TestAgent } from 'portico/testing'
      const server = createServer((_, res) => res.end('ok'))
      server.on('connection', (socket) => socket.on('close', () => console.log('closed')))
      process.on('beforeExit', () => console.log('exits'))
      const dispatcher = new TestAgent(server)
      const { body } = await request('http://a/', { dispatcher })
      console.log(await body.text())`
    const child = startNode(t, ['--input-type=module', '--eval', code])
    assert.ok(child.stdout)
    const [output, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'close')])
    assert.deepEqual([output, exitCode], ['ok\nexits\n', 0])
  })

  it('throws for an invalid target', () => {
    for (const target of [undefined, {}, 'http://a', new Map()]) {
      assert.throws(() => new TestAgent(target as never), {
        name: 'TypeError',
        message: /"target"/,
      })
    }
  })
})

function agentOf(t: TestContext, target: TestTarget, options?: TestAgentOptions): Dispatcher {
  const agent = new TestAgent(target, options)
  t.after(() => agent.destroy())
  return agent
}

function frontListener(actions: Record<string, Action>): RequestListener {
  return createRequestListener(createFront({ app: actions }))
}

function counting(listener: RequestListener): [server: Server, connections: () => number] {
  let connections = 0
  const server = createServer(listener).on('connection', () => connections++)
  return [server, () => connections]
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 500; turn++) await new Promise(setImmediate)
}
