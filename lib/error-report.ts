import { factsOf, isA, read } from './error-handler.ts'
import {
  type ErrorType,
  MalformedMessageError,
  NoActionError,
  NoControllerError,
  NoRouteError,
} from './errors.ts'
import { reservedNames } from './params.ts'
import { printable } from './printable.ts'
import type { HttpRequest } from './request.ts'
import { scrub, scrubAll } from './scrub.ts'
import { shapeOf, shownName } from './shape.ts'
import { recognizeSignIn, type SignIn } from './sign-in.ts'

/** What is told of an exception: scrubbed of every value of its request. */
export interface ExceptionReport {
  /** Of its class, such as `TypeError`. */
  readonly name: string
  readonly message: string
  readonly code: number | string
  /** The frames of its stack; only of what is a fault of the server. */
  readonly stack?: readonly string[]
  /** What it was caused by; null where it was caused by nothing. */
  readonly previous: ExceptionReport | null
  /** Those of an AggregateError, the first few. */
  readonly errors?: readonly ExceptionReport[]
}

/** An error, told in full and without a secret: plain data, ready for JSON. */
export interface ErrorReport extends ExceptionReport, Partial<SignIn> {
  /** A UUID: the one that the client was told. */
  readonly id: string
  /** When it was reported; ISO 8601, UTC. */
  readonly time: string
  readonly type: ErrorType
  /** The names that were asked for, as {@link shownName} shows them; '' where none were read. */
  readonly module: string
  readonly controller: string
  readonly action: string
  readonly method: string
  /** The shape of each parameter, by its name; the value of those on the allow list. */
  readonly params: Readonly<Record<string, string>>
  /** What the client was answered. */
  readonly status: number
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
  readonly serves: (path: string) => boolean
}

// How what a stranger says is told.
interface Cleaning {
  readonly text: (text: string) => string
  /** Of a class, or a code. */
  readonly name: (name: string) => string
}

// Names and codes of Node's and the language's own.
const WELL_KNOWN =
  /^(?:(?:[A-Z]\w{0,30})?(?:Error|Exception)|E[A-Z]{2,15}|(?:ERR|HPE)_[A-Z_]{2,40})$/
const FRAME = /^\s+at .*:\d+:\d+\)?$/

const MAX_MESSAGE = 400
const MAX_FRAMES = 8
const MAX_FRAME = 160
const MAX_CAUSES = 4
const MAX_PARAMS = 40
const MAX_VALUE = 100

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
    module: request ? nameOf(request.module, request) : '',
    controller: request ? nameOf(request.controller, request) : '',
    action: request ? nameOf(request.action, request) : '',
    method: request?.method ?? '',
    params: request ? shapesOf(request, options.logParams) : {},
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    ...(second && told.second ? { second: told.second } : {}),
    ...(request && status === 404 ? recognizeSignIn(request, options.serves) : {}),
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
  tellBoth(fault, { text: listen, name: listen })
  const texts = [...heard]
  const scrubbed = scrubAll(texts, request)
  const clean = new Map(texts.map((text, i) => [text, scrubbed[i] ?? '']))
  return tellBoth(fault, {
    text: (text) => clean.get(text) ?? `[${shapeOf(text)}]`,
    name: (name) => (clean.get(name) === name ? shownName(name) : shapeOf(name)),
  })
}

// Outside a request nobody knows whose values a text quotes: it is told by its shape alone.
function tellWithheld(fault: Fault): Told {
  return tellBoth(fault, {
    text: shapeOf,
    name: (name) => (WELL_KNOWN.test(name) ? name : shapeOf(name)),
  })
}

function tellBoth({ exceptions: [first, second], status }: Fault, cleaning: Cleaning): Told {
  return {
    first: tell(first, cleaning, status),
    second: second && tell(second, cleaning, 500),
  }
}

// A name that was asked for is told; one that a forward took from a value is as secret as the value.
function nameOf(name: string, request: HttpRequest): string {
  const isTold = isAsked(name, request) || scrub(name, request) === name
  return isTold ? shownName(name) : shapeOf(name)
}

function isAsked(name: string, { path }: HttpRequest): boolean {
  return path.split('/', 5).includes(name)
}

/**
 * What a client may be told of an exception of its own request: the names that it asked for, and no
 * other text of the request.
 */
export function messageForClient(exception: Error, request: HttpRequest): string {
  const { message } = factsOf(exception)
  return printable(isNamesOwn(exception, request) ? message : scrub(message, request))
}

/** The parameters of a request, by their names; each told by its shape, or shown where that is allowed. */
export function shapesOf(
  request: HttpRequest,
  allowed: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const shapes: Record<string, string> = Object.create(null)
  let left = MAX_PARAMS
  for (const [name, value] of request.params) {
    if ((reservedNames as readonly string[]).includes(name) || typeof value !== 'string') continue
    if (left-- === 0) break
    shapes[freeName(shapes, shownName(name))] = allowed.has(name)
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

// Such a message was made here, of the name that was asked for and of nothing else: what looks like
// a value in it ("signin", where a parameter says so too) is that name.
function isNamesOwn(exception: Error, request: HttpRequest): boolean {
  const { controller, action } = request
  if (isA(NoControllerError, exception)) {
    return exception.controller === controller && isAsked(controller, request)
  }
  if (isA(NoActionError, exception)) return exception.action === action && isAsked(action, request)
  return isA(NoRouteError, exception)
}

function ownMessage(exception: Error, request: HttpRequest | undefined): { message?: string } {
  if (isA(MalformedMessageError, exception)) return { message: exception.message }
  return request && isNamesOwn(exception, request) ? { message: messageOf(exception, request) } : {}
}

function messageOf(exception: Error, request: HttpRequest): string {
  const name = isA(NoActionError, exception) ? request.action : request.controller
  // By a function: `$&` in a name is no pattern.
  return exception.message.replace(name, () => shownName(name))
}

function tell(exception: unknown, clean: Cleaning, status: number, depth = 0): ExceptionReport {
  const cause = read(exception, 'cause')
  const errors = depth < MAX_CAUSES ? firstErrors(read(exception, 'errors')) : []
  const stack = status >= 500 ? framesOf(exception, clean) : []
  const inner = (each: unknown): ExceptionReport => tell(each, clean, status, depth + 1)
  return {
    name: clean.name(textOf(read(exception, 'name'), 'Error')),
    message: tellMessage(read(exception, 'message') ?? exception, clean),
    code: tellCode(read(exception, 'code'), clean),
    ...(stack.length > 0 ? { stack } : {}),
    previous: cause === undefined || depth === MAX_CAUSES ? null : inner(cause),
    ...(errors.length > 0 ? { errors: errors.map(inner) } : {}),
  }
}

// One by one: a stranger's list may throw.
function firstErrors(errors: unknown): readonly unknown[] {
  return errors === undefined
    ? []
    : ['0', '1', '2'].map((i) => read(errors, i)).filter((error) => error !== undefined)
}

function tellMessage(message: unknown, { text }: Cleaning): string {
  if (typeof message !== 'string') return message === null ? 'null' : typeof message
  return cut(printable(text(message)), MAX_MESSAGE)
}

// A number may be a value too: a one-time password that was read as one.
function tellCode(code: unknown, { name }: Cleaning): number | string {
  if (typeof code === 'number')
    return Math.abs(code) < 1_000 || name(String(code)) === String(code) ? code : name(String(code))
  return typeof code === 'string' ? name(code) : 0
}

// Only lines that have the look of a frame: what stands above them is the message once more.
function framesOf(exception: unknown, { text }: Cleaning): readonly string[] {
  const stack = textOf(read(exception, 'stack'), '')
  const message = textOf(read(exception, 'message'), '')
  return stack
    .slice(Math.max(stack.indexOf(message) + message.length, 0), 16_384)
    .split('\n')
    .filter((line) => FRAME.test(line))
    .slice(0, MAX_FRAMES)
    .map((line) => tellFrame(line.trim().slice(3), text))
}

function tellFrame(frame: string, text: (text: string) => string): string {
  // Frames are written by programmers: they need not be withheld where messages are.
  return cut(printable(text === shapeOf ? frame : text(frame)), MAX_FRAME)
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}
