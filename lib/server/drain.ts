import type { Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { connectionOf } from './connection.ts'

// A client may just have sent a request on an idle connection. That request gets a response.
const IDLE_GRACE_MS = 600
const SWEEP_MS = 100

/**
 * Stops a server: accepts no more connections, waits for requests in flight, closes connections as
 * they become idle, and destroys the remaining ones at the deadline.
 *
 * @param sockets The open connections; the caller removes a connection that closes.
 * @returns The number of connections that were destroyed at the deadline.
 */
export async function drain(
  server: Server,
  sockets: Set<Socket>,
  timeoutMs: number,
): Promise<number> {
  // Does not use close() of node:http: it destroys idle connections at once, even if a request is
  // on its way.
  // The server of Bun is no net.Server.
  const { close } = server instanceof NetServer ? NetServer.prototype : server
  const closed = new Promise((resolve) => close.call(server, resolve))
  const startedAt = performance.now()
  const bytesRead = new Map<Socket, number>()
  // Repeats: a response that started before the stop leaves its connection open. Does not use
  // closeIdleConnections(): it regards a response as complete when it is queued, not when sent.
  const sweep = setInterval(() => {
    for (const socket of sockets) {
      const { activeResponse } = connectionOf(socket)
      const isIdle = activeResponse === undefined && isSilent(socket, bytesRead)
      if (isIdle && performance.now() - startedAt >= IDLE_GRACE_MS) socket.destroy()
    }
  }, SWEEP_MS)
  let destroyed = 0
  const deadline = setTimeout(() => {
    destroyed = sockets.size
    for (const socket of sockets) socket.destroy()
  }, timeoutMs)
  await closed
  clearInterval(sweep)
  clearTimeout(deadline)
  return destroyed
}

// Reports whether nothing has arrived since the last sweep, although a request arrived earlier.
// A connection that never received a byte is also silent: browsers open connections in advance.
function isSilent(socket: Socket, bytesRead: Map<Socket, number>): boolean {
  const before = bytesRead.get(socket)
  bytesRead.set(socket, socket.bytesRead)
  const { hasRequested } = connectionOf(socket)
  return socket.bytesRead === 0 || (before === socket.bytesRead && hasRequested)
}
