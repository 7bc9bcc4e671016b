import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { connectionOf } from './connection.ts'
import type { Reporting } from './handler.ts'

/** The connections and requests of a service, now and since its start. */
export interface ServerCounts {
  /** Requests whose responses are not sent yet. */
  readonly inFlight: number
  /** Open connections. */
  readonly connections: number
  /** Connections since the start, without the dropped ones. */
  readonly connectionsTotal: number
  /** Connections since the start that were closed at once, because of `maxConnections`. */
  readonly droppedConnections: number
  /** Messages since the start that were not valid requests, by the status of their rejection: `{ 400: 2, 408: 1 }`. */
  readonly rejections: Readonly<Record<number, number>>
}

/** Counts connections and rejected messages. A request costs nothing: those in flight are counted on demand. @internal */
export class ServerCounter {
  /** The open connections. */
  readonly sockets: Set<Socket> = new Set()
  readonly #rejections: Record<number, number> = {}
  #connectionsTotal = 0
  #droppedConnections = 0

  /** Tracks the connections of a server, and closes each one beyond the maximum at once. */
  track(server: Server, maxConnections: number): void {
    const { sockets } = this
    function forget(this: Socket): void {
      sockets.delete(this)
    }
    // With server.maxConnections, full workers of a cluster would pass a connection around forever.
    server.on('connection', (socket) => {
      if (sockets.size >= maxConnections) {
        this.#droppedConnections++
        socket.destroy()
        return
      }
      this.#connectionsTotal++
      sockets.add(socket)
      socket.on('close', forget)
    })
  }

  /** Returns a receiver of errors that counts each one, and passes it on to a handler. */
  counting(handler: Reporting): Reporting {
    return {
      report: (error, about) => {
        const { status = 500 } = about
        this.#rejections[status] = (this.#rejections[status] ?? 0) + 1
        handler.report?.(error, about)
      },
    }
  }

  get counts(): ServerCounts {
    let inFlight = 0
    for (const socket of this.sockets) inFlight += connectionOf(socket).inFlight
    return {
      inFlight,
      connections: this.sockets.size,
      connectionsTotal: this.#connectionsTotal,
      droppedConnections: this.#droppedConnections,
      rejections: { ...this.#rejections },
    }
  }
}
