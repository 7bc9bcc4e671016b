import type { IncomingMessage } from 'node:http'

/** Maximum time for which bytes are still accepted after a response, in milliseconds. */
export const LINGER_MS = 1_000

const MAX_LINGER_BYTES = 16_777_216

/** Reads and drops the rest of a message until it ends or reaches a limit. Then calls `done`. */
export function linger(message: IncomingMessage, done: () => void): void {
  let bytes = 0
  const finish = (): void => {
    clearTimeout(timer)
    message.off('data', onData).off('end', finish).off('close', finish)
    done()
  }
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length
    if (bytes > MAX_LINGER_BYTES) finish()
  }
  const timer = setTimeout(finish, LINGER_MS)
  message.on('data', onData).on('end', finish).on('close', finish).resume()
}
