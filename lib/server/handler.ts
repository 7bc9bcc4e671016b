import type { HttpRequest } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import type { BeforeMiddleware } from './before.ts'
import type { HeaderLimits } from './framing.ts'

/** An object that returns a response for every request, such as a {@link FrontController}. */
export interface Handler {
  /** Returns a new response for each request. A promise that rejects leads to a 500 without a body. */
  handle(request: HttpRequest): Promise<HttpResponse>
  /** Does the same, but returns a promise only if it must wait. Replaces `handle` if present. */
  respond?(request: HttpRequest): HttpResponse | Promise<HttpResponse>
  /** Receives errors from sending a response, and from a connection without a valid request. */
  report?(error: unknown, about: { request?: HttpRequest | undefined; status?: number }): void
  /**
   * Reports whether the handler has an action for the target of a request. Required by the option
   * `fallThrough` of a middleware.
   */
  serves?(request: HttpRequest): boolean
  /** Called when the server has stopped. */
  flush?(): void
}

/** Lets a handler respond, without a promise if it can. */
export function respondBy(
  handler: Handler,
  request: HttpRequest,
): HttpResponse | Promise<HttpResponse> {
  return handler.respond ? handler.respond(request) : handler.handle(request)
}

/** The part of a {@link Handler} that receives errors. */
export type Reporting = Pick<Handler, 'report'>

/** A request and its response, for an access log. */
export interface Access {
  /** The method, such as `GET`. */
  readonly method: string
  /** The last response that was attempted; `response.request` is the request. */
  readonly response: HttpResponse
  /** The {@link HttpRequest.route} of the request; null for a public file, and for what a middleware responds to. */
  readonly route: string | null
  /** Bytes of the body that were sent. */
  readonly bytes: number
  /** Milliseconds from the headers of the request to the end of the response. */
  readonly durationMs: number
}

/** Options for the handling of each request. */
export interface HandlingOptions {
  /** Called once per request, when its response has been sent or its client has left. */
  readonly onAccess?: ((access: Access) => void) | undefined
  /**
   * Connect-style middlewares that run in this order in front of the handler (default none). One that responds ends the
   * request. An error that one throws or hands to `next()` is reported, and the response is a 500 without a body. They do
   * not run for a message that is rejected for its framing, and must not read the body.
   */
  readonly before?: readonly BeforeMiddleware[] | undefined
  /**
   * The name of a response header for the id of the request, such as `X-Request-Id` (default none). A header that the action
   * sets is kept. A response of a middleware does not get it.
   */
  readonly idHeader?: string | undefined
}

/** Options of {@link createRequestListener}. */
export interface ListenerOptions extends HandlingOptions {
  /** Limits of the header section and of the target that differ from their defaults. */
  readonly headerLimits?: Partial<HeaderLimits> | undefined
  /**
   * Aborts when the server begins to stop (default: never). From then on, the last response of each
   * connection has `Connection: close`, and the `request.signal` of an event stream aborts.
   */
  readonly closing?: AbortSignal | undefined
}
