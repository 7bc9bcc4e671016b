import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpError } from './errors.ts'

/** How long a client may still send when it has been answered, in milliseconds. */
export const LINGER_MS = 1_000

// So many requests may wait on a connection for their turn; further ones are not read before.
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
  /** What was wrong with what came; nothing that comes after it is looked at. */
  fault: HttpError | undefined
  /** What is called when the socket closes. */
  readonly onClose: Set<() => void>
}

const connections = new WeakMap<Socket, Connection>()

/** The connection of a socket. */
export function connectionOf(socket: Socket): Connection {
  let connection = connections.get(socket)
  if (connection === undefined) {
    const onClose = new Set<() => void>()
    connection = { last: undefined, pipelined: 0, fault: undefined, onClose }
    connections.set(socket, connection)
    socket.once('close', () => {
      for (const listener of onClose) listener()
    })
  }
  return connection
}

/** Notes a request that came, and holds back a client that sends too many ahead of their answers. */
export function noteRequest(connection: Connection, socket: Socket, out: ServerResponse): void {
  const isWaiting = connection.last !== undefined && !connection.last.writableFinished
  connection.pipelined = isWaiting ? connection.pipelined + 1 : 0
  connection.last = out
  if (connection.pipelined < MOST_PIPELINED) return
  connection.pipelined = 0
  socket.pause()
  out.once('close', () => socket.resume())
}

/** The answer that is under way on a socket; undefined where none is. */
export function answerUnderWay(socket: Socket): ServerResponse | undefined {
  const last = connections.get(socket)?.last
  return last?.writableFinished ? undefined : last
}

/** Whether a request was answered on a socket. */
export function hasAnswered(socket: Socket): boolean {
  return connections.get(socket)?.last !== undefined
}
