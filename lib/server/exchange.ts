import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpResponse } from '../http/response.ts'
import {
  type Connection,
  connectionOf,
  recordRequest,
  startInTurn,
  watchOutcome,
} from './connection.ts'
import { type HeaderLimits, readFraming } from './framing.ts'
import { IncomingRequest } from './incoming-request.ts'
import { type OnBodyError, type ResponseTarget, writeResponse } from './response-writer.ts'

/** A request and its response, for an access log. */
export interface Access {
  /** The method, such as `GET`. */
  readonly method: string
  /** The response that was sent; `response.request` is the request. */
  readonly response: HttpResponse
  /** Number of bytes of the body that were sent. */
  readonly bytes: number
  /** Milliseconds from the headers of the request to the end of the response. */
  readonly durationMs: number
}

/** The options that all exchanges of one server share. @internal */
export interface ExchangeOptions {
  readonly headerLimits: HeaderLimits
  /** Whether the server is stopping. */
  readonly closing: () => boolean
  /** Maximum time for which reading is paused when a client pipelines too many requests, in milliseconds. */
  readonly maxPauseMs: number
  readonly onAccess: ((access: Access) => void) | undefined
  /** The messages whose clients wait for a 100 (Continue). */
  readonly expectsContinue: WeakSet<IncomingMessage>
}

/** One message of `node:http` and its response. @internal */
export class Exchange implements ResponseTarget {
  readonly incoming: IncomingRequest
  readonly out: ServerResponse
  readonly connection: Connection
  bytes = 0
  readonly #options: ExchangeOptions
  readonly #startedAt: number
  // The last response that was attempted.
  #response: HttpResponse | undefined

  constructor(message: IncomingMessage, out: ServerResponse, options: ExchangeOptions) {
    const { headerLimits, maxPauseMs, onAccess, expectsContinue } = options
    this.out = out
    this.#options = options
    this.connection = connectionOf(message.socket)
    recordRequest(this.connection, out, maxPauseMs)
    this.#startedAt = onAccess === undefined ? 0 : performance.now()
    this.incoming = new IncomingRequest(
      message,
      out,
      this.connection,
      readFraming(message, headerLimits),
      expectsContinue.has(message),
    )
    if (this.incoming.mustBeLast) this.connection.hasLastRequest = true
  }

  get isLast(): boolean {
    // The rest of an unread body must not be read as the next request.
    if (!this.incoming.isReceived || this.incoming.mustBeLast) return true
    // A server that is stopping still responds to the requests that were pipelined behind this one.
    return this.#options.closing() && this.connection.latest === this.out
  }

  /** Calls `respond`. If the request was pipelined, it may first wait for earlier exchanges. */
  start(respond: (exchange: Exchange) => void): void {
    if (this.connection.pipelined === 0) this.#start(respond)
    else startInTurn(this.connection, this.out, () => this.#start(respond))
  }

  // Wait one tick when a body follows: node:http has then usually parsed the bytes that arrived with the headers,
  // so `body` can return them synchronously.
  #start(respond: (exchange: Exchange) => void): void {
    if (this.incoming.isReceived) respond(this)
    else process.nextTick(respond, this)
  }

  /** Sends a response. */
  send(response: HttpResponse, onBodyError: OnBodyError): void {
    this.#recordAccess(response)
    writeResponse(response, this, onBodyError)
  }

  /** Sends a response in place of one that failed; closes the connection if the headers have been sent. */
  fail(response: HttpResponse): void {
    this.#recordAccess(response)
    if (this.out.headersSent) this.connection.socket.destroy()
    else writeResponse(response, this, () => {})
  }

  // `onAccess` is called once per request, with the last response that was attempted.
  #recordAccess(response: HttpResponse): void {
    const { onAccess } = this.#options
    const isRecorded = this.#response !== undefined
    this.#response = response
    if (onAccess === undefined || isRecorded) return
    const report = (): void => {
      const durationMs = performance.now() - this.#startedAt
      const { method } = this.incoming
      onAccess({ method, response: this.#response ?? response, bytes: this.bytes, durationMs })
    }
    watchOutcome(this.connection, this.out, report, report)
  }
}
