import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * What the exchanges on one socket share. By the socket, and not by the response: one that waits behind
 * another on the connection never hears of its end.
 */
export interface Connection {
  /** The answer to the request that came last. */
  last: ServerResponse | undefined
  /** What is called when the socket closes. */
  readonly onClose: Set<() => void>
}

const connections = new WeakMap<Socket, Connection>()

/** The connection of a socket. */
export function connectionOf(socket: Socket): Connection {
  let connection = connections.get(socket)
  if (connection === undefined) {
    connection = { last: undefined, onClose: new Set() }
    connections.set(socket, connection)
    const { onClose } = connection
    socket.once('close', () => {
      for (const listener of onClose) listener()
    })
  }
  return connection
}

/** The answer that is under way on a socket; undefined where none is. */
export function answerUnderWay(socket: Socket): ServerResponse | undefined {
  const last = connections.get(socket)?.last
  return last?.writableFinished ? undefined : last
}
