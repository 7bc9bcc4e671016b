import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { type BodySource, failedBody, READ_ALREADY } from '../http/body.ts'
import { ClientGoneError, HttpError } from '../http/errors.ts'
import type { HttpRequestInit } from '../http/message.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { type HttpResponse, responseLifecycle } from '../http/response.ts'
import { fieldLinesOf } from '../http/response-headers.ts'
import { beginInTurn, type Connection, connectionOf, noteRequest } from './connection.ts'
import { type Framing, type HeaderLimits, readFraming } from './framing.ts'
import { linger } from './linger.ts'

const READ_BEFORE =
  'The body was read before the request came here: mount this before what parses bodies'

// Their answers have no body (RFC 9110, sections 15.3.5, 15.3.6, 15.4.5).
const BODILESS: readonly number[] = [204, 205, 304]

/** A request that was answered, and how. */
export interface Access {
  /** Such as `GET`. */
  readonly method: string
  /** What it was answered with; `response.request` is what it answers. */
  readonly response: HttpResponse
  /** Of the body, as far as it was sent. */
  readonly bytes: number
  /** From its headers to the end of the answer, in milliseconds. */
  readonly durationMs: number
}

/** What an exchange has to know of its server. */
export interface ExchangeOptions {
  readonly headerLimits: HeaderLimits
  /** Whether the server is about to stop: answers then say `Connection: close`. */
  readonly closing: () => boolean
  /** How long a client is held back at a time that sends too many requests ahead of their answers, in milliseconds. */
  readonly maxPauseMs: number
  /** Is told of every request when its answer is out, or its client gone. */
  readonly onAccess: ((access: Access) => void) | undefined
  /** The messages whose clients wait for a 100 (Continue). */
  readonly expectsContinue: WeakSet<IncomingMessage>
}

let messageOf: (source: HttpRequestInit) => IncomingMessage | undefined

/** One message of `node:http` and its answer. A request is made from it; what nobody asks for is not. */
export class Exchange implements HttpRequestInit {
  readonly #message: IncomingMessage
  readonly #out: ServerResponse
  // Kept from the start: a message that was destroyed has none.
  readonly #socket: Socket
  readonly #connection: Connection
  readonly #options: ExchangeOptions
  readonly #framing: Framing
  readonly #startedAt: number
  // Whether the client holds its body back until it is told to go on.
  #isAwaited: boolean
  // How many bytes of its body were taken at once.
  #taken = 0
  // Whether the body was asked for.
  #isRequested = false
  // Whether the application has the message in its hands.
  #isGiven = false
  #bytes = 0
  #response: HttpResponse | undefined
  #signal: AbortSignal | undefined

  static {
    messageOf = (source) => (#message in source ? source.#give() : undefined)
  }

  constructor(message: IncomingMessage, out: ServerResponse, options: ExchangeOptions) {
    this.#message = message
    this.#out = out
    this.#socket = message.socket
    this.#connection = connectionOf(message.socket)
    noteRequest(this.#connection, message.socket, out, options.maxPauseMs)
    this.#options = options
    this.#isAwaited = options.expectsContinue.has(message)
    this.#startedAt = options.onAccess === undefined ? 0 : performance.now()
    this.#framing = readFraming(message, options.headerLimits)
    if (this.#mustBeLast()) this.#connection.isOver = true
  }

  get method(): string {
    return this.#message.method ?? 'GET'
  }

  get target(): string {
    return this.#message.url ?? '/'
  }

  get headers(): IncomingMessage['headers'] {
    return this.#message.headers
  }

  // To have `node:http` make an object of them all took as long as to route the request.
  header(name: string): string | undefined {
    const { rawHeaders } = this.#message
    let found: string | undefined
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const field = rawHeaders[i] ?? ''
      if (field.length !== name.length || field.toLowerCase() !== name) continue
      // Of several, one or all may count: node:http knows.
      if (found !== undefined) return String(this.#message.headers[name])
      found = rawHeaders[i + 1]
    }
    return found
  }

  get body(): BodySource {
    const message = this.#message
    if (message.readableDidRead && !this.#isRequested) throw new Error(READ_BEFORE)
    // Only now: a body that would be refused is not asked for (RFC 9110, section 10.1.1).
    if (this.#isAwaited) {
      this.#isAwaited = false
      this.#out.writeContinue()
    }
    const { fault } = this.#connection
    if (fault !== undefined && !message.complete) return failedBody(fault)
    // It comes in once: who asks again while it comes has what is left of it.
    if (this.#isRequested)
      return this.#isRead() ? failedBody(new HttpError(500, READ_ALREADY)) : this.#give()
    this.#isRequested = true
    const isThere = message.complete || message.readableLength === this.#framing.bodyBytes
    if (!isThere || message.destroyed) return message
    // Most often all of it has come with the head. To wait for its events took a tenth of the time of a form.
    const bytes: Buffer | string = message.read() ?? ''
    this.#taken = Buffer.byteLength(bytes)
    if (this.#isGiven) this.#give()
    return bytes
  }

  #isRead(): boolean {
    return this.#taken > 0 || this.#message.readableEnded
  }

  // A message whose bytes were taken has yet to come to its end.
  #give(): IncomingMessage {
    this.#isGiven = true
    return this.#taken > 0 ? this.#message.resume() : this.#message
  }

  // A message that was not read flows to its end when it is answered, even one without a body: a tenth of the
  // time of a small request. So it is read, and flows where somebody listens. (As `node:http` has it with its
  // option `optimizeEmptyRequests`, of Node 24 and up.)
  #settleMessage(): void {
    const message = this.#message
    const isHeard =
      this.#isGiven || message.listenerCount('end') > 0 || message.listenerCount('close') > 0
    if (!isHeard && this.#framing.bodyBytes === 0) message.read()
    if (isHeard && this.#taken > 0) message.resume()
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#closeSignal()
    return this.#signal
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress ?? ''
  }

  get rejection(): HttpError | undefined {
    return this.#framing.rejection
  }

  get aborted(): boolean {
    return this.#socket.destroyed
  }

  /** Begins to answer: at once, but for one of many that were sent ahead of their answers. */
  begin(answer: (exchange: Exchange) => void): void {
    if (this.#connection.pipelined === 0) this.#begin(answer)
    else beginInTurn(this.#connection, this.#out, () => this.#begin(answer))
  }

  // Where a body is to come, what has come with the head is parsed before: it is there, most often, when it is
  // asked for.
  #begin(answer: (exchange: Exchange) => void): void {
    if (this.#isReceived()) answer(this)
    else process.nextTick(answer, this)
  }

  /** @param onError Is told of a body that fails when its headers have left. */
  send(response: HttpResponse, onError: (error: Error, response: HttpResponse) => void): void {
    this.#note(response)
    if (this.#socket.destroyed) {
      responseLifecycle.discard(response)
      return
    }
    this.#settleMessage()
    const { body, status } = response
    const fields = fieldLinesOf(response.headers)
    if (this.#isLast()) fields.push('Connection', 'close')
    if (BODILESS.includes(status)) {
      responseLifecycle.discard(response)
      // Of the other two, there is nothing to be told (RFC 9110, section 8.6).
      if (status === 205) fields.push('Content-Length', '0')
      this.#end(status, fields)
    } else if (body instanceof Readable) {
      this.#stream(body, response, fields, onError)
    } else {
      const bytes = Buffer.byteLength(body ?? '')
      fields.push('Content-Length', String(bytes))
      if (this.method !== 'HEAD') this.#bytes = bytes
      this.#end(status, fields, this.method === 'HEAD' ? undefined : body)
    }
    responseLifecycle.seal(response)
  }

  /** The handler failed, or its response can't be written: nothing better can be said than its status. */
  fail(response: HttpResponse): void {
    if (!this.#out.headersSent) {
      this.send(response, () => {})
      return
    }
    this.#note(response)
    this.#socket.destroy()
  }

  // Whether the whole message has come, and nothing of its body is left unread. Not by `complete` alone: that is
  // set when whoever waited for the bytes may have answered already.
  #isReceived(): boolean {
    return this.#message.complete || this.#taken === this.#framing.bodyBytes
  }

  // What a proxy may have read otherwise must not be followed by anything; behind an upgrade, another
  // protocol may come.
  #mustBeLast(): boolean {
    return this.rejection !== undefined || this.#framing.upgrades
  }

  // Whether the connection ends with this answer.
  #isLast(): boolean {
    // What is left unread of a body must not be taken for the next request.
    if (!this.#isReceived() || this.#mustBeLast()) return true
    // When the server stops, the requests that were pipelined behind this one are answered yet.
    return this.#options.closing() && this.#connection.last === this.#out
  }

  // Whether nothing is to come that an end of the connection would cut off.
  #mayEnd(): boolean {
    return this.#isReceived() || this.#isAwaited || this.#connection.fault !== undefined
  }

  #end(status: number, fields: string[], body?: string | Uint8Array): void {
    this.#out.writeHead(status, fields)
    if (this.#mayEnd()) {
      if (body !== undefined) this.#writeAtOnce(body)
      this.#out.end()
      return
    }
    // The whole answer, but not yet the end: to close under a client that still sends would reset the
    // connection, and the answer with it.
    if (body === undefined || body.length === 0) this.#out.flushHeaders()
    else this.#out.write(body)
    linger(this.#message, () => this.#out.end())
  }

  // Not by end(body): that writes twice, the body and then nothing, and to hand over two pieces took 4 % of the
  // time of a small answer.
  #writeAtOnce(body: string | Uint8Array): void {
    // The same bytes where all is ASCII, and written without being transcoded.
    const isAscii = typeof body === 'string' && body.length === this.#bytes
    this.#socket.cork()
    this.#out.write(body, isAscii ? 'latin1' : 'utf8')
    this.#socket.uncork()
  }

  #stream(
    body: Readable,
    response: HttpResponse,
    fields: string[],
    onError: (error: Error, response: HttpResponse) => void,
  ): void {
    const length = response.headers.get('Content-Length')
    if (length !== undefined) fields.push('Content-Length', length)
    // Said aloud, so that HEAD says it too.
    else if (this.#message.httpVersion === '1.1') fields.push('Transfer-Encoding', 'chunked')
    if (this.method === 'HEAD') {
      responseLifecycle.discard(response)
      this.#end(response.status, fields)
      return
    }
    this.#out.writeHead(response.status, fields)
    let isCut = false
    body.once('close', () => {
      isCut = !body.readableEnded && !this.#socket.destroyed
    })
    const onClose = (): void => {
      body.destroy()
    }
    this.#connection.onClose.add(onClose)
    // The headers have left: all that an error can do now is to end the connection, and pipeline does.
    pipeline(body, this.#counting(length), this.#out, (error) => {
      this.#connection.onClose.delete(onClose)
      // A client that went away is no error; a body that was closed before its end is.
      const { code } = (error ?? {}) as NodeJS.ErrnoException
      if (error && (isCut || code !== 'ERR_STREAM_PREMATURE_CLOSE')) onError(error, response)
    })
  }

  // What is more than declared would be read as the beginning of the next answer.
  #counting(declared: string | undefined) {
    const length = declared === undefined ? undefined : Number(declared)
    return async function* (
      this: Exchange,
      chunks: AsyncIterable<Buffer | string>,
    ): AsyncGenerator<Buffer | string> {
      for await (const chunk of chunks) {
        // Throws for what is neither text nor bytes: written to the socket it would end the process.
        const bytes = Buffer.byteLength(chunk)
        if (length !== undefined && this.#bytes + bytes > length) break
        this.#bytes += bytes
        yield chunk
      }
      if (length !== undefined && this.#bytes !== length) {
        throw new Error('The body is not as long as its Content-Length')
      }
      if (!this.#mayEnd()) await new Promise<void>((resolve) => linger(this.#message, resolve))
    }.bind(this)
  }

  // Who is told of requests is told once of each: of the last response that was tried.
  #note(response: HttpResponse): void {
    const { onAccess } = this.#options
    const isKnown = this.#response !== undefined
    this.#response = response
    if (onAccess === undefined || isKnown) return
    const tell = (): void => {
      const durationMs = performance.now() - this.#startedAt
      const { method } = this
      onAccess({ method, response: this.#response ?? response, bytes: this.#bytes, durationMs })
    }
    this.#whenOver(tell, tell)
  }

  #closeSignal(): AbortSignal {
    const controller = new AbortController()
    this.#whenOver(() => controller.abort(new ClientGoneError()))
    return controller.signal
  }

  // When the client is gone, or else when the answer is out. Not by the answer's `close`: one that waits behind
  // another never emits it.
  #whenOver(onGone: () => void, onOut?: () => void): void {
    const { onClose } = this.#connection
    if (this.#socket.destroyed) {
      onGone()
      return
    }
    if (this.#out.writableFinished) return
    onClose.add(onGone)
    this.#out.once('finish', () => {
      onClose.delete(onGone)
      onOut?.()
    })
  }
}

/**
 * The message of `node:http` that a request came with: for its socket (a client certificate), its trailers,
 * what a middleware noted on it. Its headers and its target may hold secrets: log neither. Its body belongs
 * to `request.body`, that keeps it within the limit.
 *
 * @example
 * const { subject } = incomingMessageOf(request)?.socket.getPeerCertificate() ?? {}
 * @returns undefined for a request that did not come over the wire, as in a test.
 */
export function incomingMessageOf(request: HttpRequest): IncomingMessage | undefined {
  return messageOf(stateOf(request).message.source)
}
