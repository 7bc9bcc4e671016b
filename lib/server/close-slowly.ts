import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Maximum time for which bytes are still accepted after a response, in milliseconds. */
export const LINGER_MS = 1_000
/** Maximum number of bytes that are still accepted after a response. */
export const MAX_LINGER_BYTES = 16_777_216

/**
 * Sends the last bytes of a connection, and drops the bytes that still arrive for a while: closing at once would reset the
 * connection, and the client might lose the end of a response.
 */
export function closeSlowly(socket: Duplex, bytes: string): void {
  let left = MAX_LINGER_BYTES
  socket.end(bytes).on('data', (chunk) => {
    left -= chunk.length
    if (left < 0) socket.destroy()
  })
  // A paused socket does not flow for a listener.
  startReading(socket.resume())
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  // Else the timer would keep what a closed socket refers to.
  socket.once('close', () => clearTimeout(timer))
}

/** Reads again after a pause: without the listeners of `node:http`, resume() alone does not make the system read. */
export function startReading(socket: Duplex): void {
  socket._read(0)
}

/** Closes a connection slowly after its last response, which `node:http` would close at once. */
export function closeSlowlyAtEnd(socket: Socket): void {
  socket.destroySoon = closeBehind
}

/** Closes a connection at once after its last response, as `node:http` does: its client has had its time. */
export function closeAtEnd(socket: Socket): void {
  Reflect.deleteProperty(socket, 'destroySoon')
}

/** Reads nothing more from a connection until its last response has been sent, and then closes it slowly. */
export function stopReading(socket: Socket): void {
  if (socket.listeners('resume').includes(stayPaused)) return
  closeSlowlyAtEnd(socket)
  socket.pause().on('resume', stayPaused)
}

// node:http calls it after the last response.
function closeBehind(this: Socket): void {
  // With a listener of its own alone, the bytes are not parsed.
  closeSlowly(this.off('resume', stayPaused).removeAllListeners('data'), '')
}

// Pauses again, because node:http resumes the socket after each message and for each body.
function stayPaused(this: Socket): void {
  this.pause()
}
