import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ClientGoneError, type HttpError, MalformedMessageError } from '../http/errors.ts'
import { STANDARD_METHODS } from '../http/methods.ts'
import { activeResponse, connectionOf, isAfterLast } from './connection.ts'
import { LINGER_MS } from './linger.ts'
import type { Handler } from './request-listener.ts'

interface ParserError extends Error {
  readonly code?: string
  /** The bytes that the parser rejected. Never logged: they hold secrets. */
  readonly rawPacket?: Buffer
}

/** The meaning of a client error. */
interface Diagnosis {
  /**
   * - `excess`: bytes arrived behind the last request of the connection.
   * - `gone`: the client closed the connection.
   * - `malformed`: the bytes are not a valid request, or they arrived too late.
   */
  readonly kind: 'excess' | 'gone' | 'malformed'
  /** The status of the rejection. */
  readonly status: number
  /** The code of the error, such as `HPE_INVALID_METHOD`; '' if it has none. */
  readonly code: string
}

const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_INVALID_VERSION: 505,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

// The client closed the connection within a message.
const GONE = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE'])

/**
 * Handles bytes that the parser of `node:http` rejects, requests that arrive too late, and the method CONNECT.
 *
 * Sends a minimal response, closes the connection and reports the error. If the error is in the body of a request that
 * is still active, that request fails with it instead, and the error action responds.
 */
export function handleClientErrors(server: Server, handler: Handler, maxTargetBytes: number): void {
  server.on('clientError', (error: ParserError, socket: Socket) =>
    onClientError(classify(error, socket.writable, maxTargetBytes), socket, handler),
  )
  server.on('connect', (message, socket) => onConnect(message, socket, handler))
}

function classify(error: ParserError, isWritable: boolean, maxTargetBytes: number): Diagnosis {
  const { code = '' } = error
  const status = statusOf(error, maxTargetBytes)
  if (code === 'HPE_CLOSED_CONNECTION') return { kind: 'excess', status, code }
  return { kind: GONE.has(code) || !isWritable ? 'gone' : 'malformed', status, code }
}

function statusOf({ code = '', rawPacket }: ParserError, maxTargetBytes: number): number {
  if (code === 'HPE_HEADER_OVERFLOW' && isTargetTooLong(rawPacket, maxTargetBytes)) return 414
  return STATUSES[code] ?? 400
}

function isTargetTooLong(packet: Buffer | undefined, maxTargetBytes: number): boolean {
  if (packet === undefined || !/^[A-Z]+ /.test(packet.toString('latin1', 0, 16))) return false
  const lineEnd = packet.indexOf('\n')
  return lineEnd < 0 || lineEnd > maxTargetBytes
}

function onClientError({ kind, status, code }: Diagnosis, socket: Socket, handler: Handler): void {
  const connection = connectionOf(socket)
  // A second error comes from the rest of a message that is already rejected.
  if (connection.fault !== undefined) return
  const active = activeResponse(socket)
  switch (kind) {
    case 'excess':
      // The client must still get the response to its last request.
      if (active === undefined) socket.destroy()
      break
    case 'gone':
      connection.fault = new ClientGoneError()
      if (isBodyArriving(active)) {
        failBody(active.req, connection.fault)
        socket.destroy()
      } else afterResponse(active, () => socket.destroy())
      break
    case 'malformed':
      // Uses only the code of the error: the message of the parser may quote the bytes of the client.
      connection.fault = new MalformedMessageError(status, code)
      if (isBodyArriving(active)) {
        // Reads this before the body fails, because the error action may respond at once.
        const { headersSent } = active
        failBody(active.req, connection.fault)
        if (headersSent) socket.destroy()
        else socket.pause()
      } else {
        handler.report?.(connection.fault, { status })
        // A client that sends byte by byte must not keep the connection open while a response is active.
        if (active !== undefined) socket.pause()
        afterResponse(active, () => reject(socket, status))
      }
  }
}

function onConnect(message: IncomingMessage, socket: Duplex, handler: Handler): void {
  // node:http no longer listens to this socket: without a listener, a reset would end the process.
  socket.on('error', () => socket.destroy())
  if (isAfterLast(message)) {
    socket.resume()
    return
  }
  handler.report?.(new MalformedMessageError(405, 'CONNECT'), { status: 405 })
  afterResponse(activeResponse(message.socket), () => reject(socket, 405))
}

function isBodyArriving(active: ServerResponse | undefined): active is ServerResponse {
  return active?.req.complete === false
}

// Emits only if there is a listener: an `error` event without a listener would end the process.
function failBody(message: IncomingMessage, fault: HttpError): void {
  if (message.listenerCount('error') > 0) message.emit('error', fault)
}

// Waits until the responses to earlier requests have been sent.
function afterResponse(active: ServerResponse | undefined, act: () => void): void {
  if (active === undefined) act()
  else active.once('close', act)
}

// Sends a response, and drops bytes that still arrive for a while: closing at once would reset the connection, and the
// client might lose the response.
function reject(socket: Duplex, status: number): void {
  // The response before this one has ended the connection.
  if (!socket.writable) return
  socket.end(minimalResponse(status)).resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

function minimalResponse(status: number): string {
  const allow = status === 405 ? `Allow: ${STANDARD_METHODS.join(', ')}\r\n` : ''
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${allow}` +
    'Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 0\r\n\r\n'
  )
}
