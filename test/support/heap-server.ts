// A server whose heap a test examines from another process: node dist/test/support/heap-server.js <kind>
//
// `bare` is node:http alone, `listener` is createRequestListener(), `serve` is serve(), and `access` is serve() with
// `onAccess`. `context` also has a store of AsyncLocalStorage for each request, and counts them. `counts` is serve() with a log that only counts the rejections, and an `onReport` that keeps the reports.
// `upgrade` is serve() with a listener that leaves the connection to another protocol.
// All have the same timeouts. The server prints its port. At SIGUSR2, it writes a snapshot of its heap, and prints its file: no request
// then follows the last one.

import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeHeapSnapshot } from 'node:v8'
import {
  type Access,
  type BeforeMiddleware,
  createRequestListener,
  type ErrorReport,
  type HttpRequest,
  type HttpResponse,
  html,
  nested,
  serve,
} from '../../lib/index.ts'
import { createObserver } from '../../lib/observe.ts'
import { createSession } from '../../lib/session.ts'
import { createFront } from './front.ts'

const kind = process.argv[2]
const current = new AsyncLocalStorage<unknown>()
const session = createSession({ origin: 'http://localhost', secrets: ['x'.repeat(32)] })
const keptReports: ErrorReport[] = []

const front = createFront(
  {
    app: {
      list: (_: HttpRequest, response: HttpResponse): HttpResponse => response.json({ ok: true }),
      read(request: HttpRequest, response: HttpResponse): void {
        response.json([
          [...request.params].length,
          request.headers.cookie?.length,
          request.query.size,
        ])
      },
      // Nothing matches a regular expression after these: node:http checks the values of headers by one.
      none: (_: HttpRequest, response: HttpResponse): void => setEmpty(response),
      query(request: HttpRequest, response: HttpResponse): void {
        setEmpty(response, request.query.size)
      },
      form(request: HttpRequest, response: HttpResponse): void {
        setEmpty(response, request.form.size)
      },
      slow(request: HttpRequest, response: HttpResponse): void {
        response.body = (async function* () {
          yield 'streamed'
          yield String(request.query.size)
        })()
      },
      pending: (): Promise<never> => new Promise(() => {}),
      'late-query': late((request) => request.query.size),
      'late-cookies': late((request) => request.cookies.size),
      'late-accepts': late((request) => request.accepts(['text/html'])),
      'late-nested': late((request) => nested(request.query)),
      'late-html': late((request) => html`${request.param('html') ?? ''}`),
      'late-signal': late((request) => request.signal.aborted),
      signal: ({ signal }: HttpRequest, response: HttpResponse): HttpResponse =>
        response.json(signal.aborted),
      save: ({ form }: HttpRequest, response: HttpResponse): HttpResponse =>
        response.json(form.size),
      async later(_: HttpRequest, response: HttpResponse): Promise<void> {
        await new Promise(setImmediate)
        response.text('later')
      },
      stream(_: HttpRequest, response: HttpResponse): void {
        response.body = (async function* () {
          yield 'streamed'
        })()
      },
      async upload({ body }: HttpRequest, response: HttpResponse): Promise<void> {
        for await (const _ of body) response.text('uploaded')
      },
      seal: (_: HttpRequest, response: HttpResponse): Promise<void> => session.write(response, {}),
      fail({ params, headers }: HttpRequest): void {
        throw new Error(`Failed with ${params.pair}, and this sentence follows (${headers.cookie})`)
      },
      // Two collections: the second one frees what the first one only made unreachable.
      heap(_: HttpRequest, response: HttpResponse): void {
        globalThis.gc?.()
        globalThis.gc?.()
        response.json(process.memoryUsage().heapUsed)
      },
      snapshot: (request: HttpRequest, response: HttpResponse): HttpResponse =>
        response.json(writeHeapSnapshot(request.query.get('file') ?? undefined)),
    },
  },
  {
    routes: {
      rest: { path: '/rest/*', defaults: { controller: 'app', action: 'list' } },
      regex: { regex: 'regex/([\\w-]+)', defaults: { controller: 'app', action: 'none' } },
    },
    logger: {
      error() {},
      warn() {},
      info() {},
      ...(kind === 'counts' && { isLevelEnabled: (level: string) => level === 'error' }),
    },
    onReport: kind === 'counts' ? (report) => void keptReports.push(report) : undefined,
  },
)

// Returns an action that reads a part of its request after its response has been sent. Then it writes a line.
function late(read: (request: HttpRequest) => unknown) {
  return (request: HttpRequest, response: HttpResponse): void => {
    setTimeout(() => {
      read(request)
      process.stdout.write('read\n')
    }, 20)
    setEmpty(response)
  }
}

function setEmpty(response: HttpResponse, _read = 0): void {
  response.status = 204
}

const respondBare: RequestListener = ({ url }, response) => {
  if (url === '/app/heap') {
    globalThis.gc?.()
    globalThis.gc?.()
  }
  const text = url === '/app/heap' ? String(process.memoryUsage().heapUsed) : '{"ok":true}'
  response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', text.length])
  response.end(text)
}

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\n'

async function start(): Promise<Server> {
  const limits = { keepAliveTimeoutMs: 60_000, socketTimeoutMs: 60_000 }
  const accesses: Record<string, (access: Access) => void> = {
    access: () => {},
    context: createObserver().onAccess,
  }
  const onAccess = accesses[`${kind}`]
  const before: BeforeMiddleware[] = [
    ({ url }, out, next) => {
      if (kind !== 'context') return next()
      // node:http keeps the time for a second, and the store of the request that first needs it.
      out.sendDate = false
      current.run({ url }, next)
    },
  ]
  if (['serve', 'counts', 'upgrade'].includes(`${kind}`) || onAccess !== undefined) {
    const { server } = await serve(front, { port: 0, limits, onAccess, before })
    if (kind === 'upgrade') server.on('upgrade', (_, stream) => void stream.write(SWITCHING))
    return server
  }
  const server = createServer(kind === 'bare' ? respondBare : createRequestListener(front))
  server.keepAliveTimeout = limits.keepAliveTimeoutMs
  server.timeout = limits.socketTimeoutMs
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

process.on('SIGUSR2', () => console.log(writeHeapSnapshot(process.argv[3])))
const server = await start()
console.log((server.address() as AddressInfo).port)
