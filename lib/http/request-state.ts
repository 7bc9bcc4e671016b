import { Cancellation } from './cancellation.ts'
import type { HttpError } from './errors.ts'
import type { FormBody, Message } from './message.ts'
import { mergePairs, mergeSearch, parsePairs } from './params.ts'
import { NO_SETTINGS, type RequestSettings } from './request-settings.ts'
import type { Route } from './route.ts'
import { splitTarget } from './target.ts'

/** The fields of a {@link RequestState} that routing, the form and an error set. */
export interface StateFields<ErrorHandler> {
  /** The raw path that is routed, without the base path; '' before the rewrite. */
  readonly path: string
  /** The path, percent-decoded once; '' before the rewrite. */
  readonly q: string
  /** Undefined before routing. */
  readonly route: Route | undefined
  readonly settings: RequestSettings
  /** Undefined before the form is read, and if there is none. */
  readonly form: FormBody | undefined
  readonly errorHandler: ErrorHandler | undefined
  /** The error that rejects the request. The loop throws it after the form is read, except for the error action. */
  readonly rejection: HttpError | undefined
}

type Fields<ErrorHandler> = Partial<StateFields<ErrorHandler>>

/** The state of a request in the loop. Derived values are computed when they are first read. */
export class RequestState<ErrorHandler> implements StateFields<ErrorHandler> {
  readonly message: Message
  readonly path: string
  readonly q: string
  readonly route: Route | undefined
  readonly settings: RequestSettings
  readonly form: FormBody | undefined
  readonly errorHandler: ErrorHandler | undefined
  readonly rejection: HttpError | undefined
  #pairs: URLSearchParams | undefined
  #params: ReadonlyMap<string, string> | undefined
  #cancellation: Cancellation | undefined

  /**
   * Takes each field from the patch, else from the base, else a default.
   *
   * Copies field by field: object spread took a fifth of the time of a request (node bench/in-process.js).
   */
  constructor(
    message: Message,
    patch: Fields<ErrorHandler> = {},
    base: Fields<ErrorHandler> = patch,
  ) {
    this.message = message
    this.path = patch.path ?? base.path ?? ''
    this.q = patch.q ?? base.q ?? ''
    this.route = patch.route ?? base.route
    this.settings = patch.settings ?? base.settings ?? NO_SETTINGS
    this.form = patch.form ?? base.form
    this.errorHandler = patch.errorHandler ?? base.errorHandler
    this.rejection = patch.rejection ?? base.rejection
  }

  /** The request target. With it, a state is an `HttpRequestInit` for the constructor of a request. */
  get target(): string {
    return this.message.target
  }

  get isRouted(): boolean {
    return this.route !== undefined
  }

  /** The key/value pairs of the path. */
  get pairs(): URLSearchParams {
    const pairs = this.route?.pairs ?? ''
    this.#pairs ??= typeof pairs === 'string' ? parsePairs(pairs) : pairs
    return this.#pairs
  }

  /** The merged parameters of form, query string and pairs, including reserved names that a client sent. */
  get params(): ReadonlyMap<string, string> {
    this.#params ??= this.#mergeParams()
    return this.#params
  }

  get cancellation(): Cancellation {
    this.#cancellation ??= new Cancellation(this.message.signal)
    return this.#cancellation
  }

  /** Returns a state over the same message; a field that is undefined in the patch keeps its value. */
  with(patch: Fields<ErrorHandler>): RequestState<ErrorHandler> {
    return new RequestState(this.message, patch, this)
  }

  // Merges in reverse order of precedence (form, query, pairs): later entries overwrite.
  #mergeParams(): ReadonlyMap<string, string> {
    const params = new Map<string, string>()
    mergeSearch(this.form?.text ?? '', params)
    mergeSearch(splitTarget(this.target).search, params)
    const pairs = this.route?.pairs ?? ''
    if (typeof pairs === 'string') mergePairs(pairs, params)
    else for (const [name, value] of pairs) params.set(name, value)
    return params
  }
}
