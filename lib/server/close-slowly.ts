import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Maximum time for which bytes are still accepted after a response, in milliseconds. */
export const LINGER_MS = 1_000

/**
 * Sends the last bytes of a connection, and drops the bytes that still arrive for a while: closing at once would reset the
 * connection, and the client might lose the end of a response.
 */
export function closeSlowly(socket: Duplex, bytes: string): void {
  socket.end(bytes).resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

/** Closes a connection slowly after its last response, which `node:http` would close at once. */
export function closeSlowlyAtEnd(socket: Socket): void {
  socket.destroySoon = closeBehind
}

/** Reads nothing more from a connection until its last response has been sent, and then closes it slowly. */
export function stopReading(socket: Socket): void {
  if (socket.listeners('resume').includes(stayPaused)) return
  closeSlowlyAtEnd(socket)
  socket.pause().on('resume', stayPaused)
}

// node:http calls it after the last response.
function closeBehind(this: Socket): void {
  // With a listener of its own, the bytes are not parsed.
  this.off('resume', stayPaused)
    .removeAllListeners('data')
    .on('data', () => {})
  closeSlowly(this, '')
}

// Pauses again, because node:http resumes the socket after each message and for each body.
function stayPaused(this: Socket): void {
  this.pause()
}
