import { type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { answerUnderWay } from './connections.ts'
import { MalformedMessageError } from './errors.ts'
import type { Handler } from './wire.ts'

interface ParserError extends Error {
  readonly code?: string
  /** What the parser was given; never logged, it holds secrets. */
  readonly rawPacket?: Buffer
}

const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/**
 * Answers what `node:http`'s parser refuses, or what took too long to come, with the least that is
 * correct, closes the connection, and reports it. There is no request yet, so no error action either.
 */
export function answerClientErrors(server: Server, handler: Handler, maxTargetBytes: number): void {
  server.on('clientError', (error: ParserError, socket: Socket) => {
    // A client that went away, or one that is still being sent its last answer.
    if (error.code === 'ECONNRESET' || error.code === 'HPE_CLOSED_CONNECTION' || !socket.writable) {
      if (answerUnderWay(socket) === undefined) socket.destroy()
      return
    }
    const status = statusOf(error, maxTargetBytes)
    // By the code alone: the parser's own message may quote what it was sent.
    handler.report?.(new MalformedMessageError(status, error.code ?? 'unknown'), { status })
    const refuse = (): unknown => socket.end(answerOf(status))
    const underWay = answerUnderWay(socket)
    // The answers to the requests before it come first.
    if (underWay === undefined) refuse()
    else underWay.once('close', refuse)
  })
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
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
    'Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 0\r\n\r\n'
  )
}
