import { checkHeader } from './response-headers.ts'

/** The kinds of errors, under the names that Zend Framework 1 gave them. */
export const errorTypes = [
  'EXCEPTION_NO_CONTROLLER',
  'EXCEPTION_NO_ACTION',
  'EXCEPTION_NO_ROUTE',
  'EXCEPTION_OTHER',
] as const
/** The kind of an error, under the name that Zend Framework 1 gave it: which 404 it is, or another error. */
export type ErrorType = (typeof errorTypes)[number]

/** What an {@link HttpError} may carry beside its status and message. */
export interface HttpErrorOptions {
  /** What led to it; the exception has no previous one unless this is given. */
  readonly cause?: unknown
  /** A code for programs (default: the status). */
  readonly code?: number | string
  /** Headers that the answer must carry, such as `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>
}

// On the prototype, as the name.
function setType(of: { readonly prototype: HttpError }, type: ErrorType): void {
  Object.defineProperty(of.prototype, 'type', { value: type, writable: true, configurable: true })
}

const NO_HEADERS = Object.freeze({})

/**
 * An error with an HTTP status: throw it anywhere, and `error/error` answers with that status.
 *
 * The message of a 4xx is shown to the client, that of a 5xx is not.
 *
 * @example
 * throw new HttpError(403, 'Only editors may save news')
 * @throws {RangeError} If the status is not an integer from 400 to 599.
 * @throws {TypeError} If a header can't be sent.
 */
export class HttpError extends Error {
  /** What kind of error it is (default `EXCEPTION_OTHER`). */
  declare readonly type: ErrorType
  /** The status to answer with, from 400 to 599. */
  readonly status: number
  /** A code for programs (default: the status). */
  readonly code: number | string
  /** Headers that the answer must carry (default none). */
  readonly headers: Readonly<Record<string, string>>

  static {
    this.prototype.name = 'HttpError'
    setType(this, 'EXCEPTION_OTHER')
  }

  constructor(status: number, message: string, options: HttpErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new RangeError(`Expected an error status from 400 to 599, got "${status}"`)
    }
    this.status = status
    this.code = options.code ?? status
    this.headers = options.headers ?? NO_HEADERS
    if (options.headers === undefined) return
    for (const [name, value] of Object.entries(options.headers)) checkHeader(name, value)
  }
}

/** No controller has the requested name (SPEC section 5: code 0, no previous). */
export class NoControllerError extends HttpError {
  declare readonly type: 'EXCEPTION_NO_CONTROLLER'
  /** The name as it was requested, such as `signin`. */
  readonly controller: string

  static {
    this.prototype.name = 'NoControllerError'
    setType(this, 'EXCEPTION_NO_CONTROLLER')
  }

  constructor(controller: string) {
    const restore = withoutFrames()
    super(404, `Invalid controller specified (${controller})`, { code: 0 })
    restore()
    this.controller = controller
  }
}

/** The controller has no action of the requested name. */
export class NoActionError extends HttpError {
  declare readonly type: 'EXCEPTION_NO_ACTION'
  /** The name as it was requested, such as `no-such-thing`. */
  readonly action: string

  static {
    this.prototype.name = 'NoActionError'
    setType(this, 'EXCEPTION_NO_ACTION')
  }

  constructor(action: string) {
    const restore = withoutFrames()
    super(404, `Action "${action}" does not exist`)
    restore()
    this.action = action
  }
}

/** A router found nothing, or the path lies outside the base path. */
export class NoRouteError extends HttpError {
  declare readonly type: 'EXCEPTION_NO_ROUTE'

  static {
    this.prototype.name = 'NoRouteError'
    setType(this, 'EXCEPTION_NO_ROUTE')
  }

  constructor() {
    const restore = withoutFrames()
    super(404, 'No route matched the request')
    restore()
  }
}

// The frames above these three are those of the loop, always the same; to gather them took a fifth of the
// time of an unrouted request.
function withoutFrames(): () => void {
  const { stackTraceLimit } = Error
  // Not by assignment: that throws where Error is frozen.
  Reflect.set(Error, 'stackTraceLimit', 0)
  return () => Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
}

/** The client went away before it was answered: what `request.signal` aborts with. Not reported. */
export class ClientGoneError extends HttpError {
  static {
    this.prototype.name = 'ClientGoneError'
  }

  constructor() {
    super(400, 'The client has gone away')
  }
}

/** A connection sent what is no request: there is nobody to dispatch to. */
export class MalformedMessageError extends HttpError {
  static {
    this.prototype.name = 'MalformedMessageError'
  }

  /** @param code What the parser of `node:http` calls it, such as `HPE_INVALID_METHOD`. */
  constructor(status: number, code: string) {
    super(status, `The connection sent no valid request (${code})`, { code })
  }
}

/** Stands for a thrown value that was no Error, so that every exception has a message and a stack. */
export class ThrownValueError extends Error {
  /** What was thrown: `null`, a string, anything. */
  readonly value: unknown
  /** The value's own code, where it had one. */
  readonly code: number | string

  static {
    this.prototype.name = 'ThrownValueError'
  }

  constructor(value: unknown, message: string, code: number | string = 0) {
    super(message)
    this.value = value
    this.code = code
  }
}
