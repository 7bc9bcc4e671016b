import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import middie from '@fastify/middie'
import express from 'express'
import fastify from 'fastify'
import polka from 'polka'
import {
  createMiddleware,
  type FrontController,
  type FrontControllerOptions,
  type HttpRequest,
  type HttpResponse,
  type Middleware,
} from '../../lib/index.ts'
import { collectReports } from '../support/collectors.ts'
import { createFront } from '../support/front.ts'
import {
  exchange,
  listening,
  parse,
  type RawRequest,
  type RawResponse,
  send,
} from '../support/http.ts'
import { keepAliveBytesOf, splitResponses, withClose } from '../support/wire.ts'

const form = [['Content-Type', 'application/x-www-form-urlencoded']] as const

// Responds with the body where Portico does not respond, so that a missing byte shows.
async function host(message: IncomingMessage, out: ServerResponse): Promise<void> {
  let body = ''
  for await (const chunk of message) body += chunk
  out.end(`host ${message.url} ${body}`)
}

// Each framework mounts the middleware under /app, and the host behind it.
const frameworks: Record<string, (middleware: Middleware) => Promise<Server>> = {
  'Express 5': async (middleware) => {
    const app = express().use('/app', middleware).use(host)
    return createServer(app)
  },
  Polka: async (middleware) => {
    const onNoMatch = (message: IncomingMessage, out: ServerResponse): void =>
      void host(message, out)
    const app = polka({ onNoMatch }).use('/app', middleware)
    return createServer((message, out) => void app.handler(message as never, out))
  },
  'Fastify with middie': async (middleware) => {
    const app = fastify()
    await app.register(middie)
    app.use('/app', middleware)
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.removeContentTypeParser('application/x-www-form-urlencoded')
    app.all('/*', (request, reply) => {
      reply.hijack()
      void host(request.raw, reply.raw)
    })
    await app.ready()
    return app.server
  },
}

for (const [name, mount] of Object.entries(frameworks)) {
  describe(`createMiddleware() in ${name}`, () => {
    const mounted = async (t: TestContext, options: { fallThrough?: boolean } = {}) => {
      const { reports, onReport } = collectReports()
      const front = createNewsFront({ onReport })
      const port = await listening(t, await mount(createMiddleware(front, options)))
      return {
        reports,
        ask: (request: RawRequest): Promise<RawResponse> => exchange(port, request),
      }
    }

    it('responds under its base path, by the whole target', async (t) => {
      const { ask } = await mounted(t)
      const { body } = await ask({ target: '/app/news/list/page/2?a=1' })
      assert.equal(body, '/app/news/list/page/2?a=1 page=2')
    })

    it('reads a form', async (t) => {
      const { ask } = await mounted(t, { fallThrough: true })
      const { body } = await ask({
        method: 'POST',
        target: '/app/news/save',
        headers: form,
        body: 'a=1',
      })
      assert.equal(body, 'a=1')
    })

    it('matches whole segments only', async (t) => {
      const { ask, reports } = await mounted(t, { fallThrough: true })
      const { body } = await ask({ target: '/application/news/list' })
      assert.equal(
        body.replace(/^[\da-f]+\r\n|\r\n0\r\n\r\n$/g, ''),
        'host /application/news/list ',
      )
      assert.equal(reports.length, 0)
    })

    it('falls through if there is no action, with the whole body and without a report', async (t) => {
      const { ask, reports } = await mounted(t, { fallThrough: true })
      for (const target of ['/app/nosuch', '/app/news/nosuch', '/app/error/error', '/elsewhere']) {
        const { status, body } = await ask({ method: 'POST', target, headers: form, body: 'a=1' })
        assert.equal(status, 200, target)
        assert.match(body, /host .* a=1/, target)
      }
      assert.equal(reports.length, 0)
    })

    it('falls through for a malformed target that names no action, and rejects one that names an action', async (t) => {
      const { ask, reports } = await mounted(t, { fallThrough: true })
      for (const target of ['/app/%ff', '/app/nosuch/%00', `/app/nosuch?${'a'.repeat(9_000)}`]) {
        const { body } = await ask({ method: 'POST', target, headers: form, body: 'a=1' })
        // Fastify itself rejects a path that does not decode.
        assert.match(body, target.includes('%ff') ? /host .* a=1|FST_ERR_BAD_URL/ : /host .* a=1/)
      }
      assert.equal(reports.length, 0)
      for (const [target, status] of [
        ['/app/news/list/%00', 400],
        [`/app/news/list?${'a'.repeat(9_000)}`, 414],
        [`/app/news/list?${'a&'.repeat(1_001)}`, 400],
      ] as const) {
        assert.equal((await ask({ target })).status, status, target)
      }
      assert.equal(reports.length, 3)
    })

    it('responds with its own error page if there is no action and it does not fall through', async (t) => {
      const { ask, reports } = await mounted(t)
      assert.equal((await ask({ target: '/app/nosuch' })).status, 404)
      assert.deepEqual(
        reports.map(({ type }) => type),
        ['EXCEPTION_NO_CONTROLLER'],
      )
    })

    it('responds to its own errors', async (t) => {
      const { ask, reports } = await mounted(t, { fallThrough: true })
      assert.equal((await ask({ target: '/app/news/fails' })).status, 500)
      assert.equal((await ask({ target: '/app/news/list/%00' })).status, 400)
      assert.equal(reports.length, 2)
    })
  })
}

describe('createMiddleware()', () => {
  it('reports that a middleware before it has read the body', async (t) => {
    const { reports, onReport } = collectReports()
    const front = createNewsFront({ onReport })
    const app = express().use(express.urlencoded(), createMiddleware(front))
    const port = await listening(t, createServer(app))
    const { status } = await exchange(port, {
      method: 'POST',
      target: '/app/news/save',
      headers: form,
      body: 'a=1',
    })
    assert.equal(status, 500)
    assert.match(
      reports.map(({ message }) => message).join(),
      /^The body was read before the request arrived here/,
    )
  })

  it('keeps the headers that a middleware before it has set', async (t) => {
    const app = express()
      .use((_message, out, next) => {
        out.setHeader('X-Before', 'kept')
        next()
      })
      .use(createMiddleware(createNewsFront()))
    const port = await listening(t, createServer(app))
    const { headers } = await exchange(port, { target: '/app/news/list' })
    assert.deepEqual(
      [headers['x-before'], headers['content-type']],
      ['kept', 'text/plain; charset=utf-8'],
    )
  })

  it('uses a custom router, and passes the errors of that router to the error controller', async (t) => {
    const router = {
      route({ path }: HttpRequest) {
        if (path === '/throws') throw new Error('no')
        return path === '/here'
          ? { module: 'default', controller: 'news', action: 'list' }
          : undefined
      },
    }
    const middleware = createMiddleware(createNewsFront({ router }), { fallThrough: true })
    const port = await listening(
      t,
      createServer((message, out) => middleware(message, out, () => out.end('next'))),
    )
    const ask = async (target: string) => {
      const { status, body } = await exchange(port, { target })
      return [status, status === 200 ? body : '']
    }
    assert.deepEqual(await ask('/app/here'), [200, '/app/here '])
    assert.deepEqual(await ask('/app/nowhere'), [200, 'next'])
    assert.deepEqual(await ask('/here'), [200, 'next'])
    assert.deepEqual(await ask('/app/throws'), [500, ''])
  })

  // Serves an action behind a middleware that keeps some requests, as one does that reads the session.
  const serveWithDelay = (t: TestContext): Promise<number> => {
    const front = createFront({
      app: {
        async run({ params }: HttpRequest, response: HttpResponse) {
          await sleep(Number(params.ms ?? 0))
          return response.text(`${params.id}`)
        },
        // Its head is sent before the body has arrived.
        echo(request: HttpRequest, response: HttpResponse) {
          response.headers.set('Content-Length', request.header('content-length') ?? '')
          response.body = request.body
        },
      },
    })
    const middleware = createMiddleware(front)
    const server = createServer((message, out) => {
      const pass = (): void => middleware(message, out, () => out.end('passed on'))
      if (message.url?.startsWith('/static')) setTimeout(() => out.end('static '), 60)
      else if (message.url?.includes('kept')) setTimeout(pass, keptMs(message.url))
      else pass()
    })
    return listening(t, server)
  }
  const keptMs = (target: string): number => Number(/kept=(\d+)/.exec(target)?.[1] ?? 20)
  const first = keepAliveBytesOf({ target: '/app/run?id=1&ms=60' })
  const kept = keepAliveBytesOf({ target: '/app/run?id=2&kept' })
  const idsOf = (received: string): string =>
    splitResponses(received)
      .map((each) => parse(each).body)
      .join('')

  it('responds to requests that the last one of their connection has overtaken', async (t) => {
    const port = await serveWithDelay(t)
    // No request may follow one that offers an upgrade.
    const last =
      'GET /app/run?id=3 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n'
    const behind = keepAliveBytesOf({ target: '/app/run?id=4' })
    for (const [requests, ids] of [
      [[kept, last, behind], '23'],
      [[first, kept, last, behind], '123'],
    ] as const) {
      assert.equal(idsOf(await send(port, requests.join(''))), ids)
    }
  })

  it('responds to a request that arrives after the ones before it have been sent', {
    timeout: 5_000,
  }, async (t) => {
    const port = await serveWithDelay(t)
    for (const queries of [
      // They arrive in the order 4, 2, 1, 3.
      ['id=1&kept=20', 'id=2&kept=5', 'id=3&kept=50', 'id=4&ms=10'],
      // The last response is complete while no request that arrived after it is active.
      ['id=1&ms=40', 'id=2&kept=20', 'id=3&kept=120', 'id=4&ms=80'],
    ]) {
      const requests = queries.map((query) => keepAliveBytesOf({ target: `/app/run?${query}` }))
      const last = withClose(requests.pop() ?? '')
      assert.equal(idsOf(await send(port, requests.join('') + last)), '1234')
    }
  })

  it('responds to a request that one with a body, or eight others, have overtaken', {
    timeout: 5_000,
  }, async (t) => {
    const port = await serveWithDelay(t)
    const post = 'POST /app/run?id=3 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na'
    const next = keepAliveBytesOf({ target: '/app/run?id=4' })
    const last = withClose(keepAliveBytesOf({ target: '/app/run?id=5' }))
    // The middleware in front responds to this one.
    const file = keepAliveBytesOf({ target: '/static' })
    for (const [requests, ids] of [
      [[kept, post, last], '235'],
      [[first, kept, post, last], '1235'],
      [[first, kept, ...Array(12).fill(next), last], `12${'4'.repeat(12)}5`],
      [[kept, post, kept, post, next, last], '232345'],
      [[file, kept, post, last], 'static 235'],
      [[file, kept, ...Array(12).fill(next), last], `static 2${'4'.repeat(12)}5`],
    ] as const) {
      assert.equal(idsOf(await send(port, requests.join(''))), ids)
    }
  })

  it('responds to a request that one whose body is still arriving has overtaken', {
    timeout: 5_000,
  }, async (t) => {
    const port = await serveWithDelay(t)
    const body = 'b'.repeat(300_000)
    const post = `POST /app/echo HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    assert.equal(idsOf(await send(port, first + kept + post)), `12${body}`)
  })

  it('rejects the option fallThrough for a handler without a function "serves"', () => {
    const handler = { handle: async () => Promise.reject(new Error()) }
    assert.throws(() => createMiddleware(handler, { fallThrough: true }), {
      name: 'TypeError',
      message: 'Expected a handler with a function "serves" for the option "fallThrough"',
    })
    assert.doesNotThrow(() => createMiddleware(handler))
  })

  it('adds no listener to the process or to a message that falls through', async (t) => {
    const middleware = createMiddleware(createNewsFront(), { fallThrough: true })
    const counts: number[] = []
    const total = (emitter: NodeJS.EventEmitter): number =>
      emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0)
    const before = total(process)
    const server = createServer((message, out) => {
      const all = (): number => total(message) + total(out) + total(message.socket)
      counts.push(all())
      middleware(message, out, () => counts.push(all()))
      out.end()
    })
    const port = await listening(t, server)
    await exchange(port, { target: '/app/nosuch' })
    assert.deepEqual([counts.length, counts[0]], [2, counts[1]])
    assert.equal(total(process), before)
    server.close()
    await once(server, 'close')
  })
})

function createNewsFront(options: FrontControllerOptions = {}): FrontController {
  const news = {
    list: (request: HttpRequest, response: HttpResponse) =>
      response.text(`${request.target} ${request.pairs}`),
    save: (request: HttpRequest, response: HttpResponse) => response.text(String(request.form)),
    fails() {
      throw new Error('no')
    },
  }
  return createFront({ news }, { basePath: '/app', ...options })
}
