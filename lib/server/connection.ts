import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpError } from '../http/errors.ts'
import { forgetLastMatchSoon } from '../http/retention.ts'
import { closeSlowlyAtEnd, leaveToListenerSoon, stopReading } from './close-slowly.ts'
import { Pipeline } from './pipeline.ts'

/** An object that is called when its response has been sent, or when the client has left before. */
export interface EndListener {
  onEnd(): void
}

// The property of a response that has its EndListener: a second listener for `close` would copy the list of listeners.
const LISTENER: unique symbol = Symbol('portico:end')

// The connection is a property of its socket: a WeakMap would add a cache miss to every request.
const CONNECTION: unique symbol = Symbol('portico:connection')

type Watched = ServerResponse & { [LISTENER]?: EndListener }

/**
 * The state that the exchanges on one socket share. When the socket closes, a response behind another one emits no
 * `close`: `onClose` tells its listener.
 */
export class Connection {
  readonly socket: Socket
  /** The response to the most recent request; undefined after it has been sent. */
  latest: Watched | undefined
  /** Number of requests that have arrived. */
  requests = 0
  /** The pipelined requests; undefined if the most recent request arrived while no response was active, or its response has been sent. */
  pipeline: Pipeline | undefined
  /** Whether the last request of the connection has arrived: everything behind it is ignored. */
  hasLastRequest = false
  // These four are only declared: each takes no memory until it is set, which is rare.
  /** When reading last resumed after a request had been queued, by {@link monotonicMs}. */
  declare resumedAt: number | undefined
  /** Whether `node:http` has left the connection to another protocol. */
  declare isDetached: boolean | undefined
  /** Ends the wait for the rest of a body whose response is written; undefined if there is none. */
  declare endLinger: (() => void) | undefined
  /** The error of the event `clientError`. Bytes that arrive after it are ignored. */
  declare fault: HttpError | undefined
  // The listener of `latest`. That of an earlier response is its property, which costs more.
  #endListener: EndListener | undefined
  #onClose: Set<() => void> | undefined

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('close', closeConnection)
    closeSlowlyAtEnd(socket)
  }

  /** The functions that are called when the socket closes. */
  get onClose(): Set<() => void> {
    this.#onClose ??= new Set()
    return this.#onClose
  }

  /** Removes a function from {@link onClose}. An idle connection has no empty Set. */
  removeOnClose(listener: () => void): void {
    this.#onClose?.delete(listener)
    if (this.#onClose?.size === 0) this.#onClose = undefined
  }

  /** Releases a closed socket: drops its queued requests, and calls the functions in {@link onClose}, each once. */
  close(): void {
    this.pipeline?.close()
    for (const listener of this.#onClose ?? []) listener()
    this.#onClose?.clear()
  }

  /**
   * Whether the client had reset the connection before its address was read for the first time. Then nobody can read that, although
   * it may be blocked, and the client gets no response. Node remembers the address.
   */
  get isAnonymous(): boolean {
    const { socket } = this
    // A UNIX socket has neither address, and nor has a destroyed one. Node keeps each address that is read: 100 bytes.
    return (
      socket.remoteAddress === undefined && (socket.destroyed || socket.localAddress !== undefined)
    )
  }

  /** The latest response that has not been sent; undefined if there is none. After that to the most recent request, that to an earlier one may still wait. */
  get activeResponse(): ServerResponse | undefined {
    return this.latest?.writableFinished ? this.pipeline?.latest : this.latest
  }

  /** Whether the most recent request is active and its body is incomplete. */
  get isReceivingBody(): boolean {
    return this.activeResponse?.req.complete === false
  }

  /** Number of requests in flight: their actions run, or their responses are not sent yet. */
  get inFlight(): number {
    return this.activeResponse === undefined ? 0 : (this.pipeline?.inFlight ?? 1)
  }

  /** Records a request that has arrived. */
  recordRequest(out: Watched, mustBeLast: boolean): void {
    const { activeResponse } = this
    // A middleware in front of the listener has passed it to a second listener.
    if (out === this.latest || this.pipeline?.isInFlight(out)) return
    this.requests++
    // Not `finish`: node:http also listens for it, and a second listener costs a copy of the list.
    out.on('close', () => this.#release(out))
    if (!this.#isAhead(out)) {
      if (this.latest && this.#endListener) this.latest[LISTENER] = this.#endListener
      this.#endListener = undefined
      this.latest = out
      this.hasLastRequest = mustBeLast
    }
    // The response to a request that is not pipelined is not tracked until another request arrives.
    this.pipeline = activeResponse && (this.pipeline ?? new Pipeline(this, activeResponse))
  }

  /**
   * Ignores a new request if it is behind the last one, and then returns true. Reading stops: node:http would keep each further
   * request until the response to the last one has been sent.
   *
   * @param out The response to the new request: a middleware in front of the listener may pass the last one to a second listener.
   */
  ignoreBehindLast(out: ServerResponse): boolean {
    if (!this.hasLastRequest || out === this.latest || this.#isAhead(out)) return false
    stopReading(this.socket)
    leaveToListenerSoon(this)
    return true
  }

  // Whether the latest request has overtaken this one: a middleware in front of the listener may have kept this one.
  // node:http gives the socket to the responses in the order of their requests, and reads no request behind an incomplete body.
  #isAhead(out: ServerResponse): boolean {
    if (this.activeResponse === undefined || out === this.latest) return false
    return out.socket !== null || this.isReceivingBody
  }

  /** Calls a listener once when a response has been sent, or when the client has left before. */
  watchEnd(out: Watched, listener: EndListener): void {
    // node:http emits no `close` for a response that waits for the socket.
    if (out.socket === null || this.socket.destroyed) {
      const onEnd = (): void => listener.onEnd()
      this.watchOutcome(out, onEnd, onEnd)
    } else if (out === this.latest) this.#endListener = listener
    else out[LISTENER] = listener
  }

  // Releases a response that has been closed.
  #release(out: Watched): void {
    let listener = out[LISTENER]
    if (out === this.latest) {
      // An idle connection must not keep the headers of its last request in memory.
      this.latest = this.pipeline?.latest
      if (this.latest === undefined) this.pipeline = undefined
      listener ??= this.#endListener
      this.#endListener = undefined
    }
    listener?.onEnd()
    forgetLastMatchSoon()
    const { req } = out
    // node:http keeps a message whose reader stopped before its end, with its headers, until the next request.
    if (req.complete && !req.readableEnded && req.listenerCount('data') === 0) req.resume()
  }

  /** Calls `onSent` when a response is sent, or `onGone` if the client leaves before that. */
  watchOutcome(out: ServerResponse, onGone: () => void, onSent?: () => void): void {
    if (this.socket.destroyed) {
      onGone()
      return
    }
    if (out.writableFinished) return
    // The first one to run removes the other: the end of a connection may also finish a response that waits for the
    // rest of a body.
    const finish = (): void => {
      this.removeOnClose(leave)
      onSent?.()
    }
    const leave = (): void => {
      out.off('finish', finish)
      onGone()
    }
    this.onClose.add(leave)
    out.once('finish', finish)
  }
}

// One function for all connections: a closure for each would take 300 bytes of an idle connection
// (npm run bench).
function closeConnection(this: Socket): void {
  connectionOf(this).close()
}

/** Returns the connection of a socket; creates it on the first call. */
export function connectionOf(socket: Socket & { [CONNECTION]?: Connection }): Connection {
  socket[CONNECTION] ??= new Connection(socket)
  return socket[CONNECTION]
}

/** Returns the protocol of a connection: only a socket of `node:tls` is encrypted. */
export function protocolOf(socket: Socket & { readonly encrypted?: boolean }): 'http' | 'https' {
  return socket.encrypted === true ? 'https' : 'http'
}
