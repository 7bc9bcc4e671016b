import type { IncomingMessage, RequestListener } from 'node:http'
import { isPromiseLike } from '../http/is-promise-like.ts'
import { HttpRequest } from '../http/request.ts'
import { HttpResponse } from '../http/response.ts'
import { isAfterLast } from './connection.ts'
import { type Access, Exchange, type ExchangeOptions } from './exchange.ts'
import { DEFAULT_HEADER_LIMITS, type HeaderLimits } from './framing.ts'

const MAX_PAUSE_MS = 5_000

/** An object that returns a response for every request, such as a {@link FrontController}. */
export interface Handler {
  /** Returns the response to a request. If the promise rejects, the client gets a 500 without a body. */
  handle(request: HttpRequest): Promise<HttpResponse>
  /** Does the same as `handle`, but returns a promise only if it has to wait. Replaces `handle` if present. */
  respond?(request: HttpRequest): HttpResponse | Promise<HttpResponse>
  /** Receives errors that occur while a response is sent, and errors of a connection that sends no valid request. */
  report?(error: unknown, about: { request?: HttpRequest | undefined; status?: number }): void
  /**
   * Returns whether the handler has an action for the target of a request. Required by the option `fallThrough` of a
   * middleware.
   */
  serves?(request: HttpRequest): boolean
  /** Called when the server has stopped. */
  flush?(): void
}

/** Options of {@link createRequestListener}. */
export interface ListenerOptions {
  /** Limits of the header section (default 100 fields, 16,384 bytes); beyond them 431. */
  readonly headerLimits?: Partial<HeaderLimits> | undefined
  /**
   * Returns whether the server is stopping (default: always false). If it is, the last response of each connection has
   * `Connection: close`.
   */
  readonly closing?: (() => boolean) | undefined
  /**
   * Maximum time for which reading is paused when a client pipelines too many requests, in milliseconds (default
   * 5,000). Must be less than the server's timeouts for receiving a request.
   */
  readonly maxPauseMs?: number | undefined
  /** Called once per request, when its response has been sent or its client has left. */
  readonly onAccess?: ((access: Access) => void) | undefined
  /** The messages whose clients wait for a 100 (Continue): those of the event `checkContinue`. */
  readonly expectsContinue?: WeakSet<IncomingMessage> | undefined
}

/**
 * Creates a listener for `node:http` that responds to every request with a handler.
 *
 * @example
 * createServer(createRequestListener(front)).listen(3000)
 * @throws {TypeError} If the handler has no function `handle`.
 */
export function createRequestListener(
  handler: Handler,
  options: ListenerOptions = {},
): RequestListener {
  checkHandler(handler)
  const exchangeOptions: ExchangeOptions = {
    headerLimits: { ...DEFAULT_HEADER_LIMITS, ...options.headerLimits },
    closing: options.closing ?? (() => false),
    maxPauseMs: options.maxPauseMs ?? MAX_PAUSE_MS,
    onAccess: options.onAccess,
    expectsContinue: options.expectsContinue ?? new WeakSet(),
  }
  const { respond } = new Responder(handler, exchangeOptions.closing)
  return (message, out) => {
    // Nothing behind the last request of a connection gets a response.
    if (isAfterLast(message)) return
    new Exchange(message, out, exchangeOptions).start(respond)
  }
}

function checkHandler(handler: Handler): void {
  if (typeof handler?.handle === 'function') return
  throw new TypeError('Expected a handler with a function "handle", such as a FrontController')
}

/** Passes requests to a handler, and its responses to their exchanges. */
class Responder {
  readonly #handler: Handler
  readonly #closing: () => boolean

  constructor(handler: Handler, closing: () => boolean) {
    this.#handler = handler
    this.#closing = closing
  }

  // An arrow function is bound once per server, and not once per request.
  readonly respond = (exchange: Exchange): void => {
    const request = new HttpRequest(exchange.incoming)
    try {
      const response = this.#handle(request)
      if (isPromiseLike(response)) {
        response.then(
          (settled) => this.#deliver(exchange, request, settled),
          (error) => this.#fail(exchange, request, error),
        )
      } else {
        this.#deliver(exchange, request, response)
      }
    } catch (error) {
      this.#fail(exchange, request, error)
    }
  }

  #handle(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    const handler = this.#handler
    return handler.respond === undefined ? handler.handle(request) : handler.respond(request)
  }

  #deliver(exchange: Exchange, request: HttpRequest, response: HttpResponse): void {
    // When the server stops, only the last response closes a connection. Let node:http first parse requests that have
    // arrived.
    if (this.#closing()) setImmediate(() => this.#send(exchange, request, response))
    else this.#send(exchange, request, response)
  }

  #send(exchange: Exchange, request: HttpRequest, response: HttpResponse): void {
    try {
      response.request ??= request
      exchange.send(response, this.#reportBodyError)
    } catch (error) {
      this.#fail(exchange, request, error)
    }
  }

  #fail(exchange: Exchange, request: HttpRequest, error: unknown): void {
    const response = new HttpResponse()
    response.status = 500
    response.request = request
    exchange.fail(response)
    this.#handler.report?.(error, { request, status: 500 })
  }

  readonly #reportBodyError = (error: Error, { request }: HttpResponse): void =>
    this.#handler.report?.(error, { request, status: 500 })
}
