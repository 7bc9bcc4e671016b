import { read } from '../http/exceptions.ts'
import { printable } from './printable.ts'

/** What is told of an exception: scrubbed of every value of its request. */
export interface ExceptionReport {
  /** Of its class, such as `TypeError`. */
  readonly name: string
  /** Scrubbed of every value of the request; 400 characters at most. */
  readonly message: string
  /** Its `code`, such as `ECONNREFUSED` or 404; 0 where it has none. */
  readonly code: number | string
  /** The frames of its stack; only of what is a fault of the server. */
  readonly stack?: readonly string[]
  /** What it was caused by; null where it was caused by nothing. */
  readonly previous: ExceptionReport | null
  /** Those of an AggregateError, the first few. */
  readonly errors?: readonly ExceptionReport[]
}

/** How what a stranger says is told. */
export interface Cleaning {
  readonly text: (text: string) => string
  /** Of a class, or a code. */
  readonly name: (name: string) => string
  /** A line of a stack. */
  readonly frame: (frame: string) => string
}

const FRAME = /^\s+at .*:\d+:\d+\)?$/
const MAX_MESSAGE = 400
const MAX_FRAMES = 8
const MAX_FRAME = 160
const MAX_CAUSES = 4

/** Tells an exception, its causes and what it gathers; its stack only where the server is at fault. */
export function tellException(
  exception: unknown,
  clean: Cleaning,
  status: number,
  depth: number = 0,
): ExceptionReport {
  const cause = read(exception, 'cause')
  const errors = depth < MAX_CAUSES ? firstErrors(read(exception, 'errors')) : []
  const stack = status >= 500 ? framesOf(exception, clean) : []
  const inner = (each: unknown): ExceptionReport => tellException(each, clean, status, depth + 1)
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
  if (typeof code === 'string') return name(code)
  if (typeof code !== 'number') return 0
  const told = Math.abs(code) < 1_000 ? String(code) : name(String(code))
  return told === String(code) ? code : told
}

// Only lines that have the look of a frame: what stands above them is the message once more.
function framesOf(exception: unknown, { frame }: Cleaning): readonly string[] {
  const stack = textOf(read(exception, 'stack'), '')
  const message = textOf(read(exception, 'message'), '')
  return stack
    .slice(Math.max(stack.indexOf(message) + message.length, 0), 16_384)
    .split('\n')
    .filter((line) => FRAME.test(line))
    .slice(0, MAX_FRAMES)
    .map((line) => cut(printable(frame(line.trim().slice('at '.length))), MAX_FRAME))
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}
