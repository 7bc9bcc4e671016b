import type { IncomingMessage } from 'node:http'
import { ClientGoneError } from '../http/errors.ts'
import { closeAtOnce, dropRest } from './close-slowly.ts'
import type { Connection } from './connection.ts'
import { failReader } from './reading.ts'

// The maximum time for which a reader may pause the message, in milliseconds.
const MAX_PAUSE_MS = 100

/**
 * Reads and drops the rest of a message until it ends or reaches a limit, or the server stops. Then calls `done`.
 *
 * A reader that pauses the message for a tenth of a second fails: the action has left it, as `pipe()` does if its target fails.
 */
export function linger(message: IncomingMessage, connection: Connection, done: () => void): void {
  let timer: NodeJS.Timeout | undefined
  const dropReader = (): void => {
    if (!message.isPaused()) return
    failReader(message.unpipe(), new ClientGoneError())
    message.resume()
  }
  const onPause = (): void => {
    clearTimeout(timer)
    timer = setTimeout(dropReader, MAX_PAUSE_MS).unref()
  }
  const finish = (): void => {
    stop()
    clearTimeout(timer)
    connection.endLinger = undefined
    message.off('end', finish).off('close', finish).off('pause', onPause)
    done()
  }
  const giveUp = (): void => {
    closeAtOnce(connection.socket)
    finish()
  }
  const stop = dropRest(message, giveUp)
  connection.endLinger = giveUp
  message.on('end', finish).on('close', finish).on('pause', onPause)
}
