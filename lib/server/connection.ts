import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpError } from '../http/errors.ts'

// So many requests of a connection are under way at a time; further ones are not begun before, and not read.
const MOST_PIPELINED = 64

/**
 * What the exchanges on one socket share. By the socket, and not by the response: one that waits behind
 * another on the connection never hears of its end.
 */
export interface Connection {
  /** The answer to the request that came last. */
  last: ServerResponse | undefined
  /** How many requests came since all were answered. */
  pipelined: number
  /** How many of them have begun, and are not answered. */
  begun: number
  /** What begins those that have not, when it is their turn. */
  readonly waiting: (() => void)[]
  /** Whether no further ones are read for now. */
  isHeld: boolean
  /** Whether a request came that must be the last: what stands behind it is not looked at. */
  isOver: boolean
  /** What was wrong with what came; nothing that comes after it is looked at. */
  fault: HttpError | undefined
  /** What is called when the socket closes. */
  readonly onClose: Set<() => void>
}

// On the socket itself: to look a socket up in a WeakMap is to go to a cold place in memory for each request.
const CONNECTION: unique symbol = Symbol('portico:connection')

type ConnectedSocket = Socket & { [CONNECTION]?: Connection }

/** The connection of a socket. */
export function connectionOf(socket: ConnectedSocket): Connection {
  return socket[CONNECTION] ?? newConnection(socket)
}

function newConnection(socket: ConnectedSocket): Connection {
  const onClose = new Set<() => void>()
  const connection: Connection = {
    last: undefined,
    pipelined: 0,
    begun: 0,
    waiting: [],
    isHeld: false,
    isOver: false,
    fault: undefined,
    onClose,
  }
  socket[CONNECTION] = connection
  socket.once('close', () => {
    connection.waiting.length = 0
    for (const listener of onClose) listener()
  })
  return connection
}

/**
 * Notes a request that came, and holds back a client that sends too many ahead of their answers.
 *
 * @param mostMs How long at a time: the clock of a request that has come in part runs on meanwhile.
 */
export function noteRequest(
  connection: Connection,
  socket: Socket,
  out: ServerResponse,
  mostMs: number,
): void {
  const { last } = connection
  connection.last = out
  if (last === undefined || last.writableFinished) connection.pipelined = 0
  else if (++connection.pipelined >= MOST_PIPELINED) hold(connection, socket, last, mostMs)
}

/** Begins a request that was sent ahead of an answer: at once, or when fewer of its connection are under way. */
export function beginInTurn(connection: Connection, out: ServerResponse, begin: () => void): void {
  const { waiting } = connection
  const start = (): void => {
    connection.begun++
    out.once('finish', () => {
      connection.begun--
      waiting.shift()?.()
    })
    begin()
  }
  if (connection.begun < MOST_PIPELINED) start()
  else waiting.push(start)
}

// Until an answer is out whose request has come whole. `node:http` lets a connection flow on behind each message
// and for each body, so it is paused again and again.
function hold(connection: Connection, socket: Socket, last: ServerResponse, mostMs: number): void {
  socket.pause()
  if (connection.isHeld) return
  const pause = (): void => void socket.pause()
  const release = (): void => {
    clearTimeout(timer)
    last.off('close', release)
    socket.off('resume', pause)
    connection.isHeld = false
    // What is broken is not read on.
    if (connection.fault === undefined) socket.resume()
  }
  const timer = setTimeout(release, mostMs).unref()
  connection.isHeld = true
  socket.on('resume', pause)
  last.once('close', release)
}

/** Whether a message came behind one that must be the last on its connection. */
export function isAfterLast({ socket }: { readonly socket: ConnectedSocket }): boolean {
  return socket[CONNECTION]?.isOver === true
}

/** The answer that is under way on a socket; undefined where none is. */
export function activeResponse(socket: ConnectedSocket): ServerResponse | undefined {
  const last = socket[CONNECTION]?.last
  return last?.writableFinished ? undefined : last
}

/** Whether a request was answered on a socket. */
export function hasAnswered(socket: ConnectedSocket): boolean {
  return socket[CONNECTION]?.last !== undefined
}
