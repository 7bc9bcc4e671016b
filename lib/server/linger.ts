import type { IncomingMessage } from 'node:http'
import { closeAtOnce, dropRest } from './close-slowly.ts'
import type { Connection } from './connection.ts'

/** Reads and drops the rest of a message until it ends or reaches a limit, or the server stops. Then calls `done`. */
export function linger(message: IncomingMessage, connection: Connection, done: () => void): void {
  const finish = (): void => {
    stop()
    connection.endLinger = undefined
    message.off('end', finish).off('close', finish)
    done()
  }
  const giveUp = (): void => {
    closeAtOnce(connection.socket)
    finish()
  }
  const stop = dropRest(message, giveUp)
  connection.endLinger = giveUp
  message.on('end', finish).on('close', finish)
}
