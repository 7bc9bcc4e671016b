import { isNativeError } from 'node:util/types'
import {
  ClientGoneError,
  type ErrorType,
  errorTypes,
  HttpError,
  isErrorStatus,
  ServerClosingError,
  ThrownValueError,
} from './errors.ts'
import { type HttpRequest, stateOf } from './request.ts'

/** The checked type, status, code and message of an exception. */
export interface ExceptionFacts {
  readonly type: ErrorType
  readonly status: number
  readonly code: number | string
  readonly message: string
}

// The messages with which fetch() and axios wrap the error of a body. got and node-fetch use other messages.
const BODY_FAILED: readonly unknown[] = ['fetch failed', 'terminated', 'Network Error']

/**
 * Returns a thrown value if it is an Error, else a {@link ThrownValueError} that holds it. For the error with which fetch() or
 * axios wraps an {@link HttpError} of a body, such as the 413 of `request.body`, returns that error.
 */
export function toError(thrown: unknown): Error {
  const cause = read(thrown, 'cause')
  if (isInstance(HttpError, cause) && BODY_FAILED.includes(read(thrown, 'message'))) return cause
  if (isError(thrown)) return thrown
  const code = codeOf(thrown)
  const message = read(thrown, 'message')
  const text = typeof message === 'string' ? message : describe(thrown)
  return new ThrownValueError(thrown, text, code)
}

/** Returns type, status, code and message of an exception (SPEC section 5); reads each once. */
export function factsOf(exception: Error): ExceptionFacts {
  const code = codeOf(exception)
  const message = read(exception, 'message')
  return {
    type: typeOf(exception),
    status: statusOf(exception),
    code,
    message: typeof message === 'string' ? message : '',
  }
}

/** Returns the type of an {@link HttpError}; `EXCEPTION_OTHER` for any other exception. */
export function typeOf(exception: Error): ErrorType {
  const type = readHttpError(exception, 'type')
  return errorTypes.find((each) => each === type) ?? 'EXCEPTION_OTHER'
}

/** Returns the status of an {@link HttpError}; 500 for any other exception. */
export function statusOf(exception: Error): number {
  const status = readHttpError(exception, 'status')
  return isErrorStatus(status) ? status : 500
}

/** Reports whether an exception means only that the client has gone away, or that its event stream has been ended. */
export function isClientGone(exception: Error, request: HttpRequest | undefined): boolean {
  if (request === undefined) return isInstance(ClientGoneError, exception)
  // The error may come from the signal of another request, which the application has passed on.
  if (!stateOf(request).message.aborted) return false
  if (isReason(exception) || isAbort(exception)) return true
  // node:stream joins the error of a stream with that of the closed response.
  const errors = read(exception, 'errors')
  if (isAbort(read(errors, '0')) && codeOf(read(errors, '1')) === 'ERR_STREAM_PREMATURE_CLOSE')
    return true
  // Clients of HTTP wrap the error of the body that they send, most others with its message.
  const cause = read(exception, 'cause')
  const message = read(exception, 'message')
  return isReason(cause) && (BODY_FAILED.includes(message) || message === read(cause, 'message'))
}

// Reports whether a value is the reason with which a client or a stop aborts `request.signal`.
function isReason(value: unknown): boolean {
  return isInstance(ClientGoneError, value) || isInstance(ServerClosingError, value)
}

function isAbort(exception: unknown): boolean {
  if (read(exception, 'name') === 'AbortError') return true
  const code = read(exception, 'code')
  // node:stream joins an AbortError with another error. The second code is that of axios.
  if (code === 'ABORT_ERR' || code === 'ERR_CANCELED') return true
  // The error of node:http for a request that was destroyed before or within its response.
  const message = read(exception, 'message')
  return code === 'ECONNRESET' && (message === 'aborted' || message === 'socket hang up')
}

/** Returns the `code` of a value; 0 if it has none. */
export function codeOf(value: unknown): number | string {
  const code = read(value, 'code')
  return typeof code === 'number' || typeof code === 'string' ? code : 0
}

/** Reports whether a value is an Error. One of another realm is a native error, but no instance of this Error. */
export function isError(value: unknown): value is Error {
  return isNativeError(value) || isInstance(Error, value)
}

/** Returns the headers that an exception adds to its response; empty if it has none. */
export function headersOf(exception: Error): Readonly<Record<string, string>> {
  const headers = readHttpError(exception, 'headers')
  return Object(headers) === headers ? (headers as Record<string, string>) : {}
}

/** `instanceof` that never throws. */
export function isInstance<T>(
  type: abstract new (...args: never[]) => T,
  value: unknown,
): value is T {
  try {
    return value instanceof type
  } catch {
    // A proxy that throws when its prototype is read is an instance of no class.
    return false
  }
}

/** Reads a property of an untrusted value; undefined if the getter throws. */
export function read(value: unknown, name: string): unknown {
  try {
    return (value as Record<string, unknown> | null | undefined)?.[name]
  } catch {
    // A property that can't be read is absent.
    return undefined
  }
}

// Reads a property of an HttpError; undefined for any other exception.
function readHttpError(exception: Error, name: string): unknown {
  return isInstance(HttpError, exception) ? read(exception, name) : undefined
}

// Does not call toString() of the value: it may throw, or return a secret.
function describe(value: unknown): string {
  if (typeof value === 'string') return value
  return value === null ? 'null was thrown' : `A value of type ${typeof value} was thrown`
}
