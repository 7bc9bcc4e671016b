import type { Writable } from 'node:stream'
import { checkOptions, type Kind, UNCHECKED } from '../http/check-options.ts'
import { jsonLine, printable } from '../scrubbing/printable.ts'
import { firstFrames } from './frames.ts'

/** The interface of a log: pino and `console` implement it. */
export interface Logger {
  /** Logs a response without an error, or an event of the process. The message is for humans. */
  info(fields: object, message: string): void
  /** Logs an error of the client (4xx), and the number of errors that were only counted. */
  warn(fields: object, message: string): void
  /** Logs an error of the server (5xx), with its stack. */
  error(fields: object, message: string): void
  /**
   * Reports whether lines of a level are written (default: all are). A response shows the id of its
   * error only if they are.
   */
  isLevelEnabled?(level: 'info' | 'warn' | 'error'): boolean
}

/** The levels of a log, the lowest first; `silent` writes nothing. @internal */
export const logLevels = ['info', 'warn', 'error', 'silent'] as const
/** The minimum level of a log. */
export type LogLevel = 'info' | 'warn' | 'error' | 'silent'

const LEVEL: Kind = [
  `one of ${logLevels.join(', ')}`,
  (level) => logLevels.includes(level as LogLevel),
]

/** Options of {@link createLogger}. */
export interface LoggerOptions {
  /** The stream to write to, such as `process.stdout`. */
  readonly stream: Writable
  /** The minimum level to write (default `info`); `silent` writes nothing. */
  readonly level?: LogLevel | undefined
}

/** Options of a {@link Log}. @internal */
export interface LogOptions extends LoggerOptions {
  /** Returns the line of a record, with its line break (default NDJSON). */
  readonly format?: ((level: LogLevel, record: Fields) => string) | undefined
}

/** @internal */
export type Fields = Readonly<Record<string, unknown>>

/**
 * Creates the log of the program: one line of JSON for each event, with `time`, `level`, the fields and `message`.
 *
 * Of a line of more than 2,000 bytes, the fields of Portico are shortened or removed, but not the message. While more than 1 MiB
 * waits in the stream, lines are dropped and counted, and so are lines whose write fails.
 *
 * @throws {TypeError} If an option is invalid.
 */
export function createLogger(options: LoggerOptions): Logger {
  checkOptions('options', options, { stream: UNCHECKED, level: LEVEL })
  if (typeof options.stream?.write !== 'function')
    throw new TypeError('Expected "stream" to be a stream')
  return new Log(options)
}

// If the reader of the stream stalls, further lines are dropped and counted: they must not fill the memory.
const MAX_QUEUED_BYTES = 1_048_576
const MAX_LINE_BYTES = 2_000
// A step that shortens a line. Reports whether it has changed the record.
type Step = (record: Record<string, unknown>) => boolean
// The steps for a line that is too long, in their order: the least important field goes first.
const STEPS: readonly Step[] = [
  // A client chooses the names of parameters, and must not remove the stack by long ones.
  remove('params'),
  halveStacks,
  halveStacks,
  halveStacks,
  ...['errors', 'previous', 'second', 'kinds', 'hint', 'stack', 'requestId'].map(remove),
]

/** Writes one line for each event: NDJSON, or as `format` returns it. @internal */
export class Log implements Logger {
  readonly #options: LogOptions
  #dropped = 0
  // Whether the output may end in a part of a line: the next line then starts with a line break.
  #isTorn = false
  // Whether the write that completed last failed.
  #hasFailed = false

  constructor(options: LogOptions) {
    this.#options = options
  }

  readonly info: Logger['info'] = (fields, message) => this.#write('info', fields, message)
  readonly warn: Logger['warn'] = (fields, message) => this.#write('warn', fields, message)
  readonly error: Logger['error'] = (fields, message) => this.#write('error', fields, message)

  /** Reports whether a line of the level would be written now. After a failed write, the line about the dropped ones comes first. */
  isLevelEnabled(level: LogLevel): boolean {
    if (this.#hasFailed && this.#dropped > 0) this.#logDropped()
    return this.#isAtLeast(level) && !this.#isBlocked && !this.#hasFailed
  }

  get #isBlocked(): boolean {
    const { stream } = this.#options
    return stream.writableLength > MAX_QUEUED_BYTES || stream.destroyed
  }

  #isAtLeast(level: LogLevel): boolean {
    const { level: minimum = 'info' } = this.#options
    return logLevels.indexOf(level) >= logLevels.indexOf(minimum)
  }

  #write(level: LogLevel, fields: object, message: string): void {
    if (!this.#isAtLeast(level)) return
    // The line of an error is written although the output is blocked: a response may already show its id. Such lines are few, because
    // no new errors are admitted then.
    const isPromised = !this.#options.stream.destroyed && (fields as Fields).event === 'error'
    if (this.#isBlocked && !isPromised) {
      this.#dropped++
      return
    }
    if (this.#dropped > 0) this.#logDropped()
    this.#send(this.#line(level, fields, message), 1)
  }

  // Counts the lines that are lost if the write fails, for example because the disk is full.
  #send(line: string, count: number): void {
    const text = this.#isTorn ? `\n${line}` : line
    this.#isTorn = false
    this.#options.stream.write(text, (error) => {
      this.#hasFailed = Boolean(error)
      if (!error) return
      this.#dropped += count
      this.#isTorn = true
    })
  }

  #logDropped(): void {
    const dropped = this.#dropped
    this.#dropped = 0
    const message = `${dropped} lines were dropped because the output was blocked or failed`
    this.#send(this.#line('warn', { event: 'dropped', dropped }, message), dropped)
  }

  #line(level: LogLevel, fields: object, message: string): string {
    const { format } = this.#options
    const record: Fields = { time: new Date().toISOString(), level, ...fields, message }
    return format === undefined ? truncatedLine(record) : format(level, record)
  }
}

function truncatedLine(record: Fields): string {
  const kept: Record<string, unknown> = { ...record }
  // jsonLine() escapes only a line below the limit: to escape 1 MB takes 0.2 s.
  let line = jsonLine(kept, MAX_LINE_BYTES)
  for (const shorten of STEPS) {
    if (Buffer.byteLength(line) < MAX_LINE_BYTES) break
    if (shorten(kept)) line = jsonLine({ ...kept, truncated: true }, MAX_LINE_BYTES)
  }
  return `${printable(line)}\n`
}

function remove(name: string): Step {
  return (record) => name in record && delete record[name]
}

// Halves the stacks of an error, and of its causes and errors, down to one frame: the first one of the application.
function halveStacks(record: Record<string, unknown>): boolean {
  const stack: readonly unknown[] = Array.isArray(record.stack) ? record.stack : []
  let isShorter = stack.length > 1
  if (isShorter) record.stack = firstFrames(stack.map(String), stack.length >> 1)
  for (const name of ['previous', 'second', 'errors']) {
    const inner = record[name]
    const copies = [inner ?? []].flat().map((each) => ({ ...(each as Fields) }))
    if (copies.filter(halveStacks).length === 0) continue
    record[name] = Array.isArray(inner) ? copies : copies[0]
    isShorter = true
  }
  return isShorter
}
