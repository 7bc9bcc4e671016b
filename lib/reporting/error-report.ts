import { type ErrorType, MalformedMessageError, NoActionError } from '../http/errors.ts'
import { factsOf, isInstance } from '../http/exceptions.ts'
import { clientParamsOf, type HttpRequest } from '../http/request.ts'
import { isNamesOwn } from './client-message.ts'
import { type Cleaning, type ExceptionReport, tellException } from './exception-report.ts'
import { printable } from './printable.ts'
import { safeNames } from './request-names.ts'
import { scrubAll } from './scrub.ts'
import { safeName, shapeOf } from './shape.ts'
import { recognizeSignIn, type SignIn } from './sign-in-hint.ts'

/** An error, told in full and without a secret: plain data, ready for JSON. */
export interface ErrorReport extends ExceptionReport, Partial<SignIn> {
  /** A UUID: the one that the client was told. */
  readonly id: string
  /** When it was reported; ISO 8601, UTC. */
  readonly time: string
  /** The kind of the error, such as `EXCEPTION_NO_ACTION`. */
  readonly type: ErrorType
  /** The module that was asked for; what is no plain name by its shape alone; '' where none was read. */
  readonly module: string
  /** The controller that was asked for, shown as the module is. */
  readonly controller: string
  /** The action that was asked for, shown as the module is. */
  readonly action: string
  /** Such as `GET`; '' where no request was read. */
  readonly method: string
  /** The shape of each parameter, by its name; the value of those on the allow list. */
  readonly params: Readonly<Record<string, string>>
  /** What the client was answered. */
  readonly status: number
  /** From when the request came to the front controller, in milliseconds; 0 where none did. */
  readonly durationMs: number
  /** The exception of the error action itself, where that failed too. */
  readonly second?: ExceptionReport
}

/** An error, as it is handed in to be reported. */
export interface Fault {
  /** The exception; and that of the error action, where there is one. */
  readonly exceptions: readonly Error[]
  readonly status: number
  /** The request that failed; undefined where there was none yet, or none any more. */
  readonly request?: HttpRequest | undefined
  readonly durationMs?: number | undefined
}

/** What a report may say, and what it is asked about. */
export interface ReportOptions {
  /** The names of parameters whose values may be shown. */
  readonly logParams: ReadonlySet<string>
  /** Whether a path of this service has a controller. */
  readonly hasController: (path: string) => boolean
}

const MAX_PARAMS = 40
const MAX_VALUE = 100

// Names and codes of Node's and the language's own.
const WELL_KNOWN =
  /^(?:(?:[A-Z]\w{0,30})?(?:Error|Exception)|E[A-Z]{2,15}|(?:ERR|HPE)_[A-Z_]{2,40})$/

/** The only maker of a report. */
export function makeReport(id: string, fault: Fault, options: ReportOptions): ErrorReport {
  const { request, status, durationMs = 0 } = fault
  const [exception = new Error('No exception'), second] = fault.exceptions
  const whole: Fault = { ...fault, exceptions: second ? [exception, second] : [exception] }
  const told = request ? tellScrubbed(whole, request) : tellWithheld(whole)
  return {
    id,
    time: new Date().toISOString(),
    type: factsOf(exception).type,
    ...told.first,
    ...ownMessage(exception, request),
    ...safeNames(request),
    method: request?.method ?? '',
    params: request ? shapesOf(request, options.logParams) : {},
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    ...(second && told.second ? { second: told.second } : {}),
    ...(request && status === 404 ? recognizeSignIn(request, options.hasController) : {}),
  }
}

interface Told {
  readonly first: ExceptionReport
  readonly second: ExceptionReport | undefined
}

// Twice: first to hear all that will be said, so that it is scrubbed in one go, then to say it. What an
// exception says only the second time is told by its shape.
function tellScrubbed(fault: Fault, request: HttpRequest): Told {
  const heard = new Set<string>()
  const listen = (text: string): string => {
    heard.add(text)
    return text
  }
  tellBoth(fault, { text: listen, name: listen, frame: listen })
  const texts = [...heard]
  const scrubbed = scrubAll(texts, request)
  const clean = new Map(texts.map((text, i) => [text, scrubbed[i] ?? '']))
  const text = (text: string): string => clean.get(text) ?? `[${shapeOf(text)}]`
  const name = (name: string): string => (clean.get(name) === name ? safeName(name) : shapeOf(name))
  return tellBoth(fault, { text, frame: text, name })
}

// Outside a request nobody knows whose values a text quotes: it is told by its shape alone.
function tellWithheld(fault: Fault): Told {
  const cleaning: Cleaning = {
    text: shapeOf,
    // Written by programmers, and not by whoever asked.
    frame: (frame) => frame,
    name: (name) => (WELL_KNOWN.test(name) ? name : shapeOf(name)),
  }
  return tellBoth(fault, cleaning)
}

function tellBoth({ exceptions: [first, second], status }: Fault, cleaning: Cleaning): Told {
  return {
    first: tellException(first, cleaning, status),
    second: second && tellException(second, cleaning, 500),
  }
}

/** The parameters of a request, by their names; each told by its shape, or shown where that is allowed. */
export function shapesOf(
  request: HttpRequest,
  allowed: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const shapes: Record<string, string> = Object.create(null)
  let left = MAX_PARAMS
  for (const [name, value] of clientParamsOf(request)) {
    if (left-- === 0) break
    shapes[freeName(shapes, safeName(name))] = allowed.has(name)
      ? printable(value.slice(0, MAX_VALUE))
      : shapeOf(value)
  }
  return shapes
}

// Two names that are told by one shape are two names.
function freeName(shapes: Readonly<Record<string, string>>, name: string): string {
  let free = name
  for (let i = 2; free in shapes; i++) free = `${name}~${i}`
  return free
}

function ownMessage(exception: Error, request: HttpRequest | undefined): { message?: string } {
  if (isInstance(MalformedMessageError, exception)) return { message: exception.message }
  return request && isNamesOwn(exception, request) ? { message: messageOf(exception, request) } : {}
}

function messageOf(exception: Error, request: HttpRequest): string {
  const name = isInstance(NoActionError, exception) ? request.action : request.controller
  // By a function: `$&` in a name is no pattern.
  return exception.message.replace(name, () => safeName(name))
}
