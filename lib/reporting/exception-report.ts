import { codeOf, isError, isInstance, read } from '../http/exceptions.ts'
import { MAX_LISTED, ValidationError, type ValidationIssue } from '../http/validation-error.ts'
import { printable } from '../scrubbing/printable.ts'
import { safeClassName } from '../scrubbing/shape.ts'
import { cutFrame, framesOf } from './frames.ts'

/** The part of a report about one exception, without the values of its request. */
export interface ExceptionReport {
  /** The name of its class, such as `TypeError`. */
  readonly name: string
  /** Its message; 400 characters at most: the beginning and the end of a longer one. */
  readonly message: string
  /** Its `code`, such as `ECONNREFUSED` or 404; 0 if it has none. */
  readonly code: number | string
  /** The first 8 frames of its stack, or the first 7 and the first of the application; only for a 5xx. */
  readonly stack?: readonly string[]
  /** Its `cause`; null if it has none. */
  readonly previous: ExceptionReport | null
  /** The first three exceptions of an AggregateError, or the two of a SuppressedError. */
  readonly errors?: readonly ExceptionReport[]
  /** The number of further causes and errors, which are not shown; absent if there are none. */
  readonly omitted?: number
}

/** The properties of an exception, not scrubbed. They must not leave this folder. */
export interface RawException {
  /** The exception itself. */
  readonly value: unknown
  readonly name: string
  /** Whether the name is that of the class, which is code, not a value. */
  readonly isClassName: boolean
  readonly message: unknown
  readonly code: number | string
  readonly stack: readonly string[]
  /** Whether the frames follow the message in the stack. Otherwise the message may contain some of them. */
  readonly followMessage: boolean
  /** The first 20 issues of a {@link ValidationError}. */
  readonly issues: readonly ValidationIssue[]
  readonly previous: RawException | null
  readonly errors: readonly RawException[]
  readonly omitted: number
}

/** Removes possible secrets from the texts of an exception. */
export interface Scrubber {
  readonly text: (text: string) => string
  /** Scrubs the name of a class, or a code. */
  readonly name: (name: string) => string
  /** Scrubs a frame. Remembers its location if that is shown, see `learnLocation()`. */
  readonly frame: (frame: string) => string
}

const MAX_MESSAGE = 400
// The characters from the end of a longer message: a database puts its reason behind the statement.
const MESSAGE_END = 147
/** Maximum length of a frame: a value may forge a longer one. */
export const MAX_FRAME = 300
const MAX_DEPTH = 4
const MAX_ERRORS = 3
// Without this limit, a report of exceptions that are nested four deep could have 341.
const MAX_EXCEPTIONS = 12
// Characters of all names, codes, messages and stacks. V8 joins the parts of a text when it is first read, which takes 2 ms for a
// million characters.
const MAX_CHARS = 3_000_000

/** Reads an exception, its causes and its errors. Reads each property once: a getter may change. */
export function readException(exception: unknown, hasStack: boolean): RawException {
  let left = MAX_EXCEPTIONS - 1
  let chars = MAX_CHARS
  // Returns a text, or its length if it is too long.
  const limit = (text: unknown): unknown => {
    const { length } = textOr('', text)
    if (length > chars) return `[text(${length})]`
    chars -= length
    return text
  }
  const readAll = (value: unknown, depth: number): RawException => {
    const message = limit(read(value, 'message') ?? value)
    const cause = causeOf(value)
    const code = limit(codeOf(value)) as number | string
    const errors = errorsOf(value)
    const isDeepest = depth === MAX_DEPTH
    const hasCause = cause !== undefined && !isDeepest && left > 0
    if (hasCause) left--
    const shown = isDeepest ? [] : itemsOf(errors, MAX_ERRORS).slice(0, left)
    left -= shown.length
    const count = (cause === undefined ? 0 : 1) + countOf(errors)
    const name = textOr('Error', limit(read(value, 'name')))
    const stack = hasStack ? textOr('', limit(read(value, 'stack'))) : ''
    const frames = framesOf(stack, textOr('', message), name)
    return {
      value,
      name,
      isClassName: name === classNameOf(value),
      message,
      code,
      stack: frames.lines,
      followMessage: frames.followMessage,
      issues: isInstance(ValidationError, value) ? issuesOf(value) : [],
      previous: hasCause ? readAll(cause, depth + 1) : null,
      errors: shown.map((error) => readAll(error, depth + 1)),
      omitted: count - shown.length - (hasCause ? 1 : 0),
    }
  }
  return readAll(exception, 0)
}

/** Lists an exception, its causes and its errors. */
export function withInner(raw: RawException): RawException[] {
  const { previous, errors } = raw
  return [raw, ...(previous === null ? errors : [previous, ...errors]).flatMap(withInner)]
}

/** Lists the cause and the first errors of an exception, and the items, if the value is a list. */
export function causesOf(exception: unknown, max: number): readonly unknown[] {
  const cause = causeOf(exception)
  const causes = cause === undefined ? [] : [cause]
  return [...causes, ...itemsOf(errorsOf(exception), max), ...itemsOf(exception, max)]
}

// The errors of an AggregateError, or the two of a SuppressedError: `await using` failed at the end of a block that had failed.
function errorsOf(exception: unknown): unknown {
  const suppressed = read(exception, 'suppressed')
  const error = read(exception, 'error')
  // The block may have thrown another object.
  const isBoth = isError(suppressed) || (isError(error) && Object(suppressed) === suppressed)
  return isBoth ? [suppressed, error] : read(exception, 'errors')
}

function causeOf(exception: unknown): unknown {
  const cause = read(exception, 'cause')
  // The class of an exception may have a method of this name: all exceptions would share it.
  return typeof cause === 'function' ? undefined : cause
}

/** Lists the texts of one exception that a report shows; messages last, because they may be long. */
export function textsOf(raw: RawException): string[] {
  const { name, code, stack } = raw
  const names = raw.isClassName ? [] : [name]
  const codes = isShortNumber(code) ? [] : [String(code)]
  const callees = stack.map((frame) => cutFrame(frame).callee)
  return [...names, ...codes, ...stack, ...callees, ...clientTextsOf(raw)]
}

/** Lists the texts of one exception that its client may read. */
export function clientTextsOf({ message, issues }: RawException): string[] {
  const messages = typeof message === 'string' ? [message] : []
  return [...messages, ...issues.flatMap(({ path, message }) => [path, message])]
}

/** Creates the report of an exception. */
export function toExceptionReport(
  raw: RawException,
  scrubber: Scrubber,
  hasStack: boolean,
): ExceptionReport {
  const { name, message, code, stack, previous, errors, omitted } = raw
  const toReport = (inner: RawException): ExceptionReport =>
    toExceptionReport(inner, scrubber, hasStack)
  const showFrame = (frame: string): string =>
    abbreviate(printable(scrubber.frame(frame).slice(0, MAX_FRAME + 1)), MAX_FRAME)
  return {
    name: raw.isClassName ? safeClassName(name) : scrubber.name(name),
    message: messageOf(message, scrubber),
    code: safeCode(code, scrubber),
    ...(hasStack && stack.length > 0 && { stack: stack.map(showFrame) }),
    previous: previous && toReport(previous),
    ...(errors.length > 0 && { errors: errors.map(toReport) }),
    ...(omitted > 0 && { omitted }),
  }
}

// Returns the first items of a value that is a list. Reads by index: the iterator of an untrusted value may throw.
function itemsOf(list: unknown, max: number): readonly unknown[] {
  const length = Math.min(countOf(list), max)
  const items = Array.from({ length }, (_, i) => read(list, String(i)))
  return items.filter((item) => item !== undefined)
}

function countOf(errors: unknown): number {
  // The length of any other object may be a value.
  const length = isList(errors) ? read(errors, 'length') : 0
  return Number.isSafeInteger(length) ? Number(length) : 0
}

// Reports whether a value is a list, also of another realm, such as that of `node:vm`.
function isList(value: unknown): value is unknown[] {
  try {
    return Array.isArray(value)
  } catch {
    // A proxy may have been revoked.
    return false
  }
}

/** Returns the name of the class of an exception, which is code and no value; `Error` if it has none. */
export function safeClassOf(exception: Error): string {
  return safeClassName(textOr('', classNameOf(exception)) || 'Error')
}

// A thrown object may have a property "constructor" that is a value of a JSON body.
function classNameOf(value: unknown): unknown {
  const type = read(value, 'constructor')
  return typeof type === 'function' ? read(type, 'name') : undefined
}

function issuesOf(exception: unknown): readonly ValidationIssue[] {
  return itemsOf(read(exception, 'issues'), MAX_LISTED).map((issue) => ({
    path: textOr('', read(issue, 'path')),
    message: textOr('', read(issue, 'message')),
  }))
}

function messageOf(message: unknown, { text }: Scrubber): string {
  if (typeof message === 'string') return bothEnds(text(message))
  return message === null ? 'null' : typeof message
}

/** Returns a message, or the beginning and the end of one of more than 400 characters. */
export function bothEnds(text: string): string {
  // Escapes only what is shown: all of a message of 16 KiB of controls would take 10 ms.
  const start = printable(text.slice(0, MAX_MESSAGE))
  if (text.length <= MAX_MESSAGE && start.length <= MAX_MESSAGE) return start
  const end = printable(text.slice(-MESSAGE_END)).slice(-MESSAGE_END)
  return `${start.slice(0, MAX_MESSAGE - MESSAGE_END - '...'.length)}...${end}`
}

// A longer number may be a parsed value of the request, such as a one-time password.
function safeCode(code: number | string, { name }: Scrubber): number | string {
  if (isShortNumber(code)) return code
  const scrubbed = name(String(code))
  return scrubbed === String(code) ? code : scrubbed
}

function isShortNumber(code: number | string): boolean {
  return Number.isInteger(code) && Math.abs(Number(code)) < 1_000
}

function abbreviate(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}...` : text
}

function textOr(otherwise: string, value: unknown): string {
  return typeof value === 'string' ? value : otherwise
}
