import type { Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { MAX_TIMER_MS } from '../http/check-options.ts'
import { TOO_LATE } from './client-error.ts'
import { LINGER_MS } from './close-slowly.ts'
import { connectionOf } from './connection.ts'
import type { IncomingRequest } from './incoming-request.ts'
import { GRACE_MS } from './server-stop.ts'

// The rest of the header section may be on its way.
const HEAD_GRACE_MS = 2_000
const SWEEP_MS = 100
// How often the end of an action whose client has left is looked for.
const WORK_MS = 10
// The close timeout may be endless, and clients that connect again at once would keep the port open for half of it.
const MAX_ACCEPT_MS = 5_000
// One or two turns are enough. It depends on the part of a turn in which the last connection is destroyed.
const MAX_CLOSING_TURNS = 10

/** The connections that a server closed at its deadline. */
export interface CloseResult {
  /** Connections that were still open at the deadline. */
  readonly connections: number
  /** Actions whose responses to whole requests were cut. */
  readonly actions: number
}

/** The state of a connection; `other` is a response, another protocol, or its own end. */
type Activity = 'idle' | 'receiving-head' | 'receiving-body' | 'other'

/**
 * Stops a server: accepts no more connections, waits for requests in flight, and closes connections
 * as they become idle. Also waits for actions whose clients have left. A client that has not sent
 * the whole header section after 2 seconds gets a 408, and so does one that has not sent the whole
 * body at the deadline. The remaining connections are destroyed at the deadline.
 *
 * @param sockets The open connections; the caller removes a connection that closes.
 * @param running The requests whose calls of the handler have not ended.
 * @internal
 */
export async function drain(
  server: Server,
  sockets: Set<Socket>,
  timeoutMs: number,
  running: ReadonlySet<IncomingRequest>,
): Promise<CloseResult> {
  const endsAt = performance.now() + timeoutMs
  const result = { connections: 0, actions: 0 }
  const destroy = (socket: Socket): void => {
    const { inFlight, isReceivingBody, pipeline } = connectionOf(socket)
    // A client that has not sent its whole request has lost nothing. A request that waits is not in flight.
    result.actions += inFlight - Number(isReceivingBody && !pipeline?.hasQueued)
    socket.destroy()
  }
  const observed = new Map<Socket, { readonly activity: Activity; readonly since: number }>()
  // Repeats: a response that started before the stop leaves its connection open. Does not use
  // closeIdleConnections(): it regards a response as complete when it is queued, not when sent.
  const sweep = (): void => {
    const now = performance.now()
    const idle = idleSocketsOf(server, sockets)
    for (const socket of sockets) {
      const activity = activityOf(socket, idle)
      const last = observed.get(socket)
      if (last?.activity !== activity) {
        observed.set(socket, { activity, since: now })
        continue
      }
      const elapsedMs = now - last.since
      if (activity === 'idle' && elapsedMs >= GRACE_MS) socket.destroy()
      if (activity === 'receiving-head' && elapsedMs >= HEAD_GRACE_MS) timeOut(server, socket)
    }
  }
  const endAll = (): void => {
    const idle = idleSocketsOf(server, sockets)
    // The actions whose clients have left. The others are counted with their connections.
    for (const { connection } of running) if (connection.socket.destroyed) result.actions++
    for (const socket of sockets) {
      const { endLinger } = connectionOf(socket)
      // The client has its whole response. It has only not closed its side.
      if (socket.writableFinished) {
        socket.destroy()
        continue
      }
      result.connections++
      if (endLinger !== undefined) endLinger()
      else if (activityOf(socket, idle).startsWith('receiving')) timeOut(server, socket)
      else destroy(socket)
    }
    timer = setTimeout(setImmediate, LINGER_MS, () => sockets.forEach(destroy))
  }
  // setImmediate(): timers run before sockets are read, and bytes may have arrived while an action
  // blocked the event loop.
  let timer = setTimeout(setImmediate, Math.min(timeoutMs, MAX_TIMER_MS), endAll)
  const interval = setInterval(setImmediate, SWEEP_MS, sweep)
  sweep()
  await acceptWaiting(server, Math.min(timeoutMs / 2, MAX_ACCEPT_MS))
  await new Promise<void>((resolve) => closePort(server, resolve))
  clearInterval(interval)
  clearTimeout(timer)
  endTimeouts(server)
  // The server closes before its last connections do, and a response that was cut is logged when its connection closes.
  for (let turns = 0; sockets.size > 0 && turns < MAX_CLOSING_TURNS; turns++) await nextTurn()
  // The client of an action that still runs has reset its connection.
  while (running.size > 0 && performance.now() < endsAt) await delay(WORK_MS)
  if (result.connections === 0) result.actions = running.size
  return result
}

/**
 * Accepts no more connections.
 *
 * @param onClose Called when all connections are closed.
 * @internal
 */
export function closePort(server: Server, onClose?: () => void): void {
  // Does not use close() of node:http: it destroys idle connections at once, even if a request is
  // on its way. The server of Bun is not a net.Server.
  const { close } =
    server instanceof NetServer ? NetServer.prototype : Object.getPrototypeOf(server)
  close.call(server, onClose)
}

// Ends the interval of the timeouts of node:http, which keeps the server and its handler in memory. Only close() of node:http does,
// and it would emit `close` again.
function endTimeouts(server: Server): void {
  const symbols = Object.getOwnPropertySymbols(server)
  const key = symbols.find(({ description }) => description?.endsWith('CheckingInterval'))
  if (key) clearInterval(Reflect.get(server, key))
}

/**
 * Accepts the connections that wait: closing the port would reset them, and libuv accepts one in each turn of the event loop.
 * Ends after `timeoutMs`: clients that connect again at once would never let it end, and one turn may take seconds.
 *
 * @param turn Waits for one turn.
 * @internal
 */
export async function acceptWaiting(
  server: Server,
  timeoutMs: number,
  turn: () => Promise<unknown> = nextTurn,
): Promise<void> {
  const endsAt = performance.now() + timeoutMs
  let quietTurns = 0
  const onConnection = (): void => {
    quietTurns = 0
  }
  server.on('connection', onConnection)
  // The first turn may be half over.
  while (quietTurns < 2 && performance.now() < endsAt) {
    await turn()
    quietTurns++
  }
  server.off('connection', onConnection)
}

function activityOf(socket: Socket, idle: ReadonlySet<Socket>): Activity {
  const { activeResponse, fault, isDetached, isReceivingBody } = connectionOf(socket)
  if (fault !== undefined || isDetached) return 'other'
  if (activeResponse !== undefined) return isReceivingBody ? 'receiving-body' : 'other'
  // A connection that never received a byte is idle too: browsers open connections in advance.
  return socket.bytesRead === 0 || idle.has(socket) ? 'idle' : 'receiving-head'
}

// Returns the connections between two messages. node:http knows them, but it only closes them: during this
// call, their destroy() lists them instead. Does not compare `bytesRead`: an empty line is not the start of
// a request.
function idleSocketsOf(server: Server, sockets: ReadonlySet<Socket>): ReadonlySet<Socket> {
  const idle = new Set<Socket>()
  for (const socket of sockets) socket.destroy = () => idle.add(socket) && socket
  server.closeIdleConnections()
  for (const socket of sockets) Reflect.deleteProperty(socket, 'destroy')
  return idle
}

// Emits the same event as node:http after its own timeouts. The handler of that event sends a 408,
// or lets the active request fail with it.
function timeOut(server: Server, socket: Socket): void {
  const error = new Error('The request is incomplete, and the server is stopping')
  const facts = { code: TOO_LATE, isStopping: true }
  server.emit('clientError', Object.assign(error, facts), socket)
}
