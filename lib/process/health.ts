import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import { connectionOf } from '../server/connection.ts'

// A probe is one small request. By default node:http looks for slow connections only every 30 s.
const TIMEOUTS = { headersTimeout: 2_000, requestTimeout: 2_000, connectionsCheckingInterval: 500 }
const MAX_CONNECTIONS = 64

/**
 * Serves the probes of an orchestrator on a separate server, without a router and a log. The status of
 * `/livez` is 200 while the process runs. The status of `/readyz` is 200 while it accepts requests, else 503.
 * It accepts 64 connections at a time, closes one whose request takes longer than 2 seconds, and each one after its response.
 *
 * @param isReady Returns whether the process accepts requests; it never rejects.
 * @returns The server, as soon as it listens.
 */
export async function serveHealth(
  isReady: () => boolean | Promise<boolean>,
  port: number,
  host: string,
): Promise<Server> {
  const server = createServer(TIMEOUTS, async (request, response) => {
    // A client that pipelines requests must not keep the main server busy.
    const connection = connectionOf(request.socket)
    if (connection.isBehindLast()) return
    connection.hasLastRequest = true
    const status = await statusOf(request, isReady)
    const text = status === 200 ? 'ok\n' : 'no\n'
    const headers = { 'Cache-Control': 'no-store', 'Content-Type': 'text/plain; charset=utf-8' }
    response.writeHead(status, { ...headers, 'Content-Length': text.length, Connection: 'close' })
    response.end(request.method === 'HEAD' ? undefined : text)
  })
  server.maxConnections = MAX_CONNECTIONS
  server.listen(port, host)
  await once(server, 'listening')
  return server
}

async function statusOf(
  { method, url }: IncomingMessage,
  isReady: () => boolean | Promise<boolean>,
): Promise<number> {
  const path = url?.split('?', 1)[0]
  if (method !== 'GET' && method !== 'HEAD') return 405
  if (path === '/livez') return 200
  if (path !== '/readyz') return 404
  return (await isReady()) ? 200 : 503
}

/**
 * Requests `/readyz` of a server, and returns whether it is ready.
 *
 * @param host The address that the server listens on; for all addresses, such as `0.0.0.0`, `localhost` is used.
 */
export function probeHealth(port: number, host: string, timeoutMs = 3_000): Promise<boolean> {
  const address = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  const options = { port, host: address, path: '/readyz', timeout: timeoutMs, agent: false }
  return new Promise((resolve) => {
    const request = get(options, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    // A server that can't be reached is not ready.
    request.on('error', () => resolve(false)).on('timeout', () => request.destroy())
  })
}
