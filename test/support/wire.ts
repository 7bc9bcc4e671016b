import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import {
  type Action,
  createRequestListener,
  type ErrorReport,
  type ListenerOptions,
  type ServeOptions,
  type Service,
} from '../../lib/index.ts'
import { collectReports } from './collectors.ts'
import { createFront } from './front.ts'
import { bytesOf, listening, type RawRequest } from './http.ts'
import { startServing } from './serving.ts'

/** Actions of the controller `app`. */
export type Actions = Readonly<Record<string, Action>>

/** Serves actions with `serve()` until the test ends. */
export async function serveActions(
  t: TestContext,
  actions: Actions,
  options: ServeOptions = {},
): Promise<{ port: number; service: Service; reports: readonly ErrorReport[] }> {
  const { reports, onReport } = collectReports()
  const front = createFront({ app: actions }, { onReport })
  const { port, service } = await startServing(t, front, options)
  return { port, service, reports }
}

/**
 * Serves actions with a plain server of `node:http` until the test ends.
 *
 * @returns The port, and what has been reported and accepted so far.
 */
export async function listenWithActions(
  t: TestContext,
  actions: Actions,
  options: ListenerOptions = {},
): Promise<{ port: number; reports: readonly ErrorReport[]; sockets: readonly Socket[] }> {
  const { reports, onReport } = collectReports()
  const front = createFront({ app: actions }, { onReport })
  const sockets: Socket[] = []
  const server = createServer(createRequestListener(front, options))
  server.on('connection', (socket) => sockets.push(socket))
  return { port: await listening(t, server), reports, sockets }
}

/** Returns the bytes of a request that keeps its connection open. */
export function keepAliveBytesOf(request: RawRequest): string {
  return bytesOf(request).replace('Connection: close\r\n', '')
}

/** Adds `Connection: close` to the bytes of a request. */
export function withClose(bytes: string): string {
  return bytes.replace('\r\n', '\r\nConnection: close\r\n')
}

/** Splits the bytes of several responses. */
export function splitResponses(bytes: string): string[] {
  return bytes.split(/(?=HTTP\/1\.1 )/)
}

/** Sends bytes in pieces, a turn of the event loop apart, and returns everything that the server sends. */
export async function sendInPieces(port: number, pieces: readonly string[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const received = text(socket)
  for (const piece of pieces) {
    socket.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return received
}

/** Waits until a count stays the same for 2,000 turns of the event loop. */
export async function settled(count: () => number): Promise<void> {
  for (let last = -1; last !== count(); ) {
    last = count()
    for (let turn = 0; turn < 2_000; turn++) await new Promise(setImmediate)
  }
}
