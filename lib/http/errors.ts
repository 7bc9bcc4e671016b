import { STATUS_CODES } from 'node:http'
import { isNativeError } from 'node:util/types'
import { checkNames } from './check-options.ts'
import { checkHeader } from './response-headers.ts'

/** The kind of an error, under its name in Zend Framework 1: which 404 it is, or another error. */
export type ErrorType =
  | 'EXCEPTION_NO_CONTROLLER'
  | 'EXCEPTION_NO_ACTION'
  | 'EXCEPTION_NO_ROUTE'
  | 'EXCEPTION_OTHER'

/** @internal */
export const errorTypes: readonly ErrorType[] = [
  'EXCEPTION_NO_CONTROLLER',
  'EXCEPTION_NO_ACTION',
  'EXCEPTION_NO_ROUTE',
  'EXCEPTION_OTHER',
]

/** Options of an {@link HttpError}. */
export interface HttpErrorOptions {
  /** The reason of the error, any thrown value (default: no property `cause`). */
  readonly cause?: unknown
  /** A code for programs (default: the status). */
  readonly code?: number | string
  /** Headers of the response, such as `Allow` or `Retry-After` (default: none). */
  readonly headers?: Readonly<Record<string, string>>
}

const NOTHING = Object.freeze({})
// A property of the prototype of the class. All copies of the package share its name, such as one in the node_modules of a plugin.
const BRAND = Symbol.for('portico.HttpError')

/**
 * An error with an HTTP status. Throw it anywhere: `error/error` then responds with that status.
 *
 * The client sees the message of a 4xx, not that of a 5xx.
 *
 * @throws {RangeError} If the status is not an integer from 400 to 599.
 * @throws {TypeError} If an option is unknown, or a header can't be sent.
 */
export class HttpError extends Error {
  /** The kind of the error. */
  declare readonly type: ErrorType
  /** The status of the response. */
  readonly status: number
  /** A code for programs. */
  readonly code: number | string
  /** Headers of the response. */
  readonly headers: Readonly<Record<string, string>>

  /** @internal */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true
    // Not `this === HttpError`: the bundle renames a class that its own body names, and reports show the name.
    if (!Object.hasOwn(this.prototype, BRAND)) return false
    return isNativeError(value) && BRAND in Object(Object.getPrototypeOf(value))
  }

  /** @param message The message (default: the reason phrase of the status, such as `Forbidden`). */
  constructor(
    status: number,
    message: string = STATUS_CODES[status] ?? 'Error',
    options: HttpErrorOptions = NOTHING,
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    if (!isErrorStatus(status))
      throw new RangeError(
        `Expected an error status from 400 to 599, got the ${typeof status} "${status}"`,
      )
    this.status = status
    this.code = options.code ?? status
    this.headers = options.headers ?? NOTHING
    if (options === NOTHING) return
    checkNames('options of an HttpError', options, ['cause', 'code', 'headers'])
    if (this.headers === NOTHING) return
    for (const [name, value] of Object.entries(this.headers)) checkHeader(name, value)
  }
}

/** Reports whether a value is an integer from 400 to 599. @internal */
export function isErrorStatus(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599
}

// The messages that Portico wrote.
const ownMessages = new WeakMap<Error, string>()

/**
 * Returns an error whose message is a text of Portico without a value of the request. Reports show it and do not search
 * it, which would take milliseconds. @internal
 */
export function rejectionWith(
  status: number,
  message: string,
  options?: HttpErrorOptions,
): HttpError {
  const error = new HttpError(status, message, options)
  ownMessages.set(error, message)
  return error
}

/** Returns the message that {@link rejectionWith} gave to an error; undefined for any other one. @internal */
export function ownMessageOf(error: Error): string | undefined {
  return ownMessages.get(error)
}

/**
 * Marks an error whose request named its controller. The mark is a private field: for each 404 of a scanner, an entry in a
 * WeakMap takes longer than the rest of `claim()`. @internal
 */
export let nameClaims: {
  add(error: NoControllerError): void
  has(error: object): boolean
}

/** The error if no controller has the requested name. Its `code` is 0. */
export class NoControllerError extends HttpError {
  declare readonly type: 'EXCEPTION_NO_CONTROLLER'
  /** The name as requested, such as `signin`. */
  readonly controller: string
  #isClaimed = false

  static {
    nameClaims = {
      add: (error) => {
        if (#isClaimed in error) error.#isClaimed = true
      },
      has: (error) => #isClaimed in error && error.#isClaimed,
    }
  }

  constructor(controller: string) {
    const restore = stopStackTraces()
    super(404, noControllerMessage(controller), { code: 0 })
    restore()
    this.controller = controller
  }
}

/** Returns the message of a {@link NoControllerError}, which is that of Zend Framework 1. @internal */
export function noControllerMessage(controller: string): string {
  return `Invalid controller specified (${controller})`
}

/** The error if the controller has no action of the requested name. */
export class NoActionError extends HttpError {
  declare readonly type: 'EXCEPTION_NO_ACTION'
  /** The name as requested, such as `no-such-thing`. */
  readonly action: string

  constructor(action: string) {
    const restore = stopStackTraces()
    super(404, noActionMessage(action))
    restore()
    this.action = action
  }
}

/** Returns the message of a {@link NoActionError}. @internal */
export function noActionMessage(action: string): string {
  return `Action "${action}" does not exist`
}

/** The error if a custom router finds no route, or the path is outside the base path. */
export class NoRouteError extends HttpError {
  declare readonly type: 'EXCEPTION_NO_ROUTE'

  constructor() {
    const restore = stopStackTraces()
    super(404, 'No route matched the request')
    restore()
  }
}

/** The error if the client has gone away. `request.signal` aborts with it. */
export class ClientGoneError extends HttpError {
  constructor() {
    super(400, 'The client has gone away')
  }
}

/** The error if the server has begun to stop. `service.closing` and the signals of event streams abort with it. */
export class ServerClosingError extends HttpError {
  constructor() {
    super(503, 'The server is closing')
  }
}

/** The error if the bytes on a connection are not a valid request. It is not dispatched. */
export class MalformedMessageError extends HttpError {
  /** @param code The code of the parser of `node:http`, such as `HPE_INVALID_METHOD`. */
  constructor(status: number, code: string) {
    super(status, `The connection sent no valid request (${code})`, { code })
  }
}

/** Wraps a thrown value that is not an Error. */
export class ThrownValueError extends Error {
  /** The thrown value, such as `null` or a string. */
  readonly value: unknown
  /** The code of the value; 0 if it has none. */
  readonly code: number | string

  constructor(value: unknown, message: string, code: number | string = 0) {
    super(message)
    this.value = value
    this.code = code
  }
}

Object.defineProperty(HttpError.prototype, BRAND, { value: true })
setDefaults(HttpError, 'HttpError', 'EXCEPTION_OTHER')
setDefaults(NoControllerError, 'NoControllerError', 'EXCEPTION_NO_CONTROLLER')
setDefaults(NoActionError, 'NoActionError', 'EXCEPTION_NO_ACTION')
setDefaults(NoRouteError, 'NoRouteError', 'EXCEPTION_NO_ROUTE')
const others = { ClientGoneError, ServerClosingError, MalformedMessageError, ThrownValueError }
for (const [name, type] of Object.entries(others)) setDefaults(type, name)

/**
 * Sets the name and the type on the prototype of a class. They are not fields: the engine begins the
 * stack with the name before the fields are set, and `{ ...error }` contains only the facts.
 */
export function setDefaults(
  { prototype }: { readonly prototype: Error },
  name: string,
  type?: ErrorType,
): void {
  prototype.name = name
  if (type === undefined) return
  Object.defineProperty(prototype, 'type', { value: type, writable: true, configurable: true })
}

// The frames of the three 404s are always those of the loop. Without them, `new NoRouteError()` takes 0.3 µs in place of
// 3 µs; an unrouted request takes 4 µs. setStackTraceLimit() assigns, because Reflect.set() takes 60 ns.
function stopStackTraces(): () => void {
  const { stackTraceLimit } = Error
  setStackTraceLimit(0)
  return () => setStackTraceLimit(stackTraceLimit)
}

function setStackTraceLimit(limit: number): void {
  try {
    Error.stackTraceLimit = limit
  } catch {
    // Error is frozen, so the 404s have frames.
  }
}
