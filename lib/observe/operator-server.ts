import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { pipeline } from 'node:stream/promises'
import { withTimeout } from '../http/async.ts'
import { isLocal } from '../http/loopback.ts'
import { HttpRequest } from '../http/request.ts'
import { stopReading } from '../server/close-slowly.ts'
import { connectionOf } from '../server/connection.ts'
import { toMetricTexts } from './exposition.ts'
import { type OperatorView, operatorPage } from './operator-page.ts'
import { isOwnHost } from './own-host.ts'
import { POLICY, STYLE } from './page-style.ts'
import { jsonTexts, toOutgoing } from './pieces.ts'
import type { Snapshot } from './snapshot.ts'

/** Options of {@link serveOperator}. */
export interface OperatorOptions {
  readonly port: number
  readonly host: string
  /** Whether only a client on this machine gets more than the probes. */
  readonly isLocalOnly: boolean
  readonly isReady: () => boolean | Promise<boolean>
  /** The settings that the page shows, by name. */
  readonly config: Readonly<Record<string, string>>
  readonly snapshot: () => Snapshot | Promise<Snapshot>
}

interface Page {
  readonly contentType: string
  /** The parts of the text, each made when it is needed. */
  readonly texts: Iterable<string>
  readonly headers?: Readonly<Record<string, string>>
}

// A request is small. By default node:http looks for slow connections only every 30 s.
const TIMEOUTS = { headersTimeout: 2_000, requestTimeout: 2_000, connectionsCheckingInterval: 500 }
const MAX_CONNECTIONS = 64
// Longer than a response to `/readyz` takes. node:http waits twice as long if bytes wait for the client.
const STALLED_MS = 5_000
// A page keeps its snapshot until it is sent: 6 MiB for 10,000 routes, which took 9 ms.
const MAX_PAGES = 8
// More than the supervisor waits for its workers.
const READY_TIMEOUT_MS = 3_000
const PLAIN = 'text/plain; charset=utf-8'

type Render = (options: OperatorOptions, request: IncomingMessage) => Page | Promise<Page>

// The pages of an operator, by path.
const pages: ReadonlyMap<string, Render> = new Map<string, Render>([
  [
    '/',
    async (options) => ({
      contentType: 'text/html; charset=utf-8',
      texts: [operatorPage(await viewOf(options))],
      headers: { 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'no-referrer' },
    }),
  ],
  ['/operator.css', () => ({ contentType: 'text/css; charset=utf-8', texts: [STYLE] })],
  [
    '/journal.json',
    async (options) => {
      const { snapshot, isReady, config } = await viewOf(options)
      const texts = jsonTexts({ isReady, ...snapshot, config })
      return { contentType: 'application/json', texts }
    },
  ],
  [
    '/metrics',
    async ({ snapshot }, { headers }) => toMetricTexts(await snapshot(), headers.accept),
  ],
])

/**
 * Serves the probes of an orchestrator and the pages of an operator on a separate server, without a router and a log.
 *
 * The status of `/livez` is 200 while the process runs. The status of `/readyz` is 200 while it accepts requests, else 503,
 * also if `isReady` fails or takes longer than 3 seconds.
 * A page needs a `Host` that may be that of this server. The server accepts 64 connections at a time, closes one whose
 * request takes longer than 2 seconds or that reads nothing for 10 seconds, and each one after its response.
 * While it makes or sends 8 pages, the status of a further one is 503.
 *
 * @returns The server, as soon as it listens.
 */
export async function serveOperator(options: OperatorOptions): Promise<Server> {
  let pagesInFlight = 0
  const listener: RequestListener = async (request, response) => {
    // No client may keep the main server busy by pipelined requests, or its connection open by sending bytes.
    const connection = connectionOf(request.socket)
    if (connection.ignoreBehindLast(response)) return
    connection.hasLastRequest = true
    stopReading(request.socket)
    const result = await resultOf(request, options)
    if (typeof result === 'number') await sendStatus(response, result)
    else if (pagesInFlight === MAX_PAGES) await sendStatus(response, 503)
    else {
      pagesInFlight++
      try {
        await send(response, 200, await result(options, request))
      } catch {
        await sendStatus(response, 500)
      } finally {
        pagesInFlight--
      }
    }
  }
  // For any other expectation, node:http would respond itself, and keep the connection open.
  const server = createServer(TIMEOUTS, listener).on('checkExpectation', listener)
  server.maxConnections = MAX_CONNECTIONS
  server.timeout = STALLED_MS
  server.listen(options.port, options.host)
  await once(server, 'listening')
  return server
}

function sendStatus(response: ServerResponse, status: number): Promise<void> {
  const texts = [status === 200 ? 'ok\n' : 'no\n']
  const headers = status === 405 ? { Allow: 'GET, HEAD' } : {}
  return send(response, status, { contentType: PLAIN, texts, headers })
}

async function send(
  response: ServerResponse,
  status: number,
  { contentType, texts, headers }: Page,
): Promise<void> {
  const { length, pieces } = toOutgoing(texts)
  response.writeHead(status, {
    'Cache-Control': 'no-store',
    'Content-Type': contentType,
    ...(length !== undefined && { 'Content-Length': length }),
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    Connection: 'close',
  })
  // The client may leave.
  if (response.req.method === 'HEAD') response.end()
  else await pipeline(pieces, response).catch(() => {})
}

// Returns the function that renders a page, or a status.
async function resultOf(
  request: IncomingMessage,
  options: OperatorOptions,
): Promise<Render | number> {
  const { method, url = '', socket, headers } = request
  const [path = ''] = url.split('?', 1)
  if (method !== 'GET' && method !== 'HEAD') return 405
  if (path === '/livez') return 200
  if (path === '/readyz') return (await isReadyInTime(options)) ? 200 : 503
  const page = pages.get(path)
  if (page === undefined) return 404
  const { remoteAddress } = socket
  const isAllowed = options.isLocalOnly
    ? isLocal(new HttpRequest({ target: url, headers, remoteAddress }))
    : isOwnHost(headers.host, options.host)
  return isAllowed ? page : 403
}

async function viewOf(options: OperatorOptions): Promise<OperatorView> {
  const { snapshot, config } = options
  const isReady = await isReadyInTime(options)
  return { snapshot: await snapshot(), isReady, config, now: Date.now() }
}

// Returns false if the check fails or takes too long.
async function isReadyInTime({ isReady }: OperatorOptions): Promise<boolean> {
  try {
    return Boolean(await withTimeout(isReady(), READY_TIMEOUT_MS, 'Not ready'))
  } catch {
    // The check of the program reports its errors.
    return false
  }
}
