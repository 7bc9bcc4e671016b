import type { ServerResponse } from 'node:http'
import type { Connection } from './connection.ts'

// The silence after which a client that has half-closed counts as gone.
const HALF_CLOSE_MS = 1_000
const MAX_LISTENERS = 20

/**
 * Calls `onGone` if the client ends its side of the connection, and then nothing is sent to it for a second.
 *
 * The end of the client's side (FIN) has two meanings: the client has sent everything and waits for
 * the response, or it has closed the connection. The next bytes that are sent show which one it is,
 * because a client that has closed replies with a reset. An action that sends nothing would never
 * know.
 * @internal
 */
export function watchHalfClose(
  connection: Connection,
  out: ServerResponse,
  onGone: () => void,
): void {
  const { socket } = connection
  // Nothing would remove the listeners: they would keep the request as long as the connection.
  if (socket.destroyed || out.writableFinished) return
  let timer: NodeJS.Timeout | undefined
  const wait = (): void => {
    const { bytesWritten } = socket
    timer = setTimeout(() => {
      const isSilent = socket.bytesWritten === bytesWritten && socket.writableLength === 0
      if (isSilent) onGone()
      else wait()
    }, HALF_CLOSE_MS).unref()
  }
  const stop = (): void => {
    clearTimeout(timer)
    socket.off('end', wait)
    connection.removeOnClose(stop)
  }
  // Node warns of more than 10 listeners. Its own ones and those of 8 requests in flight are more.
  socket.setMaxListeners(Math.max(socket.getMaxListeners() || Infinity, MAX_LISTENERS))
  if (socket.readableEnded) wait()
  else socket.on('end', wait)
  // `close` of the response is not emitted if the socket closes during an earlier response.
  connection.onClose.add(stop)
  out.once('close', stop)
}
