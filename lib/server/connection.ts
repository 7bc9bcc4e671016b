import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpError } from '../http/errors.ts'

// Maximum pipelined requests in flight per connection. Later ones are queued, and reading is paused.
const MAX_IN_FLIGHT = 64

/**
 * The state that the exchanges on one socket share.
 *
 * It belongs to the socket and not to a response: if the socket closes, a response that is queued behind another one
 * never emits `close`.
 */
export interface Connection {
  /** Kept here because a destroyed message has no socket. */
  readonly socket: Socket
  /** The response to the most recent request. */
  latest: ServerResponse | undefined
  /** Number of requests that arrived before the response to an earlier one was sent; 0 again when all are sent. */
  pipelined: number
  /** Number of pipelined requests that have started and whose responses are not sent yet. */
  active: number
  /** Functions that start the pipelined requests that have not started, in order of arrival. */
  readonly queued: (() => void)[]
  /** Whether reading is paused because too many requests are in flight. */
  isPaused: boolean
  /** Whether the last request of the connection has arrived: everything behind it is ignored. */
  hasLastRequest: boolean
  /** The error in the received bytes. Everything behind them is ignored. */
  fault: HttpError | undefined
  /** Called when the socket closes. */
  readonly onClose: Set<() => void>
}

// A property of the socket: a WeakMap would add a cache miss to every request.
const CONNECTION: unique symbol = Symbol('portico:connection')

type ConnectedSocket = Socket & { [CONNECTION]?: Connection }

/** Returns the connection of a socket; creates it at the first call. */
export function connectionOf(socket: ConnectedSocket): Connection {
  return socket[CONNECTION] ?? createConnection(socket)
}

function createConnection(socket: ConnectedSocket): Connection {
  const connection: Connection = {
    socket,
    latest: undefined,
    pipelined: 0,
    active: 0,
    queued: [],
    isPaused: false,
    hasLastRequest: false,
    fault: undefined,
    onClose: new Set(),
  }
  socket[CONNECTION] = connection
  socket.once('close', () => {
    connection.queued.length = 0
    for (const listener of connection.onClose) listener()
  })
  return connection
}

/**
 * Records a request that has arrived, and pauses reading if too many are pipelined.
 *
 * @param maxPauseMs Maximum length of one pause, during which the timeout of a partly received request continues.
 */
export function recordRequest(
  connection: Connection,
  out: ServerResponse,
  maxPauseMs: number,
): void {
  const { latest } = connection
  connection.latest = out
  if (latest === undefined || latest.writableFinished) connection.pipelined = 0
  else if (++connection.pipelined >= MAX_IN_FLIGHT) pauseReading(connection, latest, maxPauseMs)
}

/** Starts a pipelined request as soon as fewer than the maximum are in flight. */
export function startInTurn(connection: Connection, out: ServerResponse, start: () => void): void {
  const startNow = (): void => {
    connection.active++
    out.once('finish', () => {
      connection.active--
      connection.queued.shift()?.()
    })
    start()
  }
  if (connection.active < MAX_IN_FLIGHT) startNow()
  else connection.queued.push(startNow)
}

// Pauses until the response before the latest one closes. Its request has arrived completely, so it can be sent.
function pauseReading(connection: Connection, out: ServerResponse, maxPauseMs: number): void {
  const { socket } = connection
  socket.pause()
  if (connection.isPaused) return
  const pauseAgain = (): void => void socket.pause()
  const resumeReading = (): void => {
    clearTimeout(timer)
    out.off('close', resumeReading)
    socket.off('resume', pauseAgain)
    connection.isPaused = false
    // After a fault nothing more is read.
    if (connection.fault === undefined) socket.resume()
  }
  const timer = setTimeout(resumeReading, maxPauseMs).unref()
  connection.isPaused = true
  // node:http resumes the socket after each message and for each body.
  socket.on('resume', pauseAgain)
  out.once('close', resumeReading)
}

/** Calls `onGone` if the client leaves before a response has been sent, and `onSent` when it has been sent. */
export function watchOutcome(
  { socket, onClose }: Connection,
  out: ServerResponse,
  onGone: () => void,
  onSent?: () => void,
): void {
  if (socket.destroyed) {
    onGone()
    return
  }
  if (out.writableFinished) return
  onClose.add(onGone)
  out.once('finish', () => {
    onClose.delete(onGone)
    onSent?.()
  })
}

/** Reports whether a message arrived behind the last request of its connection. */
export function isAfterLast({ socket }: { readonly socket: ConnectedSocket }): boolean {
  return socket[CONNECTION]?.hasLastRequest === true
}

/** Returns the latest response of a socket; undefined if it has been sent, or if there is none. */
export function activeResponse(socket: ConnectedSocket): ServerResponse | undefined {
  const latest = socket[CONNECTION]?.latest
  return latest?.writableFinished ? undefined : latest
}

/** Reports whether a request has arrived on a socket. */
export function hasRequested(socket: ConnectedSocket): boolean {
  return socket[CONNECTION]?.latest !== undefined
}
