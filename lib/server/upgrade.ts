import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type HttpError, MalformedMessageError } from '../http/errors.ts'
import { rejectLongTarget } from '../http/request-line.ts'
import { forgetLastMatch, inThisContext } from '../http/retention.ts'
import { reject } from './client-error.ts'
import { closeAtOnce } from './close-slowly.ts'
import { connectionOf } from './connection.ts'
import { type HeaderLimits, readFraming } from './framing.ts'
import type { Reporting } from './handler.ts'
import { pauseReading, startReading } from './reading.ts'

/**
 * Handles the messages after which `node:http` leaves a connection: CONNECT, which is rejected, and upgrades to another
 * protocol. The listeners of the application for `upgrade` run only for a valid message, and after the responses to the
 * requests before it. After the stop has begun, an upgrade gets a 503: `closing` would never end it.
 */
export function handleUpgrades(
  server: Server,
  handler: Reporting,
  limits: HeaderLimits & { readonly maxTargetBytes: number },
  closing: AbortSignal,
): void {
  server.on('connect', (message, stream) => {
    takeOver(message, stream, handler, new MalformedMessageError(405, 'CONNECT'))
  })
  // Replaces emit(), because a listener cannot keep later listeners from running. Waits for the first listener for `upgrade`:
  // emit() runs for each request.
  const guard = (name: string | symbol): void => {
    if (name !== 'upgrade') return
    server.off('newListener', guard)
    const emit = server.emit.bind(server)
    server.emit = (name: string, ...args: unknown[]): boolean => {
      if (name !== 'upgrade') return emit(name, ...args)
      const [message, stream] = args as [IncomingMessage, Duplex]
      const rejection =
        readFraming(message, limits).rejection ??
        rejectLongTarget(message.url ?? '', limits.maxTargetBytes)
      // No response does so at its end.
      forgetLastMatch()
      takeOver(message, stream, handler, rejection, () => {
        if (closing.aborted) reject(stream, 503)
        else emit(name, ...args)
      })
      return true
    }
  }
  server.on('newListener', guard)
}

// Rejects a message or passes it on, after the responses to the requests before it. Ignores one behind the last request.
function takeOver(
  message: IncomingMessage,
  stream: Duplex,
  handler: Reporting,
  rejection: HttpError | undefined,
  pass?: () => void,
): void {
  const { socket } = message
  const connection = connectionOf(socket)
  const { hasLastRequest, activeResponse } = connection
  connection.hasLastRequest = true
  connection.isDetached = true
  // node:http has removed its listeners: without a listener, a reset would end the process.
  stream.on('error', destroyThis)
  if (hasLastRequest) {
    if (activeResponse !== undefined) pauseUntilSent(socket, activeResponse, () => socket.resume())
    return
  }
  if (rejection !== undefined) handler.report?.(rejection, { status: rejection.status })
  const finish = (): void => {
    if (rejection !== undefined) reject(stream, rejection.status)
    else if (connection.isAnonymous) socket.destroy()
    else if (socket.writable) {
      closeAtOnce(socket)
      pass?.()
    }
  }
  if (activeResponse === undefined) finish()
  // Bound, because `close` is emitted in the context of the earlier request, and the listeners must not run there.
  else pauseUntilSent(socket, activeResponse, inThisContext(finish))
}

// No closure: it would keep the message, with its headers, as long as the other protocol uses the connection.
function destroyThis(this: Duplex): void {
  this.destroy()
}

// Reads nothing from a socket until a response has been sent, and then calls `act`. Handles the events that node:http no longer
// handles.
function pauseUntilSent(
  socket: Socket & { readonly _httpMessage?: ServerResponse | null },
  active: ServerResponse,
  act: () => void,
): void {
  const onDrain = (): void => void socket._httpMessage?.emit('drain')
  // Each byte that is read would renew the timeout.
  const pause = (): void => pauseReading(socket)
  // At the timeout, the client does not read its responses. An action that reads the body of its request resumes the socket.
  socket.on('timeout', destroyThis).on('drain', onDrain).on('resume', pause)
  pause()
  active.once('close', () => {
    socket.off('timeout', destroyThis).off('drain', onDrain).off('resume', pause)
    // Restores the state in which node:http leaves a socket: the first listener for data makes it flow.
    Object.assign(socket, { readableFlowing: null })
    startReading(socket)
    act()
  })
}
