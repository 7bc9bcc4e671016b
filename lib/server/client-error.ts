import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ClientGoneError, type HttpError, MalformedMessageError } from '../http/errors.ts'
import { STANDARD_METHODS } from '../http/methods.ts'
import { activeResponse, connectionOf, isAfterLast } from './connection.ts'
import { LINGER_MS } from './linger.ts'
import type { Handler } from './request-listener.ts'

interface ParserError extends Error {
  readonly code?: string
  /** What the parser was given; never logged, it holds secrets. */
  readonly rawPacket?: Buffer
}

const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_INVALID_VERSION: 505,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

// The client went away, in the midst of what it sent.
const GONE = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE'])

/**
 * Answers what `node:http`'s parser refuses, or what took too long to come, with the least that is
 * correct, closes the connection, and reports it. Where it was the body of a request that is being
 * answered, that request fails with it instead, and the error action answers.
 */
export function handleClientErrors(server: Server, handler: Handler, maxTargetBytes: number): void {
  server.on('clientError', (error: ParserError, socket: Socket) => {
    const { code = '' } = error
    const connection = connectionOf(socket)
    // More of what was refused already.
    if (connection.fault !== undefined) return
    const underWay = activeResponse(socket)
    if (code === 'HPE_CLOSED_CONNECTION') {
      // What comes behind the last answer must not cost a client that answer.
      if (underWay === undefined) socket.destroy()
      return
    }
    const isGone = GONE.has(code) || !socket.writable
    const status = statusOf(error, maxTargetBytes)
    // By the code alone: the parser's own message may quote what it was sent.
    connection.fault = isGone ? new ClientGoneError() : new MalformedMessageError(status, code)

    if (underWay?.req.complete === false) failBody(underWay, connection.fault, isGone)
    else if (isGone) after(underWay, () => socket.destroy())
    else {
      handler.report?.(connection.fault, { status })
      // Nothing else is read while an answer is under way: a client that trickles must not keep it open.
      if (underWay !== undefined) socket.pause()
      after(underWay, () => refuse(socket, status))
    }
  })
  server.on('connect', (message, socket) => {
    // `node:http` has let go of it: a reset would end the process.
    socket.on('error', () => socket.destroy())
    if (isAfterLast(message)) {
      socket.resume()
      return
    }
    handler.report?.(new MalformedMessageError(405, 'CONNECT'), { status: 405 })
    after(activeResponse(message.socket), () => refuse(socket, 405))
  })
}

function failBody(underWay: ServerResponse, fault: HttpError, isGone: boolean): void {
  const { req, headersSent } = underWay
  // Who hears of the error may destroy the message, that then has none.
  const { socket } = req
  // Whoever reads the body hears of it, and only then: an error without a listener ends the process.
  if (req.listenerCount('error') > 0) req.emit('error', fault)
  if (isGone || headersSent) socket.destroy()
  else socket.pause()
}

// What a client still sends is dropped for a while: to close under it would reset the connection, and the
// answer with it.
function refuse(socket: Duplex, status: number): void {
  // The answer before it was the last one.
  if (!socket.writable) return
  socket.end(answerOf(status)).resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

// The answers to the requests before it come first.
function after(underWay: ServerResponse | undefined, act: () => void): void {
  if (underWay === undefined) act()
  else underWay.once('close', act)
}

function statusOf({ code = '', rawPacket }: ParserError, maxTargetBytes: number): number {
  if (code === 'HPE_HEADER_OVERFLOW' && isTargetTooLong(rawPacket, maxTargetBytes)) return 414
  return STATUSES[code] ?? 400
}

function isTargetTooLong(packet: Buffer | undefined, maxTargetBytes: number): boolean {
  if (packet === undefined || !/^[A-Z]+ /.test(packet.toString('latin1', 0, 16))) return false
  const end = packet.indexOf('\n')
  return end < 0 || end > maxTargetBytes
}

function answerOf(status: number): string {
  const allow = status === 405 ? `Allow: ${STANDARD_METHODS.join(', ')}\r\n` : ''
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${allow}` +
    'Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 0\r\n\r\n'
  )
}
