import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { createRequestListener, type Handler } from './wire.ts'

/** Where and how to listen. */
export interface ServeOptions {
  /** The port; 0 takes a free one (default 3000). */
  readonly port?: number | undefined
  /** The address (default `127.0.0.1`). */
  readonly host?: string | undefined
  /** How long {@link Service.close} waits for requests in flight, in milliseconds (default 10,000). */
  readonly closeTimeoutMs?: number | undefined
}

/** A server that listens. */
export interface Service {
  /** Such as `http://127.0.0.1:3000`. */
  readonly url: string
  readonly server: Server
  /**
   * Stops: accepts no more connections, answers what is in flight with `Connection: close`, and ends
   * what is left when the time is over.
   *
   * @returns How many connections had to be destroyed.
   */
  close(): Promise<number>
}

// A client may have sent its next request on an idle connection just now: that one is still answered.
const IDLE_GRACE_MS = 600

/**
 * Listens, and answers every request through a handler.
 *
 * @returns When it listens.
 * @throws {Error} If it can't: the port is in use, the address is not this machine's.
 */
export async function serve(handler: Handler, options: ServeOptions = {}): Promise<Service> {
  const { port = 3000, host = '127.0.0.1', closeTimeoutMs = 10_000 } = options
  let closing = false
  const server = createServer(createRequestListener(handler, { closing: () => closing }))
  const sockets = openSockets(server)
  server.listen(port, host)
  await once(server, 'listening')

  return {
    url: urlOf(server.address() as AddressInfo),
    server,
    close() {
      closing = true
      return drain(server, sockets, closeTimeoutMs)
    },
  }
}

async function drain(server: Server, sockets: Set<Socket>, timeoutMs: number): Promise<number> {
  // Not http's own close(): that one cuts idle connections at once, under a request on its way.
  const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve))
  let destroyed = 0
  const idle = setTimeout(() => {
    server.closeIdleConnections()
    // One that has never said a word is not idle to node:http: a browser opens such ahead of need.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }, IDLE_GRACE_MS)
  const deadline = setTimeout(() => {
    destroyed = sockets.size
    for (const socket of sockets) socket.destroy()
  }, timeoutMs)
  await closed
  clearTimeout(idle)
  clearTimeout(deadline)
  return destroyed
}

function openSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
