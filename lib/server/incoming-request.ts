import type { IncomingMessage, ServerResponse } from 'node:http'
import { type BodySource, consumedBody, failedBody, toBuffer } from '../http/body.ts'
import { ClientGoneError, type HttpError } from '../http/errors.ts'
import type { HttpRequestInit } from '../http/message.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { rejectLongTarget } from '../http/request-line.ts'
import { closeAtOnce } from './close-slowly.ts'
import { type Connection, connectionOf, protocolOf } from './connection.ts'
import type { Framing } from './framing.ts'
import { watchHalfClose } from './half-close.ts'

const READ_BEFORE =
  'The body was read before the request arrived here: mount Portico before any body parser'

// `new ReadMessage(message)` defines a property on the message, ten times as fast as Object.defineProperty(): 1 % of W1 CPU.
class Itself {
  constructor(message: IncomingMessage) {
    // biome-ignore lint/correctness/noConstructorReturn: the fields of a subclass go to this object.
    return message
  }
}
class ReadMessage extends Itself {
  readonly readableEnded = true
}

/**
 * The part of a body that has been returned.
 *
 * - `awaiting-continue`: nothing; the client sends no body before a 100 (Continue).
 * - `unread`: nothing.
 * - `streaming`: the message itself, or an empty text in place of an empty body.
 * - `consumed`: all bytes, in one piece.
 */
type BodyState = 'awaiting-continue' | 'unread' | 'streaming' | 'consumed'

/** A message of `node:http` as the source of a request. Reads it on request only. @internal */
export class IncomingRequest implements HttpRequestInit {
  readonly message: IncomingMessage
  readonly out: ServerResponse
  readonly connection: Connection
  readonly method: string
  readonly target: string
  readonly rejection: HttpError | undefined
  /** Whether no other request may follow: a proxy may have read a rejected message differently; an upgrade changes the protocol. */
  readonly mustBeLast: boolean
  readonly #bodyBytes: number | undefined
  #bodyState: BodyState
  #isExposed = false
  #controller: AbortController | undefined
  #abortReason: unknown

  constructor(
    message: IncomingMessage,
    out: ServerResponse,
    { rejection, upgrades, bodyBytes, expectsContinue }: Framing,
    maxTargetBytes = Number.POSITIVE_INFINITY,
  ) {
    this.message = message
    this.out = out
    this.connection = connectionOf(message.socket)
    this.method = message.method ?? 'GET'
    this.target = message.url ?? '/'
    // After a target that is too long, the framing of the message is still clear.
    this.rejection = rejection ?? rejectLongTarget(this.target, maxTargetBytes)
    this.mustBeLast = rejection !== undefined || upgrades
    this.#bodyBytes = bodyBytes
    this.#bodyState = expectsContinue ? 'awaiting-continue' : 'unread'
    // The client sends nothing behind this message, so the connection can close at once. Not with `Expect`: nothing
    // reads the rest of that body. Not over TLS: a client that has half-closed would lose the end of its response.
    if (!out.shouldKeepAlive && !expectsContinue && this.protocol === 'http')
      closeAtOnce(message.socket)
  }

  get headers(): IncomingMessage['headers'] {
    return this.message.headers
  }

  /** All fields, also those that code has removed from `headers`, the trailers, and the cookies that a middleware has set. */
  get rawFields(): [name: string, value: string][] {
    const { rawHeaders, rawTrailers } = this.message
    const setLines = [this.out.getHeader('set-cookie') ?? []].flat()
    const cookies = setLines.flatMap((line) => ['set-cookie', `${line}`.split(';', 1)[0] ?? ''])
    const fields = [...rawHeaders, ...rawTrailers, ...cookies]
    return pairsOf(fields).map(([name, value]) => [name.toLowerCase(), value ?? ''])
  }

  // `message.headers` builds an object of all fields, which takes as long as routing the request.
  header(name: string): string | undefined {
    const { rawHeaders } = this.message
    let found: string | undefined
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const field = rawHeaders[i] ?? ''
      if (field.length !== name.length || field.toLowerCase() !== name) continue
      // In `message.headers`, node:http has joined repeated fields or dropped all but one.
      if (found !== undefined) return String(this.message.headers[name])
      found = rawHeaders[i + 1]
    }
    return found
  }

  get body(): BodySource {
    const { message } = this
    const isFirst = this.#bodyState === 'unread' || this.#bodyState === 'awaiting-continue'
    if (isFirst && message.readableDidRead) throw new Error(READ_BEFORE)
    // Sends the 100 only now: a request that is rejected needs no body (RFC 9110, section 10.1.1).
    if (this.#bodyState === 'awaiting-continue') {
      this.#bodyState = 'unread'
      // Behind the head of a response, a 100 would be a part of its body. The head itself makes the client send.
      if (this.out.headersSent) this.out.flushHeaders()
      else this.out.writeContinue()
    }
    const { fault } = this.connection
    if (fault !== undefined && !message.complete) return failedBody(fault)
    if (isFirst) return this.#readFirst()
    const isConsumed = this.#bodyState === 'consumed' || message.readableEnded
    return isConsumed ? consumedBody() : this.expose()
  }

  // Most bodies arrive with the headers. Returning their bytes at once and not by events saves 10 %
  // of the time of a form (docs/decisions/011, npm run bench -- --only portico,bare).
  #readFirst(): BodySource {
    const { message } = this
    this.#bodyState = 'streaming'
    const isBuffered = message.complete || message.readableLength === this.#bodyBytes
    if (!isBuffered || message.destroyed) return this.expose()
    const chunks: (Buffer | string)[] = [message.read() ?? '']
    // Node 26 returns one chunk at a time.
    while (message.readableLength > 0) chunks.push(message.read())
    const [bytes = ''] = chunks.length > 1 ? [Buffer.concat(chunks.map(toBuffer))] : chunks
    if (bytes.length > 0) this.#bodyState = 'consumed'
    if (this.#isExposed) this.expose()
    return bytes
  }

  /** Returns the message to the application, which may add listeners to it at any time. */
  expose(): IncomingMessage {
    this.#isExposed = true
    // After its bytes have been consumed, a message emits `end` only if it flows.
    return this.#bodyState === 'consumed' ? this.message.resume() : this.message
  }

  /**
   * Aborts with a {@link ClientGoneError} when the client leaves before the response is sent, and
   * with the error of {@link IncomingRequest.abort}.
   */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason)
      const onGone = (): void => this.abort(new ClientGoneError())
      // After the whole response, the end of the connection ends no work.
      if (!this.out.writableFinished) {
        this.connection.watchOutcome(this.out, onGone)
        watchHalfClose(this.connection, this.out, onGone)
      }
    }
    return this.#controller.signal
  }

  /** Aborts the signal, also if it is read later. */
  abort(reason: unknown): void {
    this.#abortReason ??= reason
    this.#controller?.abort(this.#abortReason)
  }

  get remoteAddress(): string {
    return this.connection.socket.remoteAddress ?? ''
  }

  get protocol(): 'http' | 'https' {
    return protocolOf(this.connection.socket)
  }

  get aborted(): boolean {
    const { fault, socket } = this.connection
    // Behind other responses, the socket of a client that has left within this message is still open.
    const isCut = fault instanceof ClientGoneError && !this.message.complete
    const isGone = socket.destroyed && !this.out.writableFinished
    return isCut || isGone || this.#abortReason !== undefined
  }

  /**
   * Whether the whole message has arrived.
   *
   * `complete` alone becomes true too late: the parser sets it after it has emitted the last bytes,
   * and their reader may already have sent a response.
   */
  get isReceived(): boolean {
    return this.message.complete || this.#bodyBytes === 0 || this.#bodyState === 'consumed'
  }

  /** Whether a reader of the body waits for the client. */
  get awaitsBody(): boolean {
    return !this.isReceived && this.message.readableFlowing === true
  }

  /** Whether the client is still sending. Closing the connection now could lose the response. */
  get isArriving(): boolean {
    if (this.isReceived || this.#bodyState === 'awaiting-continue') return false
    return !this.connection.fault && !(this.message.destroyed && this.out.shouldKeepAlive)
  }

  /**
   * Marks a message that has no unread body as read, before its response is written.
   *
   * node:http makes an unread message flow to its end after the response, even one without a body,
   * and emits `end` and `close`, which is 10 % of the time of a small request (docs/decisions/011,
   * npm run bench -- --only portico,bare). A message that has been read does not flow, so an empty
   * one is read here unless it is exposed or has listeners. The option `optimizeEmptyRequests` of
   * Node 24 does the same.
   */
  settle(): void {
    const { message } = this
    // Writes the 100 although the body is here: without it, node:http closes the connection, and a request behind may have started.
    if (this.#bodyState === 'awaiting-continue' && message.complete) this.out.writeContinue()
    const isConsumed = this.#bodyState === 'consumed'
    if (this.#isExposed || message.listenerCount('end') > 0 || message.listenerCount('close') > 0) {
      if (isConsumed) message.resume()
      return
    }
    if (this.#bodyBytes === 0) message.read()
    else if (!isConsumed) return
    // After the response, the parser of node:http releases a message whose `readableEnded` is true.
    // It would keep any other one, with its headers, until the next request of the connection.
    new ReadMessage(message)
  }
}

/**
 * Returns the message of `node:http` that a request was made from. Use it for the socket (a client
 * certificate), for the trailers, or for properties that a middleware has set.
 *
 * Do not log its headers or target: they may contain secrets. Read the body from
 * `request.body`, which enforces the limit.
 *
 * @returns undefined without a connection, as in a test.
 */
export function incomingMessageOf(request: HttpRequest): IncomingMessage | undefined {
  const { source } = stateOf(request).message
  return source instanceof IncomingRequest ? source.expose() : undefined
}

/** Returns the pairs of a flat list of names and values, such as `rawHeaders`. */
export function pairsOf<T>(fields: readonly T[]): [name: T, value: T | undefined][] {
  return fields.flatMap((name, i) => (i % 2 ? [] : [[name, fields[i + 1]]]))
}
