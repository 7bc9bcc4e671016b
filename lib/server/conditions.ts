import type { HttpRequest } from '../http/request.ts'
import { headerOf } from '../http/request-readers.ts'
import type { FileState } from './stored-file.ts'

/** A part of a file: its first and its last byte. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

type Version = Pick<FileState, 'etag' | 'modifiedMs'>

/**
 * Reports whether a condition excludes the current file (RFC 9110, section 13.2.2): `If-Match`, or without it
 * `If-Unmodified-Since`.
 */
export function isOtherVersion(request: HttpRequest, { etag, modifiedMs }: Version): boolean {
  const tags = headerOf(request, 'if-match')
  if (tags !== undefined) return !isListed(etag, tags)
  return timeOf(headerOf(request, 'if-unmodified-since')) < modifiedMs
}

/**
 * Reports whether the client has the current file (RFC 9110, section 13.2.2): `If-None-Match`, and only without it
 * `If-Modified-Since`.
 */
export function isNotModified(request: HttpRequest, { etag, modifiedMs }: Version): boolean {
  const tags = headerOf(request, 'if-none-match')
  // A proxy that compresses the file makes the tag weak.
  if (tags !== undefined) return isListed(etag, tags.replaceAll('W/', ''))
  return timeOf(headerOf(request, 'if-modified-since')) >= modifiedMs
}

/** Reports whether a range may be sent: `If-Range` is absent, or names the current file (RFC 9110, section 13.1.5). */
export function isRangeCurrent(request: HttpRequest, { etag, modifiedMs }: Version): boolean {
  const condition = headerOf(request, 'if-range')?.trim()
  return condition === undefined || condition === etag || timeOf(condition) === modifiedMs
}

/**
 * Returns the range that a GET requests (RFC 9110, section 14). Ignores a header that is malformed or has several ranges, as
 * the RFC permits: the response is then the whole file.
 */
export function rangeOf(
  request: HttpRequest,
  bytes: number,
): ByteRange | 'unsatisfiable' | undefined {
  const header = request.method === 'GET' ? headerOf(request, 'range') : undefined
  const [, first = '', last = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    const count = Math.min(Number(last), bytes)
    return count === 0 ? 'unsatisfiable' : { start: bytes - count, end: bytes - 1 }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= bytes) return 'unsatisfiable'
  return { start, end: last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1) }
}

function isListed(etag: string, tags: string): boolean {
  return tags.trim() === '*' || tags.split(',').some((tag) => tag.trim() === etag)
}

// The three formats of RFC 9110, section 5.6.7. Date.parse() accepts much more, and reads the last one as local time.
const HTTP_DATE =
  /^\w{3}(\w*day)?, \d\d[ -]\w{3}[ -](\d\d){1,2} [\d:]{8} gmt$|^\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}$/i

// Returns the milliseconds of a date; NaN, which no comparison accepts, if it is missing or malformed.
function timeOf(date = ''): number {
  return HTTP_DATE.test(date.trim()) ? Date.parse(`${date} GMT`) : Number.NaN
}
