import type { Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { activeResponse, hasAnswered } from './connection.ts'

// A client may have sent its next request on an idle connection just now: that one is still answered.
const IDLE_GRACE_MS = 600
const SWEEP_MS = 100

/**
 * Stops a server: accepts no more connections, waits for requests in flight, closes connections as they become idle,
 * and destroys those that are left at the deadline.
 *
 * @param sockets The open connections; a connection that closes has to leave the set.
 * @returns The number of connections that were destroyed at the deadline.
 */
export async function drain(
  server: Server,
  sockets: Set<Socket>,
  timeoutMs: number,
): Promise<number> {
  // Not http's own close(): that one cuts idle connections at once, under a request on its way.
  const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve))
  let destroyed = 0
  const startedAt = performance.now()
  const bytesRead = new Map<Socket, number>()
  // Again and again: a long answer that began before the stop leaves its connection open. Not by
  // closeIdleConnections(): to that an answer is over when it is queued, not when it is sent.
  const idle = setInterval(() => {
    for (const socket of sockets) {
      const isQuiet = activeResponse(socket) === undefined && isUnheard(socket, bytesRead)
      if (isQuiet && performance.now() - startedAt >= IDLE_GRACE_MS) socket.destroy()
    }
  }, SWEEP_MS)
  const deadline = setTimeout(() => {
    destroyed = sockets.size
    for (const socket of sockets) socket.destroy()
  }, timeoutMs)
  await closed
  clearInterval(idle)
  clearTimeout(deadline)
  return destroyed
}

// Whether nothing came since the last look, and what came before was answered: or nothing ever did, as of
// the connections that a browser opens ahead of need.
function isUnheard(socket: Socket, bytesRead: Map<Socket, number>): boolean {
  const before = bytesRead.get(socket)
  bytesRead.set(socket, socket.bytesRead)
  return socket.bytesRead === 0 || (before === socket.bytesRead && hasAnswered(socket))
}
