import type { IncomingMessage } from 'node:http'
import { closeAtOnce, dropRest } from './close-slowly.ts'
import type { Connection } from './connection.ts'

/** Reads and drops the rest of a message until it ends or reaches a limit, or the server stops. Then calls `done`. */
export function linger(message: IncomingMessage, connection: Connection, done: () => void): void {
  const finish = (): void => {
    stop()
    connection.endLinger = undefined
    message.off('end', finish).off('close', finish).off('pause', flow)
    done()
  }
  const giveUp = (): void => {
    closeAtOnce(connection.socket)
    finish()
  }
  // A reader that the action has left, as `pipe()` does, pauses the message when its buffer is full.
  const flow = (): void => void message.resume()
  const stop = dropRest(message, giveUp)
  connection.endLinger = giveUp
  message.on('end', finish).on('close', finish).on('pause', flow)
}
