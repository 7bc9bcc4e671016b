import { isApplicationFrame } from '../reporting/frames.ts'
import type { Fields, LogLevel, LogOptions } from '../reporting/log.ts'
import { printable } from '../scrubbing/printable.ts'
import { subjectOf } from './access-log.ts'
import { paint, type TextStyle } from './terminal-table.ts'

const COLORS = { info: 'cyan', warn: 'yellow', error: 'red', silent: 'dim' } as const

/** Returns the format of readable lines for a terminal. */
export function prettyFormat(style: TextStyle): LogOptions['format'] {
  return (level, record) => prettyLine(level, record, style)
}

function prettyLine(level: LogLevel, record: Fields, style: TextStyle): string {
  const { time, event, status, method, name, message } = record
  const { looksLike, durationMs, bytes, id, stack } = record
  const details = [
    // An error outside of any request has no method.
    method === undefined || method === '' ? undefined : `${status} ${printable(String(method))}`,
    ...subjectOf(record),
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
