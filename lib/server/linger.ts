import type { IncomingMessage } from 'node:http'
import { closeAtEnd, LINGER_MS, MAX_LINGER_BYTES } from './close-slowly.ts'
import type { Connection } from './connection.ts'

/** Reads and drops the rest of a message until it ends or reaches a limit, or the server stops. Then calls `done`. */
export function linger(message: IncomingMessage, connection: Connection, done: () => void): void {
  let bytes = 0
  const finish = (): void => {
    clearTimeout(timer)
    connection.endLinger = undefined
    message.off('data', onData).off('end', finish).off('close', finish)
    done()
  }
  const giveUp = (): void => {
    closeAtEnd(connection.socket)
    finish()
  }
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length
    if (bytes > MAX_LINGER_BYTES) giveUp()
  }
  connection.endLinger = giveUp
  const timer = setTimeout(giveUp, LINGER_MS)
  message.on('data', onData).on('end', finish).on('close', finish).resume()
}
