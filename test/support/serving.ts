import type { TestContext } from 'node:test'
import { type Handler, type ServeOptions, type Service, serve } from '../../lib/index.ts'

/** A server that runs in this process. */
export interface Served {
  readonly service: Service
  /** The base URL, such as `http://127.0.0.1:40123`. */
  readonly url: string
  readonly port: number
}

/** Serves a handler on a free port of the loopback address until the test ends. */
export async function startServing(
  t: TestContext,
  handler: Handler,
  options: ServeOptions = {},
): Promise<Served> {
  const service = await serve(handler, { port: 0, ...options })
  t.after(() => service.close())
  return { service, url: service.url, port: portOf(service.url) }
}

/** Returns the port of a URL. */
export function portOf(url: string): number {
  return Number(new URL(url).port)
}
