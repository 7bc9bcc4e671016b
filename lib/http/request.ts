import { BlockList } from 'node:net'
import type { Readable } from 'node:stream'
import { type BodySource, failedBody, streamBody, tooLarge } from './body.ts'
import type { ErrorType, HttpError } from './errors.ts'
import { type Client, clientOf } from './forwarded.ts'
import { type FormBody, type HttpRequestInit, Message, type RequestHeaders } from './message.ts'
import { isReserved, mergePairs, mergeSearch, parsePairs, reservedNames } from './params.ts'
import type { Destination, Route } from './route.ts'
import { authorityOf, splitTarget } from './target.ts'
import type { UrlOptions, UrlParams } from './url-params.ts'

/** The parameter `error_handler`: what went wrong, of which type, with which request. */
export interface ErrorHandler {
  /** What was thrown; of a value that is no Error, a {@link ThrownValueError} that holds it. */
  readonly exception: Error
  /** Which kind of error it is; `EXCEPTION_OTHER` for all but the three kinds of 404. */
  readonly type: ErrorType
  /** The original request, with the module, controller and action that were asked for. */
  readonly request: HttpRequest
}

/** What a parameter of a name can be; of a name that is known only at run time, what a client can send. */
export type ParamValue<Name extends string> = Name extends 'module' | 'controller' | 'action' | 'q'
  ? string
  : Name extends 'error_handler'
    ? ErrorHandler | undefined
    : string | undefined

/** What all requests of one front controller share. */
export interface RequestSettings {
  /** How much of the body may be read, in bytes. */
  readonly maxBodyBytes: number
  /** The proxies that may tell who asks. */
  readonly trusted: BlockList
  /** undefined where the routing is none of the built-in one. */
  readonly urls?: UrlBuilder | undefined
}

/** Makes URLs: the inverse of routing. */
export interface UrlBuilder {
  url(request: HttpRequest, params: UrlParams, options: UrlOptions): string
}

/** What the front controller has found out of a request; each step gives a request with more of it. */
export interface RequestState {
  /** What {@link rewrite} made of the target; '' before that. */
  readonly path: string
  readonly q: string
  /** Where it goes; undefined before it is routed. */
  readonly route?: Route | undefined
  readonly settings: RequestSettings
  readonly form?: FormBody | undefined
  readonly errorHandler?: ErrorHandler | undefined
  /** Why the request can't be dispatched: raised when its form has been read. */
  readonly rejection?: HttpError | undefined
}

/** The same request with more found out of it. */
export let withState: (request: HttpRequest, findings: RequestState) => HttpRequest
/** What was found out of a request so far. */
export let stateOf: (request: HttpRequest) => RequestState
/** The body as it comes in, without a limit. */
export let bodySourceOf: (request: HttpRequest) => BodySource
/** What a request was made from. */
export let initOf: (request: HttpRequest) => HttpRequestInit
/** The text of a form as it was sent; '' where there is none. */
export let formTextOf: (request: HttpRequest) => string
/** A header by its lower-case name, without a look at the others. */
export let headerOf: (request: HttpRequest, name: string) => string | undefined
/** The merged view without the reserved names: what the client has sent. */
export let clientParamsOf: (request: HttpRequest) => ReadonlyMap<string, string>
/** Whether a value is a request in truth: `instanceof` is content with a prototype. */
export let isRequest: (value: unknown) => value is HttpRequest
/** Whether the client has gone away. */
export let isAborted: (request: HttpRequest) => boolean
/** Aborts the signal of a request whose time is over. */
export let abort: (request: HttpRequest, reason: Error) => void

const NO_SETTINGS: RequestSettings = {
  maxBodyBytes: Number.POSITIVE_INFINITY,
  trusted: new BlockList(),
}

const NOTHING: RequestState = { path: '', q: '', settings: NO_SETTINGS }

/**
 * A request: read, never changed. What comes of it (a forward, the request for the error action) is
 * another one, over the same message. Nothing is parsed before it is asked for.
 *
 * @example
 * const response = await front.handle(new HttpRequest({ target: '/news/view/id/42' }))
 * @throws {TypeError} If there is no target.
 */
export class HttpRequest {
  readonly #message: Message
  readonly #findings: RequestState
  #pairs: URLSearchParams | undefined
  #parameters: ReadonlyMap<string, string> | undefined
  #abort: AbortController | undefined
  #signal: AbortSignal | undefined

  // The doors for the front controller, that no application sees: index.ts does not export them.
  static {
    withState = (request, findings) => new HttpRequest(request.#message, findings)
    stateOf = (request) => request.#findings
    bodySourceOf = (request) => request.#message.body
    initOf = (request) => request.#message.source
    formTextOf = (request) => request.#findings.form?.text ?? ''
    headerOf = (request, name) => request.#message.header(name)
    clientParamsOf = (request) =>
      new Map([...request.#merged()].filter(([name]) => !isReserved(name)))
    isRequest = (value): value is HttpRequest =>
      Object(value) === value && #message in (value as object)
    isAborted = (request) => request.#message.aborted
    abort = (request, reason) => {
      request.#abort ??= new AbortController()
      request.#abort.abort(reason)
    }
  }

  /** @param findings What the front controller found; a new request has none. */
  constructor(init: HttpRequestInit, findings: RequestState = NOTHING) {
    this.#message = init instanceof Message ? init : new Message(init)
    this.#findings = findings
  }

  /** A UUID that names the request in reports, and to the client where it is answered with an error. */
  get id(): string {
    return this.#message.id
  }

  /** Such as `GET`. */
  get method(): string {
    return this.#message.method
  }

  /** The request target as it was sent, query string and all. */
  get target(): string {
    return this.#message.target
  }

  /** The raw path that is routed, past the base path, such as `/news/view/id/42`; '' before routing. */
  get path(): string {
    return this.#findings.path
  }

  /** The same, percent-decoded once. */
  get q(): string {
    return this.#findings.q
  }

  /** The module as requested, such as `default`; '' before routing. */
  get module(): string {
    return this.#findings.route?.module ?? ''
  }

  /** The controller as requested, never percent-decoded; '' before routing. */
  get controller(): string {
    return this.#findings.route?.controller ?? ''
  }

  /** The action as requested, never percent-decoded; '' before routing. */
  get action(): string {
    return this.#findings.route?.action ?? ''
  }

  /** The headers: lower-case names, and no prototype that could be asked by mistake. */
  get headers(): RequestHeaders {
    return this.#message.headers
  }

  /** Who asks: the peer of the connection, or what a trusted proxy tells of its own. */
  get client(): Client {
    const { remoteAddress, headers, target } = this.#message
    const host = authorityOf(target) ?? headers.host
    return clientOf(remoteAddress, { ...headers, host }, this.#findings.settings.trusted)
  }

  /** The key/value pairs of the path. */
  get pairs(): URLSearchParams {
    this.#pairs ??= toPairs(this.#findings.route?.pairs)
    return this.#pairs
  }

  /** The parameters of the query string. */
  get query(): URLSearchParams {
    return this.#message.query
  }

  /** The fields of a form body (POST, `application/x-www-form-urlencoded`); else empty. */
  get form(): URLSearchParams {
    return this.#findings.form?.fields ?? new URLSearchParams()
  }

  /**
   * The body as a stream of bytes, within the limit; of a form, its bytes once more.
   *
   * Ask for it once: a body comes in once. One that was read already fails, on the wire.
   */
  get body(): Readable {
    const { form, settings } = this.#findings
    const { maxBodyBytes } = settings
    if (form === undefined && isDeclaredLonger(this, maxBodyBytes)) {
      return failedBody(tooLarge(maxBodyBytes))
    }
    return streamBody(form?.bytes ?? this.#message.body, maxBodyBytes)
  }

  /** Aborts when the client has gone away, or the time for the action is over. */
  get signal(): AbortSignal {
    this.#signal ??= this.#anySignal()
    return this.#signal
  }

  /** Why its message must not be served: for a handler of one's own to heed, as a front controller does. */
  get rejection(): HttpError | undefined {
    return this.#message.rejection
  }

  /** What went wrong: present only on the way to the error action, and from there on. */
  get errorHandler(): ErrorHandler | undefined {
    return this.#findings.errorHandler
  }

  /**
   * A parameter by its name, in the merged view: the reserved names from the routing alone, then the
   * pairs of the path, the query string, the form. The first source that has the name wins; inside
   * it, the last value.
   *
   * @returns undefined where no source has it.
   */
  param<Name extends string>(name: Name): ParamValue<Name>
  param(name: string): string | ErrorHandler | undefined {
    switch (name) {
      case 'module':
      case 'controller':
      case 'action':
      case 'q':
        return this[name]
      case 'error_handler':
        return this.errorHandler
      default:
        return this.#merged().get(name)
    }
  }

  /** All parameters of the merged view, the reserved ones first, each name once. */
  get params(): Iterable<[name: string, value: string | ErrorHandler]> {
    const reserved = reservedNames.flatMap((name) => {
      const value = this.param(name)
      return value === undefined ? [] : [[name, value] as const]
    })
    return new Map<string, string | ErrorHandler>([...reserved, ...clientParamsOf(this)])
  }

  /**
   * Another request, for an action to return: it is dispatched next, and this one stays what it was.
   *
   * @example
   * return request.forward({ action: 'list', params: { page: '1' } })
   */
  forward(destination: Destination): HttpRequest {
    const { action, params = {} } = destination
    if (typeof action !== 'string') throw new TypeError('A forward needs an "action"')
    // Before routing there is nothing yet to stay as it is.
    const module = destination.module ?? (this.module || 'default')
    const controller = destination.controller ?? (this.controller || 'index')
    const pairs = new URLSearchParams(this.pairs)
    for (const [name, value] of Object.entries(params)) pairs.set(name, value)
    return withState(this, { ...this.#findings, route: { module, controller, action, pairs } })
  }

  /**
   * The path of a URL, base path and all, that is routed to what is given: routing, the other way round.
   * What is not given is taken over from the request where it was found by the same route, as in ZF1; in
   * the error action, from the original request.
   *
   * @example
   * request.url({ controller: 'news', action: 'view', id: 42 }, { reset: true }) // '/news/view/id/42'
   * request.url({ id: 43 }) // in /news/view/id/42/page/2: '/news/view/page/2/id/43'
   * request.url({ page: null }) // without the page
   * request.url({ id: 42 }, { name: 'article' }) // '/news/42', by the route `article: { path: '/news/:id' }`
   * @throws {TypeError} If no URL leads there, or no front controller with the built-in router has seen
   * the request.
   */
  url(params: UrlParams = {}, options: UrlOptions = {}): string {
    const { urls } = this.#findings.settings
    if (urls === undefined) {
      throw new TypeError('Only the built-in router of a front controller makes URLs of a request')
    }
    return urls.url(this.errorHandler?.request ?? this, params, options)
  }

  // The last value of a source counts, and the first source: so the last to be read must be the first.
  #merged(): ReadonlyMap<string, string> {
    if (this.#parameters !== undefined) return this.#parameters
    const { route } = this.#findings
    const merged = new Map<string, string>()
    mergeSearch(formTextOf(this), merged)
    mergeSearch(splitTarget(this.target).search, merged)
    const pairs = route?.pairs ?? ''
    if (typeof pairs === 'string') mergePairs(pairs, merged)
    else for (const [name, value] of pairs) merged.set(name, value)
    this.#parameters = merged
    return merged
  }

  #anySignal(): AbortSignal {
    this.#abort ??= new AbortController()
    const { signal } = this.#message
    // Not AbortSignal.any(): Node keeps one that has a listener until it aborts, so for ever.
    const own = this.#abort
    if (signal?.aborted) own.abort(signal.reason)
    else signal?.addEventListener('abort', () => own.abort(signal.reason), { once: true })
    return own.signal
  }
}

/** Whether the body of a request is declared to be longer than a limit, in bytes. */
export function isDeclaredLonger(request: HttpRequest, maxBytes: number): boolean {
  return Number(headerOf(request, 'content-length')) > maxBytes
}

/** Whether a request has been routed. */
export function isRouted(request: HttpRequest): boolean {
  return stateOf(request).route !== undefined
}

function toPairs(pairs: string | URLSearchParams = ''): URLSearchParams {
  return typeof pairs === 'string' ? parsePairs(pairs) : pairs
}
