import { Readable } from 'node:stream'
import { isObject } from './check-options.ts'
import { ClientGoneError, HttpError, rejectionWith } from './errors.ts'
import { decodedPairs, eachField, type Pair, parseSearch } from './params.ts'

const READ_ALREADY = 'The body has already been read: keep the result of the first read'

const BLOCK_BYTES = 65_536
// A smaller chunk of a stream waits for those that arrive with it.
const SMALL_BYTES = 1_024
const MAX_SMALL = 128

/** The source of a body: text (sent as UTF-8), bytes, or a stream of both. */
export type BodySource = string | Uint8Array | Readable

/** A body in chunks, such as an async generator or a web `ReadableStream`. */
export type BodyChunks = AsyncIterable<string | Uint8Array>

interface BodyReader {
  readonly take: (chunk: Buffer) => void
  readonly end: () => void
  readonly fail: (error: Error) => void
}

/** The bytes of a form body. The fields are parsed when they are first read. */
export class FormBody {
  readonly bytes: Buffer
  #fields: URLSearchParams | undefined
  #pairs: Pair[] | undefined
  #text: string | undefined

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  // Keeps only a text with invalid UTF-8: 1 MB of it takes 10 ms to decode, and an error needs the text several times.
  get text(): string {
    const text = this.#text ?? this.bytes.toString()
    if (text.includes('\ufffd')) this.#text = text
    return text
  }

  /** The names and values of the fields, decoded. Kept, because an error or a forward needs them again: 1 MB takes up to 50 ms. */
  get pairs(): Pair[] {
    this.#pairs ??= decodedPairs(eachField, this.text)
    return this.#pairs
  }

  get fields(): URLSearchParams {
    // URLSearchParams parses a short text three times as fast as pairs; 1 MB of plus signs would take it 60 ms.
    this.#fields ??=
      this.bytes.length < 16_384 ? parseSearch(this.text) : new URLSearchParams(this.pairs)
    return this.#fields
  }
}

/** Reports whether a body is an async iterable that is not a Node.js stream. */
export function isChunks(body: unknown): body is BodyChunks {
  if (!isObject(body) || body instanceof Readable) return false
  return Symbol.asyncIterator in body
}

/**
 * Converts the chunks of a body to a Node.js stream. Destroying the stream also ends the source of the
 * chunks: it calls `return()` of an iterator or `cancel()` of a web stream.
 *
 * @throws {TypeError} If the body is a web stream that is locked to a reader.
 */
export function toReadable(body: BodyChunks): Readable {
  // Does not use the iterator of a web stream, which cannot be cancelled while a read is pending.
  if (body instanceof ReadableStream) return Readable.fromWeb(body)
  // Without object mode, a first chunk that is neither text nor bytes fails before a byte is sent.
  return Readable.from(body, { objectMode: false })
}

/**
 * Checks a chunk of a stream in object mode, which may hold any value.
 *
 * @throws {TypeError} If the chunk is neither a string nor bytes.
 */
export function checkChunk(chunk: unknown): void {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return
  throw new TypeError(`Expected a chunk of the body to be a string or bytes, got ${typeof chunk}`)
}

/**
 * Reads a whole body.
 *
 * @returns A buffer if the source is text or bytes; a promise of a buffer if it is a stream.
 * @throws {HttpError} 413 at the first chunk past the limit. The rest of the stream stays unread.
 */
export function readBody(source: BodySource, maxBytes: number): Buffer | Promise<Buffer> {
  if (source instanceof Readable) return readStream(source, maxBytes)
  const bytes = toBuffer(source)
  if (bytes.length > maxBytes) throw tooLarge(maxBytes)
  return bytes
}

/** Returns a body as a stream. The stream fails with a 413 at the first chunk past the limit. */
export function streamBody(source: BodySource, maxBytes: number): Readable {
  if (source instanceof Readable) return limitStream(source, maxBytes)
  const bytes = toBuffer(source)
  if (bytes.length > maxBytes) return failedBody(tooLarge(maxBytes))
  const body = new Readable({ read() {} })
  body.push(bytes)
  body.push(null)
  return ignoreErrors(body)
}

/** Returns a body that fails with an error when it is read. */
export function failedBody(error: Error): Readable {
  const body: Readable = new Readable({ read: () => void body.destroy(error) })
  return ignoreErrors(body)
}

/** Returns the body for a second read. */
export function consumedBody(): Readable {
  return failedBody(new HttpError(500, READ_ALREADY))
}

/** Returns the error for a body past its limit. */
export function tooLarge(maxBytes: number): HttpError {
  return rejectionWith(413, `The body is larger than ${maxBytes} bytes`)
}

// A reader of the body still receives the error. If there is no reader, this listener keeps the error from
// ending the process.
function ignoreErrors(body: Readable): Readable {
  return body.listeners('error').includes(ignore) ? body : body.on('error', ignore)
}

function ignore(): void {}

// Reads by events: `for await` takes 25 % more time, and most bodies are a single chunk.
function readStream(stream: Readable, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (stream.destroyed && !stream.readableEnded) throw faultOf(stream.errored)
    if (stream.readableEnded || stream.readableDidRead) throw new Error(READ_ALREADY)
    const collected = new Collector()
    const stop = listen(stream, maxBytes, {
      take: (chunk) => collected.add(chunk),
      end() {
        // Else the message would keep the chunks beside the body until its response has been sent.
        stop()
        resolve(collected.toBuffer())
      },
      fail(error) {
        stop()
        reject(error)
      },
    })
  })
}

// Collects the bytes of a body. Copies all chunks after the first into blocks: a Buffer for each of
// them would take 386 bytes of memory for each byte of a body that arrives in chunks of one byte.
class Collector {
  #first: Buffer | undefined
  readonly #blocks: Buffer[] = []
  #copied = 0

  add(chunk: Buffer): void {
    if (this.#first === undefined) {
      this.#first = chunk
      return
    }
    for (let at = 0; at < chunk.length; ) {
      const used = this.#copied % BLOCK_BYTES
      if (used === 0) this.#blocks.push(Buffer.allocUnsafeSlow(BLOCK_BYTES))
      const length = chunk.copy(this.#blocks.at(-1) as Buffer, used, at)
      at += length
      this.#copied += length
    }
  }

  toBuffer(): Buffer {
    const first = this.#first ?? Buffer.alloc(0)
    if (this.#copied === 0) return first
    return Buffer.concat([first, ...this.#blocks], first.length + this.#copied)
  }
}

// Uses neither a pipe nor an iterator: at the limit, both would destroy the source, and so the connection.
function limitStream(source: Readable, maxBytes: number): Readable {
  const body = new Readable({
    read: () => source.resume(),
    destroy(error, done) {
      stop()
      done(error)
    },
  })
  // The chunks that arrived together: a reader that kept each of them would take 1 kB of memory for a chunk of one byte.
  let arrived: Buffer[] = []
  const flush = (): void => {
    const bytes = arrived.length > 1 ? Buffer.concat(arrived) : arrived[0]
    arrived = []
    if (bytes && !body.destroyed && !body.push(bytes)) source.pause()
  }
  const take = (chunk: Buffer): void => {
    const count = arrived.push(chunk)
    if (chunk.length >= SMALL_BYTES || count === MAX_SMALL) flush()
    // Does not use the next tick: node:http runs it after each chunk.
    else if (count === 1) setImmediate(flush)
  }
  const end = (): void => {
    flush()
    body.push(null)
  }
  const fail = (error: Error): void => {
    flush()
    body.destroy(error)
  }
  const stop = listen(source.pause(), maxBytes, { take, end, fail })
  if (source.readableEnded) end()
  else if (source.destroyed) fail(faultOf(source.errored))
  return ignoreErrors(body)
}

// Passes a stream to a reader, up to a limit. Returns a function that leaves the rest unread.
function listen(source: Readable, maxBytes: number, { take, end, fail }: BodyReader): () => void {
  let bytes = 0
  const onData = (data: Buffer | string): void => {
    const chunk = toBuffer(data)
    bytes += chunk.length
    if (bytes > maxBytes) fail(tooLarge(maxBytes))
    else take(chunk)
  }
  const onError = (error: Error): void => fail(faultOf(error))
  const onClose = (): void => {
    if (!source.readableEnded) fail(faultOf(source.errored))
  }
  source.on('data', onData).on('end', end).on('error', onError).on('close', onClose)
  return () => {
    // A message of node:http emits an error some ticks after it has looked for a listener.
    ignoreErrors(source).off('data', onData).off('end', end).off('close', onClose)
    source.off('error', onError).pause()
  }
}

// node:http fails a message with this code when the client leaves. A stream of the application may fail with any other error, but one
// that fails with this code counts as a client that has left.
function faultOf(error: NodeJS.ErrnoException | null): Error {
  return error && error.code !== 'ECONNRESET' ? error : new ClientGoneError()
}

/** Returns the bytes of a chunk: of text, in UTF-8. */
export function toBuffer(chunk: Uint8Array | string): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk)
}
