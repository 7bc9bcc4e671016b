import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpError } from '../http/errors.ts'

// Maximum pipelined requests in flight per connection. Later ones wait, and reading is paused.
const MAX_IN_FLIGHT = 64

/**
 * The state that the exchanges on one socket share.
 *
 * It belongs to the socket: if that closes, a response queued behind another emits no `close`.
 */
export class Connection {
  /** Kept here because a destroyed message has no socket. */
  readonly socket: Socket
  /** The response to the most recent request. */
  latest: ServerResponse | undefined
  /** Number of requests after the last one that arrived while no response was active. */
  pipelined = 0
  /** Whether the last request of the connection has arrived: everything behind it is ignored. */
  hasLastRequest = false
  /** The error of the event `clientError`. Bytes that arrive after it are ignored. */
  fault: HttpError | undefined
  /** The functions that are called when the socket closes. */
  readonly onClose: Set<() => void> = new Set()
  // Number of pipelined requests that have started and whose responses are not sent yet.
  #active = 0
  // Functions that start the pipelined requests that have not started, in order of arrival.
  readonly #queued: (() => void)[] = []
  #isPaused = false

  constructor(socket: Socket) {
    this.socket = socket
    socket.once('close', () => {
      this.#queued.length = 0
      for (const listener of this.onClose) listener()
    })
  }

  /** The latest response; undefined if it has been sent, or if there is none. */
  get activeResponse(): ServerResponse | undefined {
    return this.latest?.writableFinished ? undefined : this.latest
  }

  /**
   * Records a request that has arrived, and pauses reading if too many are pipelined.
   *
   * @param maxPauseMs Maximum length of one pause (default 5,000), because the timeout of a partly
   *   received request continues during a pause.
   */
  recordRequest(out: ServerResponse, mustBeLast: boolean, maxPauseMs = 5_000): void {
    const { activeResponse } = this
    this.latest = out
    this.hasLastRequest = mustBeLast
    if (activeResponse === undefined) this.pipelined = 0
    else if (++this.pipelined >= MAX_IN_FLIGHT) this.#pauseReading(activeResponse, maxPauseMs)
  }

  // Pauses until the response before the latest one closes: its request has arrived completely.
  #pauseReading(out: ServerResponse, maxPauseMs: number): void {
    const { socket } = this
    socket.pause()
    if (this.#isPaused) return
    const pauseAgain = (): void => void socket.pause()
    const resumeReading = (): void => {
      clearTimeout(timer)
      out.off('close', resumeReading)
      socket.off('resume', pauseAgain)
      this.#isPaused = false
      // Nothing more is read after a fault.
      if (this.fault === undefined) socket.resume()
    }
    const timer = setTimeout(resumeReading, maxPauseMs).unref()
    this.#isPaused = true
    // node:http resumes the socket after each message and for each body.
    socket.on('resume', pauseAgain)
    out.once('close', resumeReading)
  }

  /** Starts a pipelined request as soon as fewer than the maximum are in flight. */
  startInTurn(out: ServerResponse, start: () => void): void {
    const startNow = (): void => {
      this.#active++
      out.once('finish', () => {
        this.#active--
        this.#queued.shift()?.()
      })
      start()
    }
    if (this.#active < MAX_IN_FLIGHT) startNow()
    else this.#queued.push(startNow)
  }

  /** Calls `onSent` when a response is sent, or `onGone` if the client leaves before that. */
  watchOutcome(out: ServerResponse, onGone: () => void, onSent?: () => void): void {
    if (this.socket.destroyed) {
      onGone()
      return
    }
    if (out.writableFinished) return
    this.onClose.add(onGone)
    out.once('finish', () => {
      this.onClose.delete(onGone)
      onSent?.()
    })
  }
}

// The connection is a property of its socket: a WeakMap would add a cache miss to every request.
const CONNECTION: unique symbol = Symbol('portico:connection')

/** Returns the connection of a socket; creates it on the first call. */
export function connectionOf(socket: Socket & { [CONNECTION]?: Connection }): Connection {
  socket[CONNECTION] ??= new Connection(socket)
  return socket[CONNECTION]
}
