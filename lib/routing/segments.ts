import { decodeSegment } from '../http/params.ts'

/**
 * How the key and the value of a {@link Pair} become segments of a path:
 *
 * - `decoded`: text. It is percent-encoded. `.` and `..` are rejected.
 * - `received`: text that routing decoded from a request. It is written like `decoded`, except that
 *   `.` and `..` become `%2E` and `%2E%2E`: a client that sent them can send them again.
 * - `encoded`: text that the caller has percent-encoded. It is checked and written unchanged.
 */
export type PairEncoding = 'decoded' | 'received' | 'encoded'

/** A key/value pair of a path. */
export interface Pair {
  readonly key: string
  readonly value: string
  readonly encoding: PairEncoding
  /** Its segments, once they have been written: all links of a page have the pairs of their request. */
  written?: readonly [key: string, value: string]
}

// A control character could forge a line in a log, and a lone surrogate has no UTF-8 form.
const UNPRINTABLE = /[\0-\x1f\x7f-\x9f\ud800-\udfff]/u
const CONTROL = /[\0-\x1f\x7f-\x9f]/

const SLASH = 0x2f

// Matches the characters that clients send unchanged (RFC 3986, section 3.3).
const PCHARS = /^(?:[\w.~!$&'()*+,;=:@-]|%[0-9a-f]{2})*$/i
// Clients resolve dot segments, also encoded ones (WHATWG URL, section 4.1).
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i

/** Splits a path into its segments; `/` has none. */
export function splitPath(path: string): string[] {
  const trimmed = trimSlashes(path)
  return trimmed === '' ? [] : trimmed.split('/')
}

/** Returns the segments of pairs without a last key that has no value. */
export function wholePairs(segments: readonly string[]): string[] {
  return segments.slice(0, segments.length - (segments.length % 2))
}

/** Removes the slashes at both ends of a path. */
export function trimSlashes(path: string): string {
  // Trims by hand: /\/+$/ takes quadratic time on a run of slashes in the middle of a path.
  let start = 0
  let end = path.length
  while (end > 0 && path.charCodeAt(end - 1) === SLASH) end--
  while (start < end && path.charCodeAt(start) === SLASH) start++
  return path.slice(start, end)
}

/** Returns what a text holds that no path may hold, encoded or not; undefined if there is nothing. */
export function unprintableIn(text: string): 'control character' | 'lone surrogate' | undefined {
  if (!UNPRINTABLE.test(text)) return undefined
  return CONTROL.test(text) ? 'control character' : 'lone surrogate'
}

/** Reports whether clients send a segment unchanged and routing accepts it. */
export function isSegment(segment: string): boolean {
  return PCHARS.test(segment) && !DOT_SEGMENT.test(segment) && isDecodable(segment)
}

/**
 * Encodes text as a segment that {@link decodeSegment} decodes to the same text.
 *
 * @param what Describes the text in the error message, without its value.
 * @throws {TypeError} If no segment can hold the text.
 */
export function encodeSegment(text: string, what: string): string {
  const unprintable = unprintableIn(text)
  if (unprintable !== undefined) {
    throw new TypeError(`No URL can hold ${what}: a path has no ${unprintable}s`)
  }
  if (isDots(text)) {
    throw new TypeError(`No URL can hold ${what}: clients resolve "." and ".."`)
  }
  return encodeURIComponent(text)
}

/** Writes pairs as segments: the inverse of {@link parsePairs}. */
export function writePairs(pairs: readonly Pair[]): string[] {
  const segments: string[] = []
  for (const pair of pairs) {
    const { key, encoding } = pair
    pair.written ??= [writeText(key, encoding, `the key "${key}"`), writeValue(pair)]
    segments.push(...pair.written)
  }
  // Routing would drop an empty last segment with its slash. It also drops a last key without a value,
  // so the key "-" keeps the empty segment and adds no pair.
  return segments.at(-1) === '' ? [...segments, '-'] : segments
}

/** Writes the value of a pair as one segment. */
export function writeValue({ key, value, encoding }: Pair): string {
  return writeText(value, encoding, `the value of "${key}"`)
}

/** Returns the key and the value of a pair as routing decodes them from a path. */
export function decodePair({ key, value, encoding }: Pair): [key: string, value: string] {
  return encoding === 'encoded' ? [decodeSegment(key), decodeSegment(value)] : [key, value]
}

function writeText(text: string, encoding: PairEncoding, what: string): string {
  if (encoding === 'encoded') return checkSegment(text, what)
  if (encoding === 'received' && isDots(text)) return text.replaceAll('.', '%2E')
  return encodeSegment(text, what)
}

/** @throws {TypeError} If a text is not a segment; the message describes the text. */
export function checkSegment(segment: string, what: string): string {
  if (isSegment(segment)) return segment
  throw new TypeError(`No URL can hold ${what}: it is not a valid path segment`)
}

function isDots(text: string): boolean {
  return text === '.' || text === '..'
}

function isDecodable(segment: string): boolean {
  if (!segment.includes('%')) return true
  try {
    return !UNPRINTABLE.test(decodeURIComponent(segment))
  } catch {
    // The URIError adds no facts.
    return false
  }
}

/** Joins two parts of a path, without a slash at the start. */
export function joinParts(start: string, separator: string, end: string): string {
  return start === '' && separator === '/' ? end : start + separator + end
}
