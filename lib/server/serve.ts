import { once, setMaxListeners } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  checkedLimits,
  checkOptions,
  type Kind,
  NUMBER,
  OBJECT,
  UNCHECKED,
} from '../http/check-options.ts'
import { ServerClosingError } from '../http/errors.ts'
import { handleClientErrors } from './client-error.ts'
import { type CloseResult, drain } from './drain.ts'
import { DEFAULT_HEADER_LIMITS, type HeaderLimits, recordExpectation } from './framing.ts'
import type { Handler, HandlingOptions, ListenerOptions } from './handler.ts'
import { createRequestListener } from './request-listener.ts'
import { ServerCounter, type ServerCounts } from './server-counts.ts'
import { ServerStop } from './server-stop.ts'
import { handleUpgrades } from './upgrade.ts'

/** Limits of the server and its connections. */
export interface ServerLimits extends HeaderLimits {
  /** Maximum bytes of a request target (default 8,192); beyond it 414. */
  readonly maxTargetBytes: number
  /** Maximum open connections (default 10,000); further ones are closed at once. */
  readonly maxConnections: number
  /** Maximum milliseconds for the headers to arrive (default 10,000); beyond it 408. */
  readonly headersTimeoutMs: number
  /** Maximum milliseconds for the whole request to arrive (default 30,000); beyond it 408. */
  readonly requestTimeoutMs: number
  /** Maximum idle milliseconds between two requests (default 65,000). */
  readonly keepAliveTimeoutMs: number
  /**
   * Maximum milliseconds without a byte in either direction (default 30,000). A client that does
   * not read its response is disconnected after twice this time.
   */
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

/** Options of {@link serve}. */
export interface ServeOptions extends HandlingOptions {
  /** The port (default 3000); 0 picks a free one. */
  readonly port?: number | undefined
  /** The address to listen on (default `127.0.0.1`). */
  readonly host?: string | undefined
  /** File descriptor of a listening socket, as systemd passes it. Replaces `port` and `host`. */
  readonly fd?: number | undefined
  /** Limits that differ from their defaults. */
  readonly limits?: Partial<ServerLimits> | undefined
  /** Maximum milliseconds that {@link Service.close} waits for active requests (default 10,000). */
  readonly closeTimeoutMs?: number | undefined
}

/** A server that is listening. */
export interface Service {
  /** The URL of the server, such as `http://127.0.0.1:3000`. */
  readonly url: string
  /**
   * The server of `node:http`, for events that Portico does not handle, such as `upgrade`. A listener for `upgrade` runs only for
   * a valid message, after the responses to the requests before it. Its `close()` is that of the service.
   */
  readonly server: Server
  /**
   * Aborts with a {@link ServerClosingError} when {@link Service.close} is called. WebSockets and event
   * streams, whose `request.signal` aborts too, must then end, or the server waits for them until the
   * deadline.
   */
  readonly closing: AbortSignal
  /** The connections and requests of the server, counted when it is read. */
  readonly counts: ServerCounts
  /**
   * Stops the server: accepts no more connections, responds to requests in flight with
   * `Connection: close`, and destroys the remaining connections after `closeTimeoutMs`. A second call
   * returns the same promise.
   */
  close(): Promise<CloseResult>
}

const OPTIONS: Readonly<Record<keyof ServeOptions, Kind>> = {
  port: UNCHECKED,
  host: UNCHECKED,
  fd: UNCHECKED,
  limits: OBJECT,
  closeTimeoutMs: NUMBER,
  onAccess: UNCHECKED,
  before: UNCHECKED,
  idHeader: UNCHECKED,
}

/**
 * Starts a server that responds to every request with a handler.
 *
 * @returns The service, as soon as it listens.
 * @throws {TypeError | RangeError} If an option is unknown or has a wrong value.
 * @throws {Error} If the server cannot listen.
 */
export async function serve(handler: Handler, options: ServeOptions = {}): Promise<Service> {
  checkOptions('options', options, OPTIONS)
  const { port = 3000, host = '127.0.0.1', fd, closeTimeoutMs = 10_000 } = options
  const { onAccess, before, idHeader } = options
  const limits = checkedLimits(DEFAULT_SERVER_LIMITS, options.limits ?? {})
  const controller = new AbortController()
  const { signal: closing } = controller
  // Each WebSocket may add a listener. Node would print a warning from the eleventh on.
  setMaxListeners(0, closing)
  const server = createLimitedServer(limits)
  const counter = new ServerCounter()
  counter.track(server, limits.maxConnections)
  handleRequests(server, handler, limits, { closing, onAccess, before, idHeader })
  const reporter = counter.counting(handler)
  handleClientErrors(server, reporter, limits.maxTargetBytes)
  handleUpgrades(server, reporter, limits, closing)
  server.listen(fd === undefined ? { port, host } : { fd })
  await once(server, 'listening')

  let closed: Promise<CloseResult> | undefined
  const stop = async (): Promise<CloseResult> => {
    const { running } = ServerStop.of(closing)
    const result = await drain(server, counter.sockets, closeTimeoutMs, running)
    handler.flush?.()
    return result
  }
  const service: Service = {
    url: urlOf(server.address() as AddressInfo | null),
    server,
    closing,
    get counts() {
      return counter.counts
    },
    close() {
      // A listener of the signal may call it again.
      if (!closing.aborted) controller.abort(new ServerClosingError())
      closed ??= stop()
      return closed
    },
  }
  // The application, or a library that it has given the server to, may call it.
  server.close = (done) => {
    service.close().then(() => done?.(), done)
    return server
  }
  return service
}

function handleRequests(
  server: Server,
  handler: Handler,
  limits: ServerLimits,
  options: ListenerOptions,
): void {
  const { maxHeaderBytes, maxHeaderFields, maxTargetBytes } = limits
  const listener = createRequestListener(handler, {
    ...options,
    headerLimits: { maxHeaderBytes, maxHeaderFields, maxTargetBytes },
  })
  server.on('request', listener)
  // Without this, node:http would respond to an unknown expectation itself, without our checks.
  server.on('checkExpectation', listener)
  server.on('checkContinue', (message, out) => {
    recordExpectation(message)
    listener(message, out)
  })
}

function createLimitedServer(limits: ServerLimits): Server {
  const server = createServer({
    // The parser also counts the target. Our own checks then find which of the two is too long.
    maxHeaderSize: limits.maxHeaderBytes + limits.maxTargetBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // With the default of 30 s, every timeout could be late by up to 30 s.
    connectionsCheckingInterval: 1_000,
    insecureHTTPParser: false,
    // Our own check also rejects two hosts, and the error action responds.
    requireHostHeader: false,
  })
  // Without this limit, an incomplete head of 24 kB takes 90 kB of memory, and not 13 kB. It is higher than our own, because Node 20
  // drops the fields beyond it silently, and newer versions reject the message. It is at most 1e9, because node:http doubles it
  // by a shift.
  server.maxHeadersCount = Math.min(2 * limits.maxHeaderFields, 1e9)
  // This is the only limit for clients that do not read their responses.
  server.timeout = limits.socketTimeoutMs
  // Without this, a client that ends its side of the connection would lose a response that takes
  // time. The types of Node do not declare it.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Any other value makes node:http respond to pipelined requests with a 503.
  server.maxRequestsPerSocket = 0
  return server
}

// An inherited UNIX socket has no address.
function urlOf(address: AddressInfo | null): string {
  return address === null ? 'unix:inherited' : httpUrl(address.address, address.port)
}

/** Returns the URL of an address and a port, with an IPv6 address in brackets. */
export function httpUrl(address: string, port: number): string {
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}
