import type { ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { type HttpResponse, responseLifecycle } from '../http/response.ts'
import { fieldLinesOf } from '../http/response-headers.ts'
import type { Connection } from './connection.ts'
import type { IncomingRequest } from './incoming-request.ts'

// Responses with these statuses have no body (RFC 9110, sections 15.3.5, 15.3.6, 15.4.5).
const BODILESS: readonly number[] = [204, 205, 304]

/** The request of a response, and the outgoing message that the response is written to. */
export interface ResponseTarget {
  readonly incoming: IncomingRequest
  readonly out: ServerResponse
  readonly connection: Connection
  /** Whether the connection ends with this response. */
  readonly isLast: boolean
  /** Number of bytes of the body that have been written. */
  bytes: number
}

/** Receives the error of a body that fails after the headers have been sent. */
export type OnBodyError = (error: Error, response: HttpResponse) => void

/** Writes a response. Destroys a body that is not sent. */
export function writeResponse(
  response: HttpResponse,
  target: ResponseTarget,
  onError: OnBodyError,
): void {
  const { incoming, out } = target
  const { status, body, headers } = response
  const isBodySent = !incoming.aborted && incoming.method !== 'HEAD' && !BODILESS.includes(status)
  if (isBodySent) responseLifecycle.seal(response)
  else responseLifecycle.discard(response)
  if (incoming.aborted) return
  incoming.settle()
  const isStream = body instanceof Readable
  const length = isStream ? headers.get('Content-Length') : Buffer.byteLength(body ?? '')
  const fields = fieldLinesOf(headers)
  if (target.isLast) fields.push('Connection', 'close')
  pushFraming(fields, status, length, incoming.httpVersion)
  out.writeHead(status, fields)
  if (!isBodySent) writeWhole(undefined, target)
  else if (isStream) writeStream(body, response, target, onError)
  else {
    target.bytes = Number(length)
    writeWhole(body, target)
  }
}

// A response to HEAD has the same fields as one to GET.
function pushFraming(
  fields: string[],
  status: number,
  length: number | string | undefined,
  httpVersion: string,
): void {
  if (BODILESS.includes(status)) {
    // A 204 must not have a length. The length of a 304 would be that of another body (RFC 9110, section 8.6).
    if (status === 205) fields.push('Content-Length', '0')
  } else if (length !== undefined) fields.push('Content-Length', String(length))
  // node:http would omit this field for HEAD.
  else if (httpVersion === '1.1') fields.push('Transfer-Encoding', 'chunked')
}

function writeWhole(body: string | Uint8Array | undefined, target: ResponseTarget): void {
  const { incoming, out } = target
  if (!incoming.isArriving) {
    if (body !== undefined) writeCorked(body, target)
    out.end()
    return
  }
  // Send the whole response, but do not end it: ending closes the connection, and closing it while the client
  // sends would reset it. The client might then lose the response.
  if (body === undefined || body.length === 0) out.flushHeaders()
  else out.write(body)
  incoming.dropRest(() => out.end())
}

// Does not use `end(body)`: it writes two pieces, the second one empty. Writing one piece saves 4 % of the time of a
// small response (docs/decisions/011, npm run bench -- --only portico,bare).
function writeCorked(body: string | Uint8Array, { out, connection, bytes }: ResponseTarget): void {
  // The bytes of ASCII text are the same in both encodings, and latin1 is copied without transcoding.
  const isAscii = typeof body === 'string' && body.length === bytes
  connection.socket.cork()
  out.write(body, isAscii ? 'latin1' : 'utf8')
  connection.socket.uncork()
}

function writeStream(
  body: Readable,
  response: HttpResponse,
  target: ResponseTarget,
  onError: OnBodyError,
): void {
  const { socket, onClose } = target.connection
  const declared = response.headers.get('Content-Length')
  const length = declared === undefined ? undefined : Number(declared)
  let isTruncated = false
  body.once('close', () => {
    isTruncated = !body.readableEnded && !socket.destroyed
  })
  const destroyBody = (): void => {
    body.destroy()
  }
  onClose.add(destroyBody)
  const count = (chunks: AsyncIterable<Buffer | string>) => countBytes(chunks, length, target)
  // The headers have been sent, so an error can only end the connection. pipeline() does that.
  pipeline(body, count, target.out, (error) => {
    onClose.delete(destroyBody)
    // It is no error if the client leaves, but it is an error if the body was closed before its end.
    const { code } = (error ?? {}) as NodeJS.ErrnoException
    if (error && (isTruncated || code !== 'ERR_STREAM_PREMATURE_CLOSE')) onError(error, response)
  })
}

async function* countBytes(
  chunks: AsyncIterable<Buffer | string>,
  length: number | undefined,
  target: ResponseTarget,
): AsyncGenerator<Buffer | string> {
  for await (const chunk of chunks) {
    // Throws for an object, which would end the process if it were written to the socket.
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
  if (incoming.isArriving) await new Promise<void>((resolve) => incoming.dropRest(resolve))
}
