import type { Writable } from 'node:stream'
import type { Logger } from '../reporting/logger.ts'
import { jsonLine, printable } from '../reporting/printable.ts'
import { paint, type TextStyle } from './terminal-table.ts'

/** The levels of a log, the chattiest first; `silent` writes nothing. */
export const logLevels = ['info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Where and how a {@link Log} writes. */
export interface LogOptions {
  readonly stream: Writable
  /** What is below it is not written (default `info`). */
  readonly level?: LogLevel | undefined
  /** One readable line each instead of JSON, for a terminal (default: not). */
  readonly pretty?: boolean | undefined
  /** Whether such a line has colours (default: not). */
  readonly color?: boolean | undefined
}

type Fields = Readonly<Record<string, unknown>>

// A collector that stalls must not fill the memory: what does not fit is counted.
const MAX_QUEUED_BYTES = 1_048_576
const MAX_LINE_BYTES = 2_000
// What is left out first of a line that is too long.
const EXPENDABLE = ['errors', 'stack', 'params', 'previous', 'second', 'kinds', 'hint']

/** Writes one line for each event: NDJSON, or for people. */
export class Log implements Logger {
  readonly #options: LogOptions
  #dropped = 0

  constructor(options: LogOptions) {
    this.#options = options
  }

  info(fields: object, message: string): void {
    this.#write('info', fields as Fields, message)
  }

  warn(fields: object, message: string): void {
    this.#write('warn', fields as Fields, message)
  }

  error(fields: object, message: string): void {
    this.#write('error', fields as Fields, message)
  }

  #write(level: LogLevel, fields: Fields, message: string): void {
    const { level: least = 'info', stream } = this.#options
    if (logLevels.indexOf(level) < logLevels.indexOf(least)) return
    if (stream.writableLength > MAX_QUEUED_BYTES || stream.destroyed) {
      this.#dropped++
      return
    }
    if (this.#dropped > 0) this.#tellDropped()
    stream.write(this.#line(level, fields, message))
  }

  #tellDropped(): void {
    const dropped = this.#dropped
    this.#dropped = 0
    const message = `${dropped} lines were dropped: nobody took them`
    this.#options.stream.write(this.#line('warn', { event: 'dropped', dropped }, message))
  }

  #line(level: LogLevel, fields: Fields, message: string): string {
    const time = new Date().toISOString()
    return this.#options.pretty
      ? prettyLine(time, level, fields, message, { color: this.#options.color === true })
      : fittingLine({ time, level, ...fields, message })
  }
}

function fittingLine(record: Fields): string {
  const left: Record<string, unknown> = { ...record }
  let line = jsonLine(left)
  for (const name of EXPENDABLE) {
    if (Buffer.byteLength(line) < MAX_LINE_BYTES) break
    if (!(name in left)) continue
    delete left[name]
    line = jsonLine({ ...left, cut: true })
  }
  return `${line}\n`
}

const COLORS = { info: 'cyan', warn: 'yellow', error: 'red', silent: 'dim' } as const

function prettyLine(
  time: string,
  level: LogLevel,
  fields: Fields,
  message: string,
  style: TextStyle,
): string {
  const { event, status, method, module, controller, action, durationMs, bytes, id, looksLike } =
    fields
  const details = [
    event === 'access' || event === 'error' ? `${status} ${printable(String(method))}` : undefined,
    controller === undefined ? undefined : [module, controller, action].join('/'),
    event === 'access' ? undefined : printable(message),
    looksLike === undefined ? undefined : `(looks like: ${looksLike})`,
    durationMs === undefined ? undefined : `${durationMs} ms`,
    bytes === undefined ? undefined : `${bytes} B`,
    id === undefined ? undefined : paint(String(id), 'dim', style),
  ].filter((detail) => detail !== undefined)
  const clock = paint(time.slice(11, 19), 'dim', style)
  const frames = Array.isArray(fields.stack)
    ? ` ${paint(`at ${fields.stack[0]}`, 'dim', style)}`
    : ''
  return `${clock} ${paint(level.padEnd(5), COLORS[level], style)} ${details.join(' ')}${frames}\n`
}
