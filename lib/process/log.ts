import type { Writable } from 'node:stream'
import { isApplicationFrame } from '../reporting/frames.ts'
import type { Logger } from '../reporting/logger.ts'
import { jsonLine, printable } from '../reporting/printable.ts'
import { paint, type TextStyle } from './terminal-table.ts'

/** The levels of a log, the lowest first; `silent` writes nothing. */
export const logLevels = ['info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** The options of a {@link Log}. */
export interface LogOptions {
  readonly stream: Writable
  /** The minimum level to write (default `info`). */
  readonly level?: LogLevel | undefined
  /** Whether to write readable lines for a terminal instead of JSON (default false). */
  readonly pretty?: boolean | undefined
  /** Whether readable lines have colours (default false). */
  readonly color?: boolean | undefined
}

type Fields = Readonly<Record<string, unknown>>

// If the reader of the stream stalls, further lines are dropped and counted: they must not fill the memory.
const MAX_QUEUED_BYTES = 1_048_576
const MAX_LINE_BYTES = 2_000
// The fields that are removed from a line that is too long, the least important first.
const REMOVABLE_FIELDS = ['errors', 'stack', 'params', 'previous', 'second', 'kinds', 'hint']

/** Writes one line for each event: NDJSON, or readable text for a terminal. */
export class Log implements Logger {
  readonly #options: LogOptions
  #dropped = 0

  constructor(options: LogOptions) {
    this.#options = options
  }

  readonly info: Logger['info'] = (fields, message) => this.#write('info', fields, message)
  readonly warn: Logger['warn'] = (fields, message) => this.#write('warn', fields, message)
  readonly error: Logger['error'] = (fields, message) => this.#write('error', fields, message)

  /** Returns whether a line of the level would be written now. */
  isLevelEnabled(level: LogLevel): boolean {
    return this.#isAtLeast(level) && !this.#isBlocked
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
    if (this.#isBlocked) {
      this.#dropped++
      return
    }
    if (this.#dropped > 0) this.#logDropped()
    this.#options.stream.write(this.#line(level, fields, message))
  }

  #logDropped(): void {
    const dropped = this.#dropped
    this.#dropped = 0
    const message = `${dropped} lines were dropped because the output was blocked`
    this.#options.stream.write(this.#line('warn', { event: 'dropped', dropped }, message))
  }

  #line(level: LogLevel, fields: object, message: string): string {
    const { pretty, color = false } = this.#options
    const record: Fields = { time: new Date().toISOString(), level, ...fields, message }
    return pretty ? prettyLine(level, record, { color }) : truncatedLine(record)
  }
}

function truncatedLine(record: Fields): string {
  const kept: Record<string, unknown> = { ...record }
  let line = jsonLine(kept)
  for (const name of REMOVABLE_FIELDS) {
    if (Buffer.byteLength(line) < MAX_LINE_BYTES) break
    if (!(name in kept)) continue
    delete kept[name]
    line = jsonLine({ ...kept, truncated: true })
  }
  return `${line}\n`
}

const COLORS = { info: 'cyan', warn: 'yellow', error: 'red', silent: 'dim' } as const

function prettyLine(level: LogLevel, record: Fields, style: TextStyle): string {
  const { time, event, status, method, module, controller, action, name, message } = record
  const { looksLike, durationMs, bytes, id, stack } = record
  const details = [
    // An error outside of any request has no method.
    method === undefined || method === '' ? undefined : `${status} ${printable(String(method))}`,
    controller ? [module, controller, action].join('/') : undefined,
    method === '' && name !== undefined ? `${printable(String(name))}:` : undefined,
    event === 'access' ? undefined : printable(String(message)),
    looksLike === undefined ? undefined : `(looks like: ${looksLike})`,
    durationMs === undefined ? undefined : `${durationMs} ms`,
    bytes === undefined ? undefined : `${bytes} B`,
    id === undefined ? undefined : paint(String(id), 'dim', style),
    Array.isArray(stack) ? paint(`at ${firstFrame(stack)}`, 'dim', style) : undefined,
  ].filter((detail) => detail !== undefined)
  const clock = paint(String(time).slice(11, 19), 'dim', style)
  return `${clock} ${paint(level.padEnd(5), COLORS[level], style)} ${details.join(' ')}\n`
}

function firstFrame(stack: readonly string[]): string {
  return printable(String(stack.find(isApplicationFrame) ?? stack[0]))
}
