import { Readable } from 'node:stream'
import { ClientGoneError, HttpError } from './errors.ts'

/** What is wrong where a body is asked for twice. */
export const READ_ALREADY = 'The body has been read already: keep what came of it'

// How long the first bytes of an answer are waited for.
const FIRST_BYTES_MS = 200

/** Text (sent as UTF-8) or bytes, at once or as a stream of them. */
export type BodySource = string | Uint8Array | Readable

/** What gives a body piece by piece: an async generator, a web `ReadableStream`, any async iterable. */
export type BodyChunks = AsyncIterable<string | Uint8Array>

/** Whether a body is given piece by piece, and is no stream of Node's own. */
export function isChunks(body: unknown): body is BodyChunks {
  return (
    typeof body === 'object' &&
    body !== null &&
    Symbol.asyncIterator in body &&
    !(body instanceof Readable)
  )
}

/**
 * The chunks of a body as a stream of Node's own. To destroy it is to end what gives them: `return()` of an
 * iterator, `cancel()` of a web stream.
 *
 * @throws {TypeError} If it is a web stream that somebody reads already.
 */
export function toReadable(body: BodyChunks): Readable {
  // Not through its iterator: that one can't be cancelled while a read is pending.
  if (body instanceof ReadableStream) return Readable.fromWeb(body)
  // Of bytes, and not of objects: what is neither text nor bytes fails before the first byte has left.
  return Readable.from(body, { objectMode: false })
}

/**
 * Reads a body whole: at once where it is there, by a promise where it is a stream.
 *
 * @throws {HttpError} 413 at the first chunk past the limit: what comes after it is left unread.
 */
export function readBody(source: BodySource, maxBytes: number): Buffer | Promise<Buffer> {
  if (source instanceof Readable) return collect(source, maxBytes)
  const bytes = toBuffer(source)
  if (bytes.length > maxBytes) throw tooLarge(maxBytes)
  return bytes
}

/** A body as a stream that fails with a 413 at the first chunk past the limit. */
export function streamBody(source: BodySource, maxBytes: number): Readable {
  if (source instanceof Readable) return limited(source, maxBytes)
  const bytes = toBuffer(source)
  if (bytes.length > maxBytes) return failedBody(tooLarge(maxBytes))
  const body = new Readable({ read: () => {} })
  body.push(bytes)
  body.push(null)
  return unheard(body)
}

// Whoever reads a body hears of its error; nobody has to: it must not end the process then.
function unheard(body: Readable): Readable {
  return body.on('error', () => {})
}

/** A body that can't be read: whoever tries is told why. */
export function failedBody(why: HttpError): Readable {
  const body: Readable = new Readable({ read: () => void body.destroy(why) })
  return unheard(body)
}

/** The error of a body past its limit. */
export function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `The body is larger than ${maxBytes} bytes`)
}

// By events: `for await` costs a quarter more, and most bodies come in a single chunk.
function collect(stream: Readable, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (stream.readableEnded) throw new Error(READ_ALREADY)
    if (stream.destroyed) throw new ClientGoneError()
    const chunks: Buffer[] = []
    let bytes = 0
    const fail = (why: Error): void => {
      stream.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
      // What lies past the limit stays unread.
      stream.pause()
      reject(why)
    }
    const onData = (given: Buffer | string): void => {
      const chunk = toBuffer(given)
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes > maxBytes) fail(tooLarge(maxBytes))
    }
    const onEnd = (): void =>
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
    const onError = (error: Error): void => fail(bodyError(error))
    const onClose = (): void => {
      if (!stream.readableEnded) fail(new ClientGoneError())
    }
    stream.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
  })
}

// By hand: a pipe or an iterator would destroy its source at the limit, and the connection with it.
function limited(source: Readable, maxBytes: number): Readable {
  let bytes = 0
  const onData = (given: Buffer | string): void => {
    const chunk = toBuffer(given)
    bytes += chunk.length
    if (bytes > maxBytes) body.destroy(tooLarge(maxBytes))
    else if (!body.push(chunk)) source.pause()
  }
  const onEnd = (): unknown => body.push(null)
  const onError = (error: Error): unknown => body.destroy(bodyError(error))
  const onClose = (): void => {
    if (!source.readableEnded) body.destroy(new ClientGoneError())
  }
  const body = new Readable({
    read: () => source.resume(),
    destroy(error, done) {
      source
        .off('data', onData)
        .off('end', onEnd)
        .off('error', onError)
        .off('close', onClose)
        .pause()
      done(error)
    },
  })
  source.pause().on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
  if (source.readableEnded) onEnd()
  else if (source.destroyed) onClose()
  return unheard(body)
}

function toBuffer(chunk: Uint8Array | string): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk)
}

// What is wrong with the message is told; else the bytes ended before the body did: the client left.
function bodyError(error: Error): HttpError {
  return error instanceof HttpError ? error : new ClientGoneError()
}

/**
 * Waits until a stream has bytes to send, or has ended, or the time is over: an error before that
 * can still become an answer. A stream with nothing to say yet (server-sent events) is not held back.
 */
export function firstBytes(stream: Readable, timeoutMs: number = FIRST_BYTES_MS): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      clearTimeout(timer)
      stream.off('readable', onReadable).off('error', onError).off('close', onClose)
      finish()
    }
    const onReadable = (): void => settle(resolve)
    const onError = (error: Error): void => settle(() => reject(error))
    const onClose = (): void => onError(stream.errored ?? new Error('The body was closed unsent'))
    const timer = setTimeout(onReadable, timeoutMs)
    stream.on('readable', onReadable).on('error', onError).on('close', onClose)
    if (stream.destroyed) onClose()
    else if (stream.readableLength > 0) onReadable()
  })
}
