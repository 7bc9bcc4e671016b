import { type ErrorType, ownMessageOf } from '../http/errors.ts'
import { isInstance, typeOf } from '../http/exceptions.ts'
import type { ProxyIds } from '../http/forwarded.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { proxyIdsOfMessage } from '../http/request-state.ts'
import { copied } from '../http/retention.ts'
import { printable } from '../scrubbing/printable.ts'
import { paramNameRule, sentParamsOf } from '../scrubbing/sent-params.ts'
import { shapeOf } from '../scrubbing/shape.ts'
import { type ExceptionReport, toExceptionReport } from './exception-report.ts'
import type { Failure } from './failure.ts'
import { fingerprintOf } from './fingerprint.ts'
import { messageAboutNames, safeNames } from './request-names.ts'
import { scrubException } from './scrubbed-exception.ts'
import { recognizeSignIn, SignInError, type SignInFacts, type SignInHint } from './sign-in-hint.ts'

/** The part of a report about the request. */
export interface RequestReport {
  /** The UUID of the request. */
  readonly id: string
  /** The requested module; its shape, such as `token(21)`, if it does not look like a name; '' if none was read. */
  readonly module: string
  /** The requested controller, shown as the module is. */
  readonly controller: string
  /** The requested action, shown as the module is. */
  readonly action: string
  /** The {@link HttpRequest.route} of the request, such as `news/list`; null if it was not routed to an action. */
  readonly route: string | null
  /** The method, such as `GET`; '' if no request was read. */
  readonly method: string
}

/** A report: plain data about an error, without the values of its request. */
export interface ErrorReport extends RequestReport, ExceptionReport, ProxyIds, Partial<SignInHint> {
  /**
   * The text that equal errors share, such as `EXCEPTION_OTHER TypeError news.js:12:9 news/list`. A 5xx has the type, the
   * name of the exception, the first frame of the application, and the action; a 4xx the type and the names.
   */
  readonly fingerprint: string
  /** The time of the report: ISO 8601, UTC. */
  readonly time: string
  /** The kind of the error, such as `EXCEPTION_NO_ACTION`. */
  readonly type: ErrorType
  /** The shapes of the first 40 parameters, by name; the value if `logParams` has the name. */
  readonly params: Readonly<Record<string, string>>
  /** The status of the response; if it is below 400, that of the exception. */
  readonly status: number
  /** Milliseconds since the request reached the front controller; 0 if none did. */
  readonly durationMs: number
  /** The facts of a failed sign-in by `portico/sign-in`. */
  readonly signIn?: SignInFacts
  /** The exception of the error action, if that failed too. */
  readonly second?: ExceptionReport
}

/** Options of a report. */
export interface ReportOptions {
  /** The names of the parameters whose values are shown. */
  readonly logParams: ReadonlySet<string>
  /** Whether the report has a stack (default: only for a 5xx). */
  readonly hasStack?: boolean
}

const MAX_PARAMS = 40
const MAX_VALUE = 100

/**
 * Creates the report of an error. One function creates all of them, so one rule covers all. Its texts are copies: an
 * `onReport` that keeps it keeps nothing of the request.
 */
export function makeReport(id: string, failure: Failure, options: ReportOptions): ErrorReport {
  return copied(reportOf(id, failure, options))
}

function reportOf(id: string, failure: Failure, options: ReportOptions): ErrorReport {
  const { request, status, durationMs = 0, exceptions } = failure
  const [exception = new Error('No exception'), second] = exceptions
  const hasStack = options.hasStack ?? status >= 500
  const failedSignIn = isInstance(SignInError, exception) ? exception.signIn : undefined
  const scrubbed = (each: Error): ExceptionReport => {
    const { raw, scrubber } = scrubException(each, request, hasStack, exceptions)
    return toExceptionReport(raw, scrubber, hasStack)
  }
  // Messages that Portico creates itself are safe: they contain nothing of a request but its names.
  const ownMessage = request ? messageAboutNames(exception, request) : ownMessageOf(exception)
  const state = request && stateOf(request)
  return {
    id,
    ...(state && proxyIdsOfMessage(state.message, state.settings.trusted)),
    fingerprint: failure.fingerprint ?? fingerprintOf(failure),
    time: new Date().toISOString(),
    type: typeOf(exception),
    ...scrubbed(exception),
    ...(ownMessage !== undefined && { message: printable(ownMessage) }),
    ...safeNames(request),
    route: request?.route ?? null,
    method: request?.method ?? '',
    params: request ? shapesOf(request, options.logParams) : {},
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    ...(failedSignIn && { signIn: failedSignIn }),
    ...(second && { second: scrubbed(second) }),
    ...recognizeSignIn(failure),
  }
}

/** Returns the shapes of the first 40 parameters, by the names that are safe; the value if the name is allowed. */
export function shapesOf(
  request: HttpRequest,
  allowed: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const params = sentParamsOf(request)
  const isSafe = paramNameRule(request)
  // No value at the address of a sign-in, even if `logParams` allows `code` and `state` for another address.
  const showsValues = !stateOf(request).message.ending?.hidesParams
  const shapes: Record<string, string> = Object.create(null)
  let left = MAX_PARAMS
  for (const name of params.names) {
    if (left-- === 0) break
    const { text = '', length } = params.get(name) ?? {}
    const shown = name === '' || isSafe(name) ? name : shapeOf(name)
    shapes[unusedName(shapes, shown)] =
      showsValues && allowed.has(name) ? printable(text.slice(0, MAX_VALUE)) : shapeOf(text, length)
  }
  return shapes
}

// Two parameters can have names of the same shape: the second one gets a suffix.
function unusedName(shapes: Readonly<Record<string, string>>, name: string): string {
  let unused = name
  for (let i = 2; unused in shapes; i++) unused = `${name}~${i}`
  return unused
}
