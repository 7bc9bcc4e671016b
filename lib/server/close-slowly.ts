import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex, Readable } from 'node:stream'
import { ClientGoneError } from '../http/errors.ts'
import { failReader, isLeftToListener, pauseReading, startReading } from './reading.ts'

/** Maximum time for which bytes are still accepted after a response, in milliseconds. */
export const LINGER_MS = 1_000
// Maximum number of bytes that are still accepted after a response.
const MAX_LINGER_BYTES = 16_777_216
// The maximum time for which a reader may pause the message, in milliseconds.
const MAX_PAUSE_MS = 100

/**
 * Reads and drops what still arrives, until it reaches a limit. Then calls `giveUp`.
 *
 * @returns A function that stops this.
 */
function dropRest(stream: Readable, giveUp: () => void): () => void {
  let left = MAX_LINGER_BYTES
  const onData = (chunk: Buffer): void => {
    left -= chunk.length
    if (left < 0) giveUp()
  }
  const timer = setTimeout(giveUp, LINGER_MS).unref()
  // A paused stream does not flow for a listener.
  stream.on('data', onData).resume()
  return () => {
    clearTimeout(timer)
    stream.off('data', onData)
  }
}

/** The part of an IncomingRequest that this file uses: to import its type would be a cycle. */
interface Lingering {
  readonly message: IncomingMessage
  readonly connection: {
    readonly socket: Socket
    /** Ends the wait; undefined if there is none. */
    endLinger: (() => void) | undefined
  }
}

/**
 * Reads and drops the rest of a message until it ends or reaches a limit, or the server stops. Then calls `done`.
 *
 * A reader that pauses the message for a tenth of a second fails: the action has left it, as `pipe()` does if its target fails.
 */
export function linger({ message, connection }: Lingering, done: () => void): void {
  let timer: NodeJS.Timeout | undefined
  const dropReader = (): void => {
    if (!message.isPaused()) return
    stop()
    // The limits begin again: once at most, because `onPause` is removed. A reader that has failed expects no bytes.
    failReader(
      message.off('pause', onPause).unpipe().removeAllListeners('data'),
      new ClientGoneError(),
    )
    stop = dropRest(message, giveUp)
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
    // The client still sends, also if it has asked for the end of the connection.
    closeSlowlyAtEnd(connection.socket)
    finish()
  }
  let stop = dropRest(message, giveUp)
  connection.endLinger = giveUp
  message.on('end', finish).on('close', finish).on('pause', onPause)
}

/**
 * Sends the last bytes of a connection, and drops the bytes that still arrive for a while: closing at once would reset the
 * connection, and the client might lose the end of a response.
 */
export function closeSlowly(socket: Duplex, bytes?: string): void {
  // Takes the socket from the parser of node:http before it writes: writing makes TLS read on, and a parser that is
  // called within itself ends the process.
  const stop = dropRest(socket, () => socket.destroy())
  // Without this, the timer would keep what a closed socket refers to.
  socket.once('close', stop)
  socket.end(bytes)
  startReading(socket)
}

/** Closes a connection slowly after its last response, which `node:http` would close at once. */
export function closeSlowlyAtEnd(socket: Socket): void {
  socket.destroySoon = closeBehind
}

/** Closes a connection at once after its last response, as `node:http` does. */
export function closeAtOnce(socket: Socket): void {
  Reflect.deleteProperty(socket, 'destroySoon')
}

/** Reads nothing more from a connection until its last response has been sent, and then closes it slowly. */
export function stopReading(socket: Socket): void {
  if (socket.listeners('resume').includes(stayPaused)) return
  closeSlowlyAtEnd(socket)
  pauseReading(socket)
  socket.on('resume', stayPaused)
}

/**
 * Reads again from a paused connection if the bytes that have been read end with an upgrade, and `node:http` has left the socket
 * to a listener: handleUpgrades() does not see it if the application created the server.
 */
export function leaveToListenerSoon(connection: {
  readonly socket: Socket
  readonly isDetached: boolean | undefined
}): void {
  setImmediate(() => {
    const { socket, isDetached } = connection
    if (!isDetached && isLeftToListener(socket)) startReading(socket.off('resume', stayPaused))
  })
}

// node:http calls it after the last response.
function closeBehind(this: Socket): void {
  // With only its own listener, the bytes are not parsed.
  closeSlowly(this.off('resume', stayPaused).removeAllListeners('data'))
}

// Pauses again, because node:http resumes the socket after each message and for each body.
function stayPaused(this: Socket): void {
  pauseReading(this)
}
