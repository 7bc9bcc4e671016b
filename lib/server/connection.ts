import { AsyncResource } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpError } from '../http/errors.ts'
import { forgetLastMatch } from '../http/retention.ts'
import { closeSlowlyAtEnd, leaveToListener, stopReading } from './close-slowly.ts'
import { pauseReading } from './reading.ts'

// Maximum requests in flight per connection. Later ones wait, and reading is paused.
const MAX_IN_FLIGHT = 8
// A pipelined request starts only while the responses before it hold fewer bytes than this.
const MAX_WAITING_BYTES = 65_536
// One list for all connections that have no pipelined request.
const NONE: readonly ServerResponse[] = []
// Beyond this number of waiting requests, reading stays paused until they have started.
const MAX_QUEUED = 64

/** An object that is called when its response has been sent, or when the client has left before. */
export interface EndListener {
  onEnd(): void
}

// The property of a response that has its EndListener: a second listener of its event `close` would cost a copy of their list.
const LISTENER: unique symbol = Symbol('portico:end')

type Watched = ServerResponse & { [LISTENER]?: EndListener }

/** The state that the exchanges on one socket share. When it closes, a response behind another one emits no `close`. */
export class Connection {
  /** Kept here because a destroyed message has no socket. */
  readonly socket: Socket
  /** The response to the most recent request; undefined after it has been sent. */
  latest: ServerResponse | undefined
  /** Whether the most recent request arrived while a response was active. */
  isPipelined = false
  /** Whether the last request of the connection has arrived: everything behind it is ignored. */
  hasLastRequest = false
  /** Whether `node:http` has left the connection to another protocol. */
  isDetached = false
  /** Ends the wait for the rest of a body whose response is written; undefined if there is none. */
  endLinger: (() => void) | undefined
  /** The error of the event `clientError`. Bytes that arrive after it are ignored. */
  fault: HttpError | undefined
  // The listener of `latest`. That of an earlier response is its property, which costs more.
  #endListener: EndListener | undefined
  // The responses to the requests that have started. Empty until a request is pipelined.
  #inFlight: readonly ServerResponse[] = NONE
  // Functions that start the pipelined requests that have not started, in order of arrival.
  readonly #queued: (() => void)[] = []
  #resumeReading: (() => void) | undefined
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

  /** Releases a closed socket: drops its waiting requests, and calls the functions in {@link onClose}, each once. */
  close(): void {
    this.#queued.length = 0
    this.#resumeReading?.()
    for (const listener of this.#onClose ?? []) listener()
    this.#onClose?.clear()
  }

  /** The latest response; undefined if it has been sent, or if there is none. */
  get activeResponse(): ServerResponse | undefined {
    return this.latest?.writableFinished ? undefined : this.latest
  }

  /** Number of requests in flight: their actions run, or their responses are not sent yet. */
  get inFlight(): number {
    return this.activeResponse === undefined ? 0 : Math.max(1, this.#inFlight.length)
  }

  /** Whether the most recent request waits for its turn: nothing reads its body until then. */
  get isWaiting(): boolean {
    return this.#queued.length > 0
  }

  /** Records a request that has arrived. */
  recordRequest(out: ServerResponse, mustBeLast: boolean): void {
    const { activeResponse } = this
    if (this.#endListener !== undefined) this.#keepEndListener()
    this.latest = out
    // Not `finish`: node:http also listens for it, and a second listener costs a copy of the list.
    out.on('close', releaseResponse)
    this.hasLastRequest = mustBeLast
    this.isPipelined = activeResponse !== undefined
    // The response to a request that is not pipelined is not tracked until another request arrives.
    if (activeResponse !== undefined && this.#inFlight.length === 0) this.#track(activeResponse)
  }

  /**
   * Starts a pipelined request as soon as fewer than the maximum are in flight and the client has
   * read enough of the responses before it. Pauses reading until then.
   *
   * @param maxPauseMs Maximum length of one pause (default 5,000), because the timeout of a partly
   *   received request continues during a pause.
   */
  startInTurn(out: ServerResponse, start: () => void, maxPauseMs = 5_000): void {
    // Without this, `start` would run in the AsyncLocalStorage context of the request whose response makes room.
    // A function of AsyncResource.bind() would take 2.8 kB for each request that waits.
    const context = new AsyncResource('portico')
    this.#queued.push(() => {
      this.#track(out)
      context.runInAsyncScope(start)
    })
    this.#startQueued()
    if (this.#queued.length > 0) this.#pauseReading(maxPauseMs)
  }

  /**
   * Returns whether a new request is behind the last one, and so gets no response. If it is, reading stops: node:http would keep
   * each further request until the response to the last one has been sent.
   */
  isBehindLast(): boolean {
    if (!this.hasLastRequest) return false
    stopReading(this.socket)
    // The bytes that have been read may end with an upgrade, which handleUpgrades() does not see in an own server.
    setImmediate(() => {
      if (!this.isDetached) leaveToListener(this.socket)
    })
    return true
  }

  #track(out: ServerResponse): void {
    this.#inFlight = [...this.#inFlight, out]
    // A response finishes when the socket has taken its last byte.
    out.once('finish', () => {
      const others = this.#inFlight.filter((other) => other !== out)
      this.#inFlight = others.length > 0 ? others : NONE
      this.#startQueued()
    })
  }

  #startQueued(): void {
    // After a failed write, node:http emits `finish` for the responses that were not sent. Another write would emit it
    // again, which ends the process.
    if (!this.socket.writable) this.#queued.length = 0
    while (this.#queued.length > 0 && this.#hasRoom()) this.#queued.shift()?.()
    if (this.#queued.length === 0) this.#resumeReading?.()
  }

  #hasRoom(): boolean {
    if (this.#inFlight.length >= MAX_IN_FLIGHT) return false
    let waiting = 0
    for (const out of this.#inFlight) waiting += out.writableLength
    return waiting < MAX_WAITING_BYTES
  }

  #pauseReading(maxPauseMs: number): void {
    const { socket } = this
    pauseReading(socket)
    if (this.#resumeReading !== undefined) return
    const pauseAgain = (): void => pauseReading(socket)
    const timer = setTimeout(() => {
      if (this.#queued.length < MAX_QUEUED) this.#resumeReading?.()
      else timer.refresh()
    }, maxPauseMs).unref()
    this.#resumeReading = () => {
      clearTimeout(timer)
      socket.off('resume', pauseAgain)
      this.#resumeReading = undefined
      // Nothing more is read after a fault.
      if (this.fault === undefined) socket.resume()
    }
    socket.on('resume', pauseAgain)
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

  #keepEndListener(): void {
    if (this.latest !== undefined) Object.assign(this.latest, { [LISTENER]: this.#endListener })
    this.#endListener = undefined
  }

  /** Releases a response that has been closed. */
  release(out: Watched): void {
    let listener = out[LISTENER]
    if (out === this.latest) {
      // An idle connection must not keep the headers of its last request in memory.
      this.latest = undefined
      listener ??= this.#endListener
      this.#endListener = undefined
    }
    listener?.onEnd()
    forgetLastMatch()
  }

  /** Calls `onSent` when a response is sent, or `onGone` if the client leaves before that. */
  watchOutcome(out: ServerResponse, onGone: () => void, onSent?: () => void): void {
    if (this.socket.destroyed) {
      onGone()
      return
    }
    if (out.writableFinished) return
    // One of them takes the other away: the end of a connection may also finish a response that waits for the rest of a body.
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

function releaseResponse(this: ServerResponse): void {
  connectionOf(this.req.socket).release(this)
}

// The connection is a property of its socket: a WeakMap would add a cache miss to every request.
const CONNECTION: unique symbol = Symbol('portico:connection')

/** Returns the connection of a socket; creates it on the first call. */
export function connectionOf(socket: Socket & { [CONNECTION]?: Connection }): Connection {
  socket[CONNECTION] ??= new Connection(socket)
  return socket[CONNECTION]
}
