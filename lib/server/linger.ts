import type { IncomingMessage } from 'node:http'

/** How long a client may still send when it has been answered, in milliseconds. */
export const LINGER_MS = 1_000

// How much it may send meanwhile.
const LINGER_BYTES = 16_777_216

/** Takes what a client still sends of a message, and drops it, within bounds; then calls. */
export function linger(message: IncomingMessage, done: () => void): void {
  let bytes = 0
  const finish = (): void => {
    clearTimeout(timer)
    message.off('data', onData).off('end', finish).off('close', finish)
    done()
  }
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length
    if (bytes > LINGER_BYTES) finish()
  }
  const timer = setTimeout(finish, LINGER_MS)
  message.on('data', onData).on('end', finish).on('close', finish).resume()
}
