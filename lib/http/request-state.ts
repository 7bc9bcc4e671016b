import { BlockList } from 'node:net'
import type { Readable } from 'node:stream'
import type { FormBody } from './body.ts'
import { checkNames, isObject } from './check-options.ts'
import type { HttpError } from './errors.ts'
import { type Client, clientOf, type ProxyIds, proxyIdsOf } from './forwarded.ts'
import type { Message } from './message.ts'
import {
  eachDecoded,
  eachField,
  eachPair,
  type Params,
  parsePairs,
  toParams,
  type Visit,
} from './params.ts'
import { authorityOf, splitTarget } from './request-line.ts'
import { type Route, toQuery, type UrlOptions, type UrlParams } from './route.ts'

/** The settings that all requests of one front controller share. */
export interface RequestSettings {
  /** Maximum number of bytes that are read from a body. */
  readonly maxBodyBytes: number
  /** The addresses of trusted proxies. */
  readonly trusted: BlockList
  /** Reports whether a module, a controller, an action or a literal of a named route has this name. */
  readonly isRegistered?: ((name: string) => boolean) | undefined
  /** Reports whether a URL leads to a controller that a client can request. */
  readonly hasController?: ((url: URL) => boolean) | undefined
  /** Returns the literal segments of a named route, which are not values of a request. */
  readonly literalsOf?: ((route: string) => readonly string[]) | undefined
  /** Returns what a route leads to. */
  readonly resolve?: ((route: Route) => Resolved) | undefined
  /** Returns the name of the first route or action of a request, one of a finite set; null if there is none. */
  readonly nameRoute?: ((state: RequestState<unknown>) => string | null) | undefined
  /** Undefined with a custom router. */
  readonly buildUrl?: UrlBuilder | undefined
}

/** The target of a route. A name that is not registered has its usual spelling in URLs. */
export interface Resolved extends Pick<Route, 'module' | 'controller' | 'action'> {
  /** The function as the application wrote it; undefined if there is none of this name. */
  readonly run: unknown
  /** The registered names of the action that runs, which may be `__call`; undefined if none does. */
  readonly registered?: Pick<Route, 'module' | 'controller' | 'action'> | undefined
}

/** Builds a URL without its query. It may take names and pairs from the current request. */
export type UrlBuilder = (
  current: RequestState<unknown>,
  params: UrlParams,
  options: UrlOptions,
) => string

// The settings of a request before a front controller handles it.
const NO_SETTINGS: RequestSettings = {
  maxBodyBytes: Number.POSITIVE_INFINITY,
  trusted: new BlockList(),
}

type Field =
  | 'path'
  | 'q'
  | 'route'
  | 'firstRoute'
  | 'settings'
  | 'maxBodyBytes'
  | 'form'
  | 'errorHandler'
  | 'rejection'

/** Replaces fields of a {@link RequestState}; undefined keeps a field. */
export type StatePatch<ErrorHandler> = Partial<Pick<RequestState<ErrorHandler>, Field>>

/** The state of a request in the loop. Derived values are computed when they are first read. */
export class RequestState<ErrorHandler> {
  readonly message: Message
  /** The raw path that is routed, without the base path; '' before the rewrite. */
  readonly path: string
  /** The path, percent-decoded once; '' before the rewrite. */
  readonly q: string
  /** Undefined before routing. */
  readonly route: Route | undefined
  /** The first route of the request: a forward does not change it. */
  readonly firstRoute: Route | undefined
  readonly settings: RequestSettings
  /** Maximum bytes of a body for the action; undefined for that of the settings. */
  readonly maxBodyBytes: number | undefined
  /** Undefined before the form is read, and if there is none. */
  readonly form: FormBody | undefined
  readonly errorHandler: ErrorHandler | undefined
  /** The error that rejects the request. The loop throws it after the form is read, except for the error action. */
  readonly rejection: HttpError | undefined
  /** The names that reports and error pages show; undefined before one of them needs them. */
  safeNames: Pick<Route, 'module' | 'controller' | 'action'> | undefined
  #pairs: URLSearchParams | undefined
  #params: ReadonlyMap<string, string> | undefined
  #view: Params<ErrorHandler> | undefined

  /** Takes each field from the patch, else from the base, else a default. */
  constructor(
    message: Message,
    patch: StatePatch<ErrorHandler> = {},
    base: StatePatch<ErrorHandler> = patch,
  ) {
    // Copies field by field: object spread took a fifth of the time of a request
    // (node bench/in-process.js).
    this.message = message
    this.path = patch.path ?? base.path ?? ''
    this.q = patch.q ?? base.q ?? ''
    this.route = patch.route ?? base.route
    this.firstRoute = patch.firstRoute ?? base.firstRoute ?? this.route
    this.settings = patch.settings ?? base.settings ?? NO_SETTINGS
    this.maxBodyBytes = patch.maxBodyBytes ?? base.maxBodyBytes
    this.form = patch.form ?? base.form
    this.errorHandler = patch.errorHandler ?? base.errorHandler
    this.rejection = patch.rejection ?? base.rejection
  }

  /** The request target. With it, a state is an `HttpRequestInit` for the constructor of a request. */
  get target(): string {
    return this.message.target
  }

  get module(): string {
    return this.route?.module ?? ''
  }

  get controller(): string {
    return this.route?.controller ?? ''
  }

  get action(): string {
    return this.route?.action ?? ''
  }

  /** The key/value pairs of the path. */
  get pairs(): URLSearchParams {
    const pairs = this.route?.pairs ?? ''
    this.#pairs ??= typeof pairs === 'string' ? parsePairs(pairs) : pairs
    return this.#pairs
  }

  /** The merged parameters of form, query string and pairs, including reserved names that a client sent. */
  get params(): ReadonlyMap<string, string> {
    if (this.#params !== undefined) return this.#params
    const params = new Map<string, string>()
    this.eachParam((name, value) => params.set(name, value))
    this.#params = params
    return params
  }

  /** Returns a parameter of the merged view; a reserved name has the value that routing set. */
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
        return this.params.get(name)
    }
  }

  /** All parameters of the merged view by name, with the reserved names. */
  get view(): Params<ErrorHandler> {
    this.#view ??= toParams<ErrorHandler>(this)
    return this.#view
  }

  get client(): Client {
    return clientOfMessage(this.message, this.settings.trusted)
  }

  get routeName(): string | null {
    return this.settings.nameRoute?.(this) ?? null
  }

  urlFor(params: UrlParams, options: UrlOptions): string {
    if (!isObject(params)) throw new TypeError('Expected the parameters of urlFor() in an object')
    checkNames('options of urlFor()', options, ['name', 'reset', 'encode', 'query'])
    const { buildUrl } = this.settings
    if (buildUrl !== undefined)
      return buildUrl(this, params, options) + toQuery(options.query ?? {})
    throw new TypeError('Expected a request that the built-in router of a front controller routed')
  }

  /** The body as a stream, within its limit. */
  get body(): Readable {
    return this.message.streamOf(this.maxBodyBytes ?? this.settings.maxBodyBytes, this.form)
  }

  get cancellation(): AbortController {
    return this.message.cancellations.controllerFor(this.errorHandler)
  }

  /** Visits the parameters of the client, reserved names too, in reverse order of precedence (form, query, pairs): later ones overwrite. */
  eachParam(visit: Visit): void {
    for (const [name, value] of this.form?.pairs ?? []) visit(name, value)
    eachDecoded(eachField, splitTarget(this.target).search, visit)
    const pairs = this.route?.pairs ?? ''
    if (typeof pairs === 'string') eachDecoded(eachPair, pairs, visit)
    else for (const [name, value] of pairs) visit(name, value)
  }
}

interface KnownClient {
  readonly trusted: BlockList
  readonly client: Client
}

// The client of each message, because each link of a page needs it, and reading 16 kB of addresses takes milliseconds.
const known = new WeakMap<Message, KnownClient>()

/** Returns the client of a message. */
export function clientOfMessage(message: Message, trusted: BlockList): Client {
  const found = known.get(message)
  if (found?.trusted === trusted) return found.client
  const { source, headers, target } = message
  const host = authorityOf(target) ?? headers.host
  const { remoteAddress = '', protocol } = source
  const client = clientOf(remoteAddress, { ...headers, host }, trusted, protocol)
  known.set(message, { trusted, client })
  return client
}

/** Returns the ids that a trusted proxy has given to a message. */
export function proxyIdsOfMessage(message: Message, trusted: BlockList): ProxyIds {
  return proxyIdsOf(message.source.remoteAddress ?? '', (name) => message.header(name), trusted)
}
