import type { Readable } from 'node:stream'
import { accepted } from './accept.ts'
import type { ErrorType, HttpError } from './errors.ts'
import type { Client } from './forwarded.ts'
import { type HttpRequestInit, Message, type RequestHeaders, type SharedState } from './message.ts'
import type { Params } from './params.ts'
import { RequestState, type StatePatch } from './request-state.ts'
import { type Destination, routeTo, type UrlOptions, type UrlParams } from './route.ts'

/** The parameter `error_handler`: the exception, its type, and the request that failed. */
export interface ErrorHandler {
  /** The exception; a {@link ThrownValueError} for a thrown value that is not an Error. */
  readonly exception: Error
  /** The kind of the error: one of the three kinds of 404, else `EXCEPTION_OTHER`. */
  readonly type: ErrorType
  /** The original request, with the requested module, controller and action. */
  readonly request: HttpRequest
  /** The id to show to the client: that of the request; undefined if the log only counts the error. */
  readonly id?: string | undefined
}

/** The type of a parameter by its name. */
export type ParamValue<Name extends string> = Name extends 'module' | 'controller' | 'action' | 'q'
  ? string
  : Name extends 'error_handler'
    ? ErrorHandler | undefined
    : string | undefined

/** Returns the internal state of a request. Only for use inside the package. @internal */
export let stateOf: (request: HttpRequest) => RequestState<ErrorHandler>
/** Reports whether a value is a request. Unlike `instanceof`, it rejects an object that only has the prototype. */
export let isRequest: (value: unknown) => value is HttpRequest

/**
 * An immutable request. A forward or an error creates another one over the same message.
 *
 * @throws {TypeError} If there is no target.
 */
export class HttpRequest {
  readonly #state: RequestState<ErrorHandler>

  static {
    stateOf = (request) => request.#state
    isRequest = (value): value is HttpRequest =>
      Object(value) === value && #state in (value as object)
  }

  constructor(init: HttpRequestInit) {
    this.#state = init instanceof RequestState ? init : new RequestState(new Message(init))
  }

  /** A UUID that identifies the request in reports and the access log. An error page shows `errorHandler.id`. */
  get id(): string {
    return this.#state.message.id
  }

  /** The method, such as `GET`. */
  get method(): string {
    return this.#state.message.method
  }

  /** The request target as sent, with its query string. */
  get target(): string {
    return this.#state.message.target
  }

  /** The same as `target`. */
  get url(): string {
    return this.target
  }

  /** The raw path that is routed, without the base path, such as `/news/view/id/42`; '' before routing. */
  get path(): string {
    return this.#state.path
  }

  /** The path, percent-decoded once; '' before routing. */
  get q(): string {
    return this.#state.q
  }

  /** The module as requested, such as `default`; '' before routing. */
  get module(): string {
    return this.#state.module
  }

  /** The controller as requested, never percent-decoded; '' before routing. */
  get controller(): string {
    return this.#state.controller
  }

  /** The action as requested, never percent-decoded; '' before routing. */
  get action(): string {
    return this.#state.action
  }

  /**
   * The name of the named route, else of the registered action, such as `news/view`: one of a finite set. Null if there is no such action. Forwards and errors do not change it.
   */
  get route(): string | null {
    return this.#state.routeName
  }

  /** The headers by lower-case name, in an object without a prototype. */
  get headers(): RequestHeaders {
    return this.#state.message.headers
  }

  /**
   * Returns a header by its name in any case; undefined if it is absent. Repeated fields are joined as `node:http` does: most
   * with `, `.
   */
  header(name: string): string | undefined {
    const value = this.headers[name.toLowerCase()]
    return value === undefined ? undefined : [value].flat().join(', ')
  }

  /** The address, protocol and host of the client: from the connection, or from a trusted proxy. */
  get client(): Client {
    return this.#state.client
  }

  /** The key/value pairs of the path. */
  get pairs(): URLSearchParams {
    return this.#state.pairs
  }

  /** The parameters of the query string. */
  get query(): URLSearchParams {
    return this.#state.message.query
  }

  /** The fields of a form body (POST, `application/x-www-form-urlencoded`); empty for any other body. */
  get form(): URLSearchParams {
    return this.#state.form?.fields ?? new URLSearchParams()
  }

  /** The body as a stream of bytes; read it once. It fails with a 413 past the limit. Of a form, it has the same bytes again. */
  get body(): Readable {
    return this.#state.body
  }

  /**
   * Aborts when the client has gone ({@link ClientGoneError}); when the body is a stream that is not sent, as for HEAD or after
   * an error, unless it is a web stream or a generator that has failed; when the action exceeds its time limit (503 or 408);
   * and when the server stops during a response with the type `text/event-stream` ({@link ServerClosingError}).
   */
  get signal(): AbortSignal {
    return this.#state.cancellation.signal
  }

  /** The error that rejects the message because of its framing. A custom handler must check it. */
  get rejection(): HttpError | undefined {
    return this.#state.message.source.rejection
  }

  /** The error to handle; undefined except in the error action, and in requests that it forwards. */
  get errorHandler(): ErrorHandler | undefined {
    return this.#state.errorHandler
  }

  /**
   * Returns a parameter of the merged view. A reserved name has the value that routing set. Any other name is searched
   * in the pairs of the path, the query string and the form, in this order. The last value in the first source with the
   * name wins. Returns undefined if no source has it.
   */
  param<Name extends string>(name: Name): ParamValue<Name> {
    return this.#state.param(name) as ParamValue<Name>
  }

  /**
   * All parameters of the merged view, in an object without a prototype: the reserved names first, then those of the
   * client. Iteration yields names and values.
   */
  get params(): Params<ErrorHandler> {
    return this.#state.view
  }

  /** The cookies of the header `Cookie`, by name. */
  get cookies(): ReadonlyMap<string, string> {
    return this.#state.message.cookies
  }

  /**
   * An object without a prototype for the application. All hooks and actions of the message share it, also after a forward
   * and in the error action.
   *
   * @example
   * declare module 'portico' { interface SharedState { user?: User } }
   * request.state.user = await findUser(request)
   */
  get state(): SharedState {
    return this.#state.message.state
  }

  /**
   * Returns the media type that the client prefers by `Accept`; undefined if it accepts none. A missing or malformed header
   * accepts all. The response gets `Vary: Accept`.
   *
   * @param types The available types, the preferred one first.
   */
  accepts<Type extends string>(types: readonly Type[]): Type | undefined {
    const { message } = this.#state
    message.isNegotiated = true
    return accepted(message.header('accept'), types)
  }

  /**
   * Returns another request. If the action returns it, it is dispatched next.
   *
   * @throws {TypeError} If there is no action, or an unknown name.
   */
  forward(destination: Destination): HttpRequest {
    return withState(this, { route: routeTo(this, destination) })
  }

  /**
   * Returns the path of a URL, with the base path, that is routed to the names and pairs in `params`. A route with a host or
   * another scheme gives an absolute URL. As in ZF1, names and pairs that `params` omits come from this request, if the same
   * route matched it; from a route with a common parent, the values of that parent. In the error action, they come from the
   * original request.
   *
   * @throws {TypeError} If no URL leads to them, an option is unknown, or the built-in router did not route the request.
   */
  urlFor(params: UrlParams = {}, options: UrlOptions = {}): string {
    return stateOf(this.errorHandler?.request ?? this).urlFor(params, options)
  }
}

/** Returns a request over the same message with some fields of its state replaced; undefined keeps a field. @internal */
export function withState(request: HttpRequest, patch: StatePatch<ErrorHandler>): HttpRequest {
  const state = stateOf(request)
  return new HttpRequest(new RequestState(state.message, patch, state))
}
