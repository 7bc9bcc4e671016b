import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpError } from '../http/errors.ts'

// Maximum pipelined requests in flight per connection. Later ones are queued; reading is paused.
const MAX_IN_FLIGHT = 64

/**
 * The state that the exchanges on one socket share.
 *
 * It belongs to the socket and not to a response: if the socket closes, a response that is queued
 * behind another one never emits `close`.
 */
export class Connection {
  /** Kept here because a destroyed message has no socket. */
  readonly socket: Socket
  /** The response to the most recent request. */
  latest: ServerResponse | undefined
  /** Number of requests that arrived before an earlier response was sent; 0 when all are sent. */
  pipelined = 0
  /** Whether the last request has arrived: everything behind it is ignored. */
  hasLastRequest = false
  /** The error in the received bytes. Everything behind them is ignored. */
  fault: HttpError | undefined
  /** Called when the socket closes. */
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
   * @param maxPauseMs Maximum length of one pause (default 5,000), during which the timeout of a
   *   partly received request continues.
   */
  recordRequest(out: ServerResponse, mustBeLast: boolean, maxPauseMs = 5_000): void {
    const { activeResponse } = this
    this.latest = out
    this.hasLastRequest = mustBeLast
    if (activeResponse === undefined) this.pipelined = 0
    else if (++this.pipelined >= MAX_IN_FLIGHT) this.#pauseReading(activeResponse, maxPauseMs)
  }

  // Pauses until the response before the latest one closes. Its request has arrived completely, so
  // it can be sent.
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
      // After a fault nothing more is read.
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

  /** Calls `onGone` if the client leaves before a response is sent, `onSent` when it is sent. */
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

// A property of the socket: a WeakMap would add a cache miss to every request.
const CONNECTION: unique symbol = Symbol('portico:connection')

/** Returns the connection of a socket; creates it at the first call. */
export function connectionOf(socket: Socket & { [CONNECTION]?: Connection }): Connection {
  socket[CONNECTION] ??= new Connection(socket)
  return socket[CONNECTION]
}
