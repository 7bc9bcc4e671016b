import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, ListenOptions, Socket } from 'node:net'
import { checkedLimits, checkNames } from '../http/check-options.ts'
import { handleClientErrors } from './client-error.ts'
import { drain } from './drain.ts'
import type { Access } from './exchange.ts'
import { DEFAULT_HEADER_LIMITS, type HeaderLimits } from './framing.ts'
import { createRequestListener, type Handler } from './request-listener.ts'

/** What a connection may take (SPEC section 7). */
export interface ServerLimits extends HeaderLimits {
  /** Bytes of a request target (default 8,192); beyond it 414. */
  readonly maxTargetBytes: number
  /** Connections at a time (default 10,000); one more is dropped. */
  readonly maxConnections: number
  /** Milliseconds for the headers to come (default 10,000); beyond it 408. */
  readonly headersTimeoutMs: number
  /** Milliseconds for the whole request to come (default 30,000); beyond it 408. */
  readonly requestTimeoutMs: number
  /** Milliseconds that a connection may be idle between two requests (default 65,000). */
  readonly keepAliveTimeoutMs: number
  /** Milliseconds without a byte either way (default 30,000): ends clients that do not read, after two of it. */
  readonly socketTimeoutMs: number
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  ...DEFAULT_HEADER_LIMITS,
  maxTargetBytes: 8_192,
  maxConnections: 10_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 65_000,
  socketTimeoutMs: 30_000,
}

/** Where and how to listen. */
export interface ServeOptions {
  /** The port; 0 takes a free one (default 3000). */
  readonly port?: number | undefined
  /** The address (default `127.0.0.1`). */
  readonly host?: string | undefined
  /** A socket that listens already, in place of port and host: a file descriptor, as systemd hands it over. */
  readonly fd?: number | undefined
  /** What a connection may take; what is left out keeps its default. */
  readonly limits?: Partial<ServerLimits> | undefined
  /** How long {@link Service.close} waits for requests in flight, in milliseconds (default 10,000). */
  readonly closeTimeoutMs?: number | undefined
  /** Is told of every request when its answer is out (default: nobody is). */
  readonly onAccess?: ((access: Access) => void) | undefined
}

/** A server that listens. */
export interface Service {
  /** Such as `http://127.0.0.1:3000`. */
  readonly url: string
  /** The server of `node:http`, for what is not done here, such as `upgrade`. */
  readonly server: Server
  /**
   * Stops: accepts no more connections, answers what is in flight with `Connection: close`, and ends
   * what is left when the time is over.
   *
   * @returns How many connections had to be destroyed.
   */
  close(): Promise<number>
}

const OPTIONS: readonly (keyof ServeOptions)[] = [
  'port',
  'host',
  'fd',
  'limits',
  'closeTimeoutMs',
  'onAccess',
]

/**
 * Listens, and answers every request through a handler.
 *
 * @returns When it listens.
 * @throws {TypeError | RangeError} If an option or a limit is not what it should be.
 * @throws {Error} If it can't: the port is in use, the address is not this machine's.
 */
export async function serve(handler: Handler, options: ServeOptions = {}): Promise<Service> {
  checkNames('options', options, OPTIONS)
  const { closeTimeoutMs = 10_000, onAccess } = options
  const limits = checkedLimits(DEFAULT_SERVER_LIMITS, options.limits ?? {})
  let closing = false
  const server = limitedServer(limits)
  const sockets = openSockets(server, limits.maxConnections)
  const expectsContinue = new WeakSet<IncomingMessage>()
  const listener = createRequestListener(handler, {
    headerLimits: limits,
    closing: () => closing,
    maxPauseMs: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs) / 2,
    onAccess,
    expectsContinue,
  })
  server.on('request', listener)
  // Node would answer it itself, with nothing of what is checked here.
  server.on('checkExpectation', listener)
  server.on('checkContinue', (message, out) => {
    expectsContinue.add(message)
    listener(message, out)
  })
  handleClientErrors(server, handler, limits.maxTargetBytes)
  server.listen(listenOptionsOf(options))
  await once(server, 'listening')

  return {
    url: urlOf(server.address()),
    server,
    async close() {
      closing = true
      const destroyed = await drain(server, sockets, closeTimeoutMs)
      handler.flush?.()
      return destroyed
    },
  }
}

function limitedServer(limits: ServerLimits): Server {
  const server = createServer({
    // The parser counts the target too; which of both was too long is told apart by our own checks.
    maxHeaderSize: limits.maxHeaderBytes + limits.maxTargetBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // At its default, 30 s, every cut would come so much later.
    connectionsCheckingInterval: 1_000,
    insecureHTTPParser: false,
    // Our own check answers through the error action, and sees two of them as well.
    requireHostHeader: false,
  })
  // Node would drop further fields in silence; our own check refuses them.
  server.maxHeadersCount = 0
  // The only brake on clients that do not read their answers.
  server.timeout = limits.socketTimeoutMs
  // Any other value answers pipelined requests with a 503.
  server.maxRequestsPerSocket = 0
  return server
}

function listenOptionsOf({ port = 3000, host = '127.0.0.1', fd }: ServeOptions): ListenOptions {
  return fd === undefined ? { port, host } : ({ fd } as ListenOptions)
}

// Not server.maxConnections: full workers of a cluster hand a connection round for ever.
function openSockets(server: Server, maxConnections: number): Set<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    if (sockets.size >= maxConnections) {
      socket.destroy()
      return
    }
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') return `unix:${address}`
  return httpUrl(address.address, address.port)
}

/** The URL of an address and a port; an IPv6 address stands in brackets. */
export function httpUrl(address: string, port: number): string {
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}
