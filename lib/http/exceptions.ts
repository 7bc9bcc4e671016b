import { isNativeError } from 'node:util/types'
import {
  ClientGoneError,
  type ErrorType,
  errorTypes,
  HttpError,
  ThrownValueError,
} from './errors.ts'
import { type HttpRequest, isAborted } from './request.ts'

/** What can be said of an exception without a surprise: no getter of it runs twice. */
export interface ExceptionFacts {
  readonly type: ErrorType
  readonly status: number
  readonly code: number | string
  readonly message: string
}

/** Any thrown value as an Error: itself where it is one. */
export function toError(thrown: unknown): Error {
  if (isError(thrown)) return thrown
  const code = read(thrown, 'code')
  const message = read(thrown, 'message')
  return new ThrownValueError(
    thrown,
    typeof message === 'string' ? message : described(thrown),
    isCode(code) ? code : 0,
  )
}

/** Type, status, code and message of an exception (SPEC section 5). */
export function factsOf(exception: Error): ExceptionFacts {
  const known = isInstance(HttpError, exception)
  const status = known ? read(exception, 'status') : undefined
  const type = known ? read(exception, 'type') : undefined
  const code = read(exception, 'code')
  const message = read(exception, 'message')
  return {
    type: isErrorType(type) ? type : 'EXCEPTION_OTHER',
    status: isErrorStatus(status) ? status : 500,
    code: isCode(code) ? code : 0,
    message: typeof message === 'string' ? message : '',
  }
}

/** Whether an exception says no more than that the client of its request has gone away. */
export function isClientGone(exception: Error, request: HttpRequest | undefined): boolean {
  return (
    isInstance(ClientGoneError, exception) ||
    (read(exception, 'name') === 'AbortError' && request !== undefined && isAborted(request))
  )
}

function isErrorStatus(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599
}

function isErrorType(type: unknown): type is ErrorType {
  return (errorTypes as readonly unknown[]).includes(type)
}

function isCode(code: unknown): code is number | string {
  return typeof code === 'number' || typeof code === 'string'
}

function isError(value: unknown): value is Error {
  // An Error of another realm is one too.
  return isNativeError(value) || isInstance(Error, value)
}

/** The headers that an exception wants its answer to have. */
export function headersOf(exception: Error): Readonly<Record<string, string>> {
  const headers = isInstance(HttpError, exception) ? read(exception, 'headers') : undefined
  return Object(headers) === headers ? (headers as Record<string, string>) : {}
}

/** `instanceof`, for strangers. */
export function isInstance<T>(
  type: abstract new (...args: never[]) => T,
  value: unknown,
): value is T {
  try {
    return value instanceof type
  } catch {
    // A proxy that throws when it is asked for its prototype has none that counts.
    return false
  }
}

/** A property of a stranger: undefined where its getter throws. */
export function read(value: unknown, name: string): unknown {
  try {
    return (value as Record<string, unknown> | null | undefined)?.[name]
  } catch {
    // A getter that throws says no more about the error than this.
    return undefined
  }
}

// Never what the value says of itself: that may throw, or hold a secret.
function described(value: unknown): string {
  if (typeof value === 'string') return value
  return value === null ? 'null was thrown' : `A value of type ${typeof value} was thrown`
}
