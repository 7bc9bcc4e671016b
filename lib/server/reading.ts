import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

// The types of Node do not declare the handle of a socket.
type HandledSocket = Duplex & {
  readonly _handle?: { reading: boolean; readStop(): void } | null
}

/**
 * Reads no more bytes of a connection. After `pause()` alone, a socket that `node:http` has resumed in the same turn
 * reads on. A socket without the listeners of `node:http` reads on until 64 KiB wait.
 */
export function pauseReading(socket: HandledSocket): void {
  const { _handle: handle } = socket.pause()
  if (!handle?.reading) return
  handle.reading = false
  handle.readStop()
}

/** Reads again after a pause: without the listeners of `node:http`, `resume()` alone does not make the system read. */
export function startReading(socket: Duplex): void {
  socket._read(0)
}

/** Whether `node:http` has taken the parser of a socket away, for a listener of the server for `upgrade`. */
export function isLeftToListener(socket: Duplex & { readonly parser?: unknown }): boolean {
  return socket.parser === null
}

/** Lets the reader of a message fail. Without a reader, the event `error` would end the process. */
export function failReader(message: IncomingMessage, error: Error): void {
  if (message.listenerCount('error') > 0) message.emit('error', error)
}
