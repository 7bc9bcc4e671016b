import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { monotonicMs } from '../http/clock.ts'
import { ClientGoneError, type HttpError, MalformedMessageError } from '../http/errors.ts'
import { STANDARD_METHODS } from '../http/request-line.ts'
import { forgetLastMatch } from '../http/retention.ts'
import { closeSlowly, stopReading } from './close-slowly.ts'
import { type Connection, connectionOf } from './connection.ts'
import type { Reporting } from './handler.ts'
import { failReader, pauseReading } from './reading.ts'

interface ParserError extends Error {
  readonly code?: string
  /** Whether the stop of the server is the reason, and not a timeout. */
  readonly isStopping?: boolean
  /** The description by the parser. It contains no bytes of the client. */
  readonly reason?: string
  /** The bytes that the parser rejected. Never logged: they may contain secrets. */
  readonly rawPacket?: Buffer
}

/** The types of Node do not declare whether the head of a response has been written. */
type ActiveResponse = ServerResponse & { readonly _headerSent?: boolean }

/** The code of a message that has not arrived in time. */
export const TOO_LATE = 'ERR_HTTP_REQUEST_TIMEOUT'

const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_INVALID_VERSION: 505,
  // A reason, because the code is HPE_INVALID_VERSION here too: the version is valid, but other bytes than CR and LF follow it.
  'Expected CRLF after version': 400,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  [TOO_LATE]: 408,
}

// The codes for a client that closed the connection within a message.
const GONE = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE'])

// Maximum length of a method with the space after it and empty lines before it.
const MAX_METHOD_BYTES = 32

/**
 * Handles bytes that the parser of `node:http` rejects, and requests that arrive too late.
 *
 * Sends a minimal response, closes the connection and reports the error. If the error is in the
 * body of an active request, that request fails with it instead, and the error action responds.
 */
export function handleClientErrors(
  server: Server,
  handler: Reporting,
  maxTargetBytes: number,
): void {
  // Each late message has a turn of the event loop: together, 2,000 of them would block all other requests for a second.
  let turn = Promise.resolve()
  server.on('clientError', (error: ParserError, socket: Socket) => {
    const connection = connectionOf(socket)
    const act = (): void =>
      onClientError(error, statusFor(error, maxTargetBytes), connection, handler)
    if (error.code === TOO_LATE && !error.isStopping) {
      turn = turn.then(() => nextTurn())
      turn.then(afterWaiting(server, connection, act))
    } else act()
  })
}

// Returns a function that calls `act` when the client has taken too long itself: the time in which Portico has read nothing does
// not count.
function afterWaiting(server: Server, connection: Connection, act: () => void): () => void {
  const { socket } = connection
  // The number of the late message: that of the latest request if its body is incomplete, or the next number if a head
  // is.
  const late = connection.requests + Number(!connection.isReceivingBody)
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => clearTimeout(timer)
  const check = (): void => {
    const { requests, pipeline, resumedAt, isReceivingBody } = connection
    connection.removeOnClose(stop)
    // node:http reports a late message only once. The message may have arrived since.
    const hasArrived = requests > late || (requests === late && !isReceivingBody)
    if (hasArrived || connection.isDetached || socket.destroyed) return
    const limitMs = isReceivingBody ? server.requestTimeout : server.headersTimeout
    const since = resumedAt ?? Number.NEGATIVE_INFINITY
    const restMs = pipeline?.hasQueued ? limitMs : since + limitMs - monotonicMs()
    if (restMs > 0) {
      timer = setTimeout(check, restMs).unref()
      connection.onClose.add(stop)
    } else act()
  }
  return check
}

/**
 * Reports the end of a connection within a message that offers an upgrade: `node:http` does so only for other messages.
 */
export function reportCutUpgrade(message: IncomingMessage): void {
  const { socket } = message
  socket.on('end', () => {
    if (message.complete) return
    const error = new Error('The connection ended within a message')
    socket.emit('error', Object.assign(error, { code: 'HPE_INVALID_EOF_STATE' }))
  })
}

function statusFor(
  { code = '', reason = '', rawPacket }: ParserError,
  maxTargetBytes: number,
): number {
  if (code === 'HPE_HEADER_OVERFLOW' && isTargetTooLong(rawPacket, maxTargetBytes)) return 414
  return STATUSES[reason] ?? STATUSES[code] ?? 400
}

function isTargetTooLong(packet: Buffer | undefined, maxTargetBytes: number): boolean {
  const start = packet?.toString('latin1', 0, MAX_METHOD_BYTES + maxTargetBytes + 1) ?? ''
  const [, target = ''] = /^[\r\n]*[A-Z-]+ ([^ \r\n]*)/.exec(start) ?? []
  forgetLastMatch()
  return target.length > maxTargetBytes
}

function onClientError(
  { code = '' }: ParserError,
  status: number,
  connection: Connection,
  handler: Reporting,
): void {
  const { activeResponse, hasLastRequest, socket } = connection
  // A second error comes from the rest of a message that is already rejected.
  if (connection.fault !== undefined) return
  // The rest of the bytes that were read with the last request: the connection is being closed slowly.
  if (hasLastRequest && socket.writableEnded && !GONE.has(code)) return
  const isGone = GONE.has(code) || !socket.writable
  const isBehindLast = hasLastRequest && !connection.isReceivingBody
  if (code === 'HPE_CLOSED_CONNECTION' || (isBehindLast && !isGone)) {
    // The client must still get the response to its last request.
    if (connection.latest === undefined) socket.destroy()
    else stopReading(socket)
    return
  }
  // Uses only the code: the message of the parser may quote the bytes of the client.
  const fault = isGone ? new ClientGoneError() : new MalformedMessageError(status, code)
  connection.fault = fault
  connection.hasLastRequest = true
  if (activeResponse?.req.complete === false) failRequest(activeResponse, fault, socket)
  else if (isGone) afterResponse(activeResponse, () => socket.destroy())
  else {
    handler.report?.(fault, { status })
    // A client that sends byte by byte must not keep the connection open during a response.
    if (activeResponse !== undefined) pauseReading(socket)
    afterResponse(activeResponse, () => reject(socket, status))
  }
}

// Lets the body of an active request fail. The error action responds, unless the response has begun.
function failRequest(active: ActiveResponse, fault: HttpError, socket: Socket): void {
  // Reads this before the body fails, because the error action may respond at once.
  const { req, headersSent, socket: own, _headerSent } = active
  failReader(req, fault)
  const isGone = fault instanceof ClientGoneError
  // A response without a socket is sent after others, which a client that has half-closed still gets.
  if (own === null && isGone) active.once('socket', () => socket.destroy())
  else if (isGone) socket.destroy()
  else if (!headersSent || own === null) pauseReading(socket)
  // node:http keeps the head of a stream until its first byte.
  else if (_headerSent === false) reject(socket, fault.status)
  else socket.destroy()
}

// Waits until the responses to earlier requests have been sent, and then calls `act`.
function afterResponse(active: ServerResponse | undefined, act: () => void): void {
  if (active === undefined) act()
  else active.once('close', act)
}

/** Sends a minimal response, and closes the connection. */
export function reject(socket: Duplex, status: number): void {
  // The response before this one has ended the connection.
  if (socket.writable) closeSlowly(socket, minimalResponse(status))
}

function minimalResponse(status: number): string {
  const allow = status === 405 ? `Allow: ${STANDARD_METHODS.join(', ')}\r\n` : ''
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${allow}` +
    'Connection: close\r\nCache-Control: no-store\r\n' +
    'X-Content-Type-Options: nosniff\r\nContent-Length: 0\r\n\r\n'
  )
}
