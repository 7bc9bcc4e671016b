import { once } from 'node:events'
import { createServer, get, type RequestListener, type Server } from 'node:http'

/** Whether a process can answer: `/livez` says that it runs, `/readyz` that it takes requests. */
export type Readiness = () => boolean

/**
 * Answers the probes of an orchestrator, on a server of their own: no router, no log.
 *
 * @returns When it listens.
 */
export async function serveHealth(isReady: Readiness, port: number, host: string): Promise<Server> {
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000 }, answer(isReady))
  server.listen(port, host)
  await once(server, 'listening')
  return server
}

/** Asks a server whether it is ready. */
export function probeHealth(port: number, host: string, timeoutMs = 3_000): Promise<boolean> {
  return new Promise((resolve) => {
    const asking = get(
      { port, host, path: '/readyz', timeout: timeoutMs, agent: false },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode === 200)
      },
    )
    // Whatever went wrong, it is not ready.
    asking.on('error', () => resolve(false)).on('timeout', () => asking.destroy())
  })
}

function answer(isReady: Readiness): RequestListener {
  return (message, out) => {
    const status = statusOf(message.method, message.url?.split('?', 1)[0], isReady)
    const text = status === 200 ? 'ok\n' : 'no\n'
    const headers = { 'Cache-Control': 'no-store', 'Content-Type': 'text/plain; charset=utf-8' }
    out.writeHead(status, { ...headers, 'Content-Length': text.length })
    out.end(message.method === 'HEAD' ? undefined : text)
  }
}

function statusOf(
  method: string | undefined,
  path: string | undefined,
  isReady: Readiness,
): number {
  if (method !== 'GET' && method !== 'HEAD') return 405
  if (path === '/livez') return 200
  if (path !== '/readyz') return 404
  return isReady() ? 200 : 503
}
