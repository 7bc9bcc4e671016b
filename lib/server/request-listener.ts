import type { IncomingMessage, RequestListener } from 'node:http'
import { isPromiseLike } from '../http/is-promise-like.ts'
import { HttpRequest } from '../http/request.ts'
import { HttpResponse } from '../http/response.ts'
import { isAfterLast } from './connection.ts'
import { type Access, Exchange, type ExchangeOptions } from './exchange.ts'
import { DEFAULT_HEADER_LIMITS, type HeaderLimits } from './framing.ts'

const HOLD_MS = 5_000

/** Gives every request a response; a {@link FrontController} is one. */
export interface Handler {
  /** Answers a request; a promise that rejects is answered with a bare 500. */
  handle(request: HttpRequest): Promise<HttpResponse>
  /** The same, without a promise where none is needed: asked in place of `handle` where it is there. */
  respond?(request: HttpRequest): HttpResponse | Promise<HttpResponse>
  /** Is told of an error that came when the answer was on its way, or on a connection before there was a request. */
  report?(error: unknown, about: { request?: HttpRequest | undefined; status?: number }): void
  /** Whether it has an answer of its own for a request, by its target: asked before a middleware answers. */
  serves?(request: HttpRequest): boolean
  /** Is told that the server stops. */
  flush?(): void
}

/** What a listener is told beside the handler. */
export interface ListenerOptions {
  /** What the header section of a message may hold (default 100 fields, 16,384 bytes); beyond it 431. */
  readonly headerLimits?: Partial<HeaderLimits> | undefined
  /** Whether the server is about to stop: answers then say `Connection: close` (default: it is not). */
  readonly closing?: (() => boolean) | undefined
  /**
   * How long a client is held back at a time that sends too many requests ahead of their answers, in
   * milliseconds (default 5,000); less than the server gives a request to come.
   */
  readonly maxPauseMs?: number | undefined
  /** Is told of every request when its answer is out, or its client gone. */
  readonly onAccess?: ((access: Access) => void) | undefined
  /** The messages whose clients wait for a 100 (Continue): those of the event `checkContinue`. */
  readonly expectsContinue?: WeakSet<IncomingMessage> | undefined
}

/** @throws {TypeError} If it can't answer. */
function checkHandler(handler: Handler): void {
  if (typeof handler?.handle === 'function') return
  throw new TypeError('Expected a handler with a function "handle", such as a FrontController')
}

/**
 * A listener for `node:http` that answers every request through a handler.
 *
 * @example
 * createServer(createRequestListener(front)).listen(3000)
 * @throws {TypeError} If the handler can't answer.
 */
export function createRequestListener(
  handler: Handler,
  options: ListenerOptions = {},
): RequestListener {
  checkHandler(handler)
  const exchangeOptions: ExchangeOptions = {
    headerLimits: { ...DEFAULT_HEADER_LIMITS, ...options.headerLimits },
    closing: options.closing ?? (() => false),
    maxPauseMs: options.maxPauseMs ?? HOLD_MS,
    onAccess: options.onAccess,
    expectsContinue: options.expectsContinue ?? new WeakSet(),
  }
  const respond = (request: HttpRequest): HttpResponse | Promise<HttpResponse> =>
    handler.respond === undefined ? handler.handle(request) : handler.respond(request)
  const onBodyError = (error: Error, { request }: HttpResponse): void =>
    handler.report?.(error, { request, status: 500 })
  const answer = (exchange: Exchange): void => {
    const request = new HttpRequest(exchange)
    try {
      const response = respond(request)
      if (isPromiseLike(response)) {
        response.then(
          (settled) => deliver(exchange, request, settled),
          (error) => fail(exchange, request, error),
        )
      } else {
        deliver(exchange, request, response)
      }
    } catch (error) {
      fail(exchange, request, error)
    }
  }
  const deliver = (exchange: Exchange, request: HttpRequest, response: HttpResponse): void => {
    // When the server stops, what has come is parsed first: only the last answer ends the connection.
    if (exchangeOptions.closing()) setImmediate(send, exchange, request, response)
    else send(exchange, request, response)
  }
  const send = (exchange: Exchange, request: HttpRequest, response: HttpResponse): void => {
    try {
      response.request ??= request
      exchange.send(response, onBodyError)
    } catch (error) {
      fail(exchange, request, error)
    }
  }
  const fail = (exchange: Exchange, request: HttpRequest, error: unknown): void => {
    const response = new HttpResponse()
    response.status = 500
    response.request = request
    exchange.fail(response)
    handler.report?.(error, { request, status: 500 })
  }

  return (message, out) => {
    // It gets no answer.
    if (isAfterLast(message)) return
    new Exchange(message, out, exchangeOptions).begin(answer)
  }
}
