// Imported, because each use of the global `Buffer` calls a getter.
import { Buffer } from 'node:buffer'
import { ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { checkChunk } from '../http/body.ts'
import { ServerClosingError } from '../http/errors.ts'
import { isClientGone } from '../http/exceptions.ts'
import { type HttpResponse, responseLifecycle } from '../http/response.ts'
import { fieldLinesOf } from '../http/response-headers.ts'
import { inThisContext } from '../http/retention.ts'
import { linger } from './close-slowly.ts'
import { type IncomingRequest, pairsOf } from './incoming-request.ts'
import { isLeftToListener } from './reading.ts'
import type { ServerStop } from './server-stop.ts'

// Responses with these statuses have no body (RFC 9110, sections 15.3.5, 15.3.6, 15.4.5).
const BODILESS: readonly number[] = [204, 205, 304]

/** The exchange that a response belongs to. */
export interface ResponseTarget {
  readonly incoming: IncomingRequest
  /** Whether the connection ends with this response. */
  readonly isLast: boolean
  readonly stop: ServerStop
  /** Number of bytes of the body that have been written. */
  bytes: number
  /** Receives the error from a body that fails after the headers have been sent. */
  report(error: Error, response: HttpResponse): void
}

/** The types of Node do not declare whether a 100 has been sent, and whether the head has `Connection: close`. */
export type Head = ServerResponse & { readonly _sent100?: boolean; readonly _last?: boolean }

/** Writes a response. Destroys a body that is not sent. */
export function writeResponse(response: HttpResponse, target: ResponseTarget): void {
  const { incoming, isLast } = target
  const { status, body, headers } = response
  const out: Head = incoming.out
  // Not `incoming.aborted`: a client that half-closes may still read.
  const { socket } = incoming.connection
  const isClosed = !socket.writable
  const isBodiless = BODILESS.includes(status)
  const isBodySent = !isClosed && !isBodiless && incoming.method !== 'HEAD'
  if (isBodySent) responseLifecycle.seal(response)
  else responseLifecycle.discard(response)
  if (isClosed) {
    // A listener for `upgrade` has ended the socket before this response. node:http fails at the write.
    if (isLeftToListener(socket)) socket.destroy()
    return
  }
  incoming.settle()
  const isStream = body instanceof Readable
  const length = isStream ? headers.get('Content-Length') : Buffer.byteLength(body ?? '')
  const fields = fieldLinesOf(headers, out)
  if (isLast) fields.push('Connection', 'close')
  if (!isBodiless) addFraming(fields, length, incoming.message.httpVersion)
  // A 204 must not have a length. The length of a 304 would be that of another body (RFC 9110, section 8.6).
  else if (status === 205) fields.push('Content-Length', '0')
  // A middleware may have replaced the function: that of on-headers 1.0 reads a flat list as a list of pairs.
  out.writeHead(
    status,
    out.writeHead === ServerResponse.prototype.writeHead
      ? fields
      : Object.fromEntries(pairsOf(fields)),
  )
  // Behind another response, node:http would put a head with bytes in front of a 100. For any other response, a head that is sent
  // alone would make HAProxy 2.6 lose bodies.
  if (out._sent100 && out.socket === null) out.flushHeaders()
  // Another request behind this one would run, and its response would be lost (RFC 9112, section 9.6).
  if (isLast || !out.shouldKeepAlive || out._last) incoming.connection.hasLastRequest = true
  if (!isBodySent) writeWhole(undefined, target)
  else if (isStream) writeStream(body, length, response, target)
  else {
    target.bytes = Number(length)
    writeWhole(body, target)
  }
}

// Adds the field that states where the body ends. A response to HEAD has the same one as a response to GET.
function addFraming(
  fields: unknown[],
  length: string | number | undefined,
  httpVersion: string,
): void {
  if (length !== undefined) fields.push('Content-Length', String(length))
  // node:http would omit this field for HEAD.
  else if (httpVersion === '1.1') fields.push('Transfer-Encoding', 'chunked')
}

function writeWhole(
  body: string | Uint8Array | undefined,
  { incoming, bytes }: ResponseTarget,
): void {
  const { out, connection } = incoming
  // Bytes that were transferred to another thread have no length, and node:http rejects them.
  const chunk = body?.length ? body : undefined
  if (incoming.isArriving) {
    // Send the whole response, but do not end it: ending closes the connection, and closing it
    // while the client sends would reset it. The client might then lose the response.
    if (chunk === undefined) out.flushHeaders()
    else out.write(chunk)
    linger(incoming, () => out.end())
    return
  }
  if (chunk !== undefined) {
    // The bytes of ASCII text are the same in both encodings, and latin1 needs no transcoding.
    const isAscii = typeof chunk === 'string' && chunk.length === bytes
    // Does not use `end(body)`: it writes two pieces, the second one empty. Writing one saves 4 %
    // of the time of a small response (docs/decisions/011, npm run bench -- --only portico,bare).
    connection.socket.cork()
    out.write(chunk, isAscii ? 'latin1' : 'utf8')
    connection.socket.uncork()
  }
  out.end()
}

function writeStream(
  body: Readable,
  declared: string | number | undefined,
  response: HttpResponse,
  target: ResponseTarget,
): void {
  const { incoming } = target
  const { out, connection } = incoming
  const length = declared === undefined ? undefined : Number(declared)
  let isTruncated = false
  // Runs before pipeline() closes the connection.
  const watch = (): void => {
    isTruncated ||= !body.readableEnded && !incoming.aborted
  }
  const destroyBody = (): void => void body.destroy()
  // A stream may emit an error without being destroyed, before pipeline() begins.
  const fail = (error: Error): void => {
    watch()
    body.destroy(error)
  }
  body.once('error', fail).once('close', watch)
  connection.onClose.add(destroyBody)
  const count = (chunks: AsyncIterable<Buffer | string>) => countBytes(chunks, length, target)
  const start = (): void => {
    const isEventStream = target.stop.addStream(incoming, response)
    // node:http closes the connection, as it does for a client that does not read. An event stream may wait.
    const onTimeout = (): void => {
      if (target.bytes > 0 || incoming.isArriving || isEventStream) return
      target.report(new Error('The body is late'), response)
    }
    connection.socket.once('timeout', onTimeout)
    // The headers have been sent, so an error can only end the connection. pipeline() does that.
    // The error is left out: the socket would emit it as one of the client, and its message may quote values.
    const { destroy } = out
    out.destroy = () => destroy.call(out)
    pipeline(body, count, out, (error) => {
      connection.socket.off('timeout', onTimeout)
      target.stop.deleteStream(incoming)
      connection.removeOnClose(destroyBody)
      // A client that leaves is not an error, nor is an event stream that the stop ends. A body that closes before its
      // end is an error.
      const isReported = isTruncated || error?.code !== 'ERR_STREAM_PREMATURE_CLOSE'
      if (!error || !isReported || incoming.signal.reason instanceof ServerClosingError) return
      // The connection is closed by now, so the error would be regarded as that of a client that has left.
      const isOwnFault = isTruncated && isClientGone(error, response.request)
      target.report(
        isOwnFault ? new Error('The body has failed', { cause: error }) : error,
        response,
      )
    })
  }
  // A response behind others has no socket yet: since Node 24, to destroy it would not close the connection.
  // Bound, because `socket` is emitted in the context of the request before it.
  if (out.socket === null) out.once('socket', inThisContext(start))
  else start()
}

async function* countBytes(
  chunks: AsyncIterable<Buffer | string>,
  length: number | undefined,
  target: ResponseTarget,
): AsyncGenerator<Buffer | string> {
  for await (const chunk of chunks) {
    checkChunk(chunk)
    const bytes = Buffer.byteLength(chunk)
    // The client would read bytes past the declared length as the start of the next response.
    if (length !== undefined && target.bytes + bytes > length) break
    target.bytes += bytes
    yield chunk
  }
  if (length !== undefined && target.bytes !== length) {
    throw new Error('The body is not as long as its Content-Length')
  }
  const { incoming } = target
  if (incoming.isArriving) await new Promise<void>((resolve) => linger(incoming, resolve))
}
