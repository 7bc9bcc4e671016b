import { forgetLastMatch } from './retention.ts'

/** The names that only routing sets. A parameter of such a name from a client has no effect. */
export const reservedNames = ['module', 'controller', 'action', 'q', 'error_handler'] as const

const reserved: ReadonlySet<string> = new Set(reservedNames)

/** Reports whether only routing sets a name. */
export function isReserved(name: string): boolean {
  return reserved.has(name)
}

// Matches a character that is not ASCII. A pattern of ASCII would match most texts, and V8 keeps the last matched text.
const IS_NOT_ASCII = /[^\0-\x7f]/

/**
 * All parameters of a request by name, and by iteration. In the error action, it also has `error_handler`: read it by
 * `request.errorHandler`.
 */
export type Params<ErrorHandler = unknown> = Readonly<Record<string, string | undefined>> &
  Iterable<[name: string, value: string | ErrorHandler]>

/** The parameters of a request, as {@link toParams} reads them. */
interface ParamSource<ErrorHandler> {
  /** The parameters that the client sent, in their order. */
  readonly params: ReadonlyMap<string, string>
  /** Visits the parameters that the client sent: a later value of a name replaces an earlier one. */
  eachParam(visit: Visit): void
  /** Returns a parameter; a reserved name has the value that routing set. */
  param(name: string): string | ErrorHandler | undefined
}

/** Returns the reserved parameters as routing set them, and all others, in an object without a prototype. */
export function toParams<ErrorHandler>(source: ParamSource<ErrorHandler>): Params<ErrorHandler> {
  const reservedEntries = reservedNames
    .map((name) => [name, source.param(name)] as const)
    .filter(([, value]) => value !== undefined)
  const params = Object.create(null)
  for (const [name, value] of reservedEntries) params[name] = value
  // Does not use `source.params`: filling this Map too takes 3 % of W4p (node bench/instructions.js --workload W4p portico).
  source.eachParam((name, value) => {
    if (!isReserved(name)) params[name] = value
  })
  // An object lists names such as `4` first; iteration keeps the order.
  const iterate = (): Iterator<unknown> => {
    const sent = [...source.params].filter(([name]) => !isReserved(name))
    return [...reservedEntries, ...sent][Symbol.iterator]()
  }
  return Object.defineProperty(params, Symbol.iterator, { value: iterate })
}

/**
 * Parses the key/value pairs of a path, such as `id/42/tag/a`. Each side is percent-decoded once, and `+`
 * is a space. A last key without a value is dropped.
 */
export function parsePairs(path: string): URLSearchParams {
  return collect(eachPair, path)
}

/** Parses `name=value&...`. A leading `?` is part of the first name: URLSearchParams would remove it. */
export function parseSearch(search: string): URLSearchParams {
  // Node.js 20 misreads "é" beside an invalid escape, and for each part that is not UTF-8 it throws an exception: 3 µs.
  if (IS_NOT_ASCII.test(search) || !hasAsciiEscapesOnly(search)) return collect(eachField, search)
  return new URLSearchParams(search.startsWith('?') ? `?${search}` : search)
}

function collect(each: typeof eachField, text: string): URLSearchParams {
  return new URLSearchParams(decodedPairs(each, text))
}

/** A name and its value. */
export type Pair = [name: string, value: string]

/** Returns each field or pair of a text, decoded. `each` is {@link eachField} or {@link eachPair}. */
export function decodedPairs(each: typeof eachField, text: string): Pair[] {
  const pairs: Pair[] = []
  eachDecoded(each, text, (name, value) => pairs.push([name, value]))
  return pairs
}

/** Visits each field or pair of a text, decoded. `each` is {@link eachField} or {@link eachPair}. */
export function eachDecoded(each: typeof eachField, text: string, visit: Visit): void {
  const decode = decoderOf(text)
  each(text, (name, value) => visit(decode(name), decode(value)))
}

/** Is called with a name and its value. */
export type Visit = (name: string, value: string) => void

/** Visits each field of `name=value&...`, as it was sent. */
export function eachField(search: string, visit: Visit): void {
  let equals = -1
  for (let start = 0; start < search.length; start++) {
    if (search[start] === '&') continue
    const end = indexOrEnd(search, '&', start)
    // Searches for the next `=` once, and not in each field without a value: their time would grow with their square.
    if (equals < start) equals = indexOrEnd(search, '=', start)
    const nameEnd = Math.min(equals, end)
    visit(search.slice(start, nameEnd), search.slice(nameEnd + 1, end))
    start = end
  }
}

/** Visits each key/value pair of a path such as `id/42/tag/a`, as it was sent. */
export function eachPair(path: string, visit: Visit): void {
  for (let start = 0; start < path.length; ) {
    const keyEnd = indexOrEnd(path, '/', start)
    if (keyEnd === path.length) return
    const end = indexOrEnd(path, '/', keyEnd + 1)
    visit(path.slice(start, keyEnd), path.slice(keyEnd + 1, end))
    start = end + 1
  }
}

// Returns the cheapest function that decodes each part of a text. One look at the whole text saves 5 % of W2 CPU.
function decoderOf(text: string): (part: string) => string {
  if (text.length > MAX_SEARCHED || !text.isWellFormed()) return decodeSegment
  if (isDecoded(text)) return (part) => part
  let isUtf8 = true
  return (part) => {
    if (isDecoded(part)) return part
    try {
      if (isUtf8 && isBrief(part)) return decodeURIComponent(replaceAll(part, '+', ' '))
    } catch {
      // An exception takes 5 µs, so each text causes at most one.
      isUtf8 = false
    }
    return decodeBytes(part, SPACE)
  }
}

function isDecoded(text: string): boolean {
  return !text.includes('%') && !text.includes('+')
}

/** Decodes a segment or a field once: `+` is a space. Invalid UTF-8 becomes U+FFFD. */
export function decodeSegment(segment: string): string {
  if (isDecoded(segment)) return segment.toWellFormed()
  return isBrief(segment) && hasAsciiEscapesOnly(segment)
    ? decodeURIComponent(replaceAll(segment, '+', ' ')).toWellFormed()
    : decodeBytes(segment, SPACE)
}

/** Decodes percent-encoded text once, and leaves plus signs. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text
  return text.length < MAX_DECODED && hasAsciiEscapesOnly(text)
    ? decodeURIComponent(text)
    : decodeBytes(text, PLUS)
}

// Reports whether all escapes are of ASCII characters. decodeURIComponent() cannot throw then; an exception takes 5 µs.
function hasAsciiEscapesOnly(text: string): boolean {
  const isAscii = !/%(?![0-7][0-9a-f])/i.test(text)
  if (!isAscii) forgetLastMatch()
  return isAscii
}

const MAX_DECODED = 1_024
const MAX_DECODED_WITH_PLUS = 128

// Reports whether decodeURIComponent() is fast for a text. decodeBytes() is faster for others: 1,000 plus signs take 5 µs and not 25 µs.
function isBrief(text: string): boolean {
  return text.length < (text.includes('+') ? MAX_DECODED_WITH_PLUS : MAX_DECODED)
}

// Maximum length of a text that is searched as a whole before its parts are.
const MAX_SEARCHED = 16_384

const PERCENT = 0x25
const PLUS = 0x2b
export const SPACE = 0x20

// The result equals that of URLSearchParams. Works on bytes: 1 MB takes 3 ms, where URLSearchParams takes
// up to 100 ms.
function decodeBytes(text: string, plus: number): string {
  const bytes = Buffer.from(text)
  let length = 0
  for (let i = 0; i < bytes.length; i++) {
    let byte = bytes[i] as number
    if (byte === PLUS) byte = plus
    else if (byte === PERCENT) {
      const escaped = (hexDigit(bytes[i + 1]) << 4) | hexDigit(bytes[i + 2])
      if (escaped >= 0) {
        byte = escaped
        i += 2
      }
    }
    bytes[length++] = byte
  }
  return bytes.toString('utf8', 0, length)
}

// Returns the value of a hexadecimal digit; -1 for any other character.
function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** Reports whether `name=value&...` has more fields than a limit. Empty fields do not count. */
export function exceedsFields(search: string, limit: number): boolean {
  let fields = 0
  for (let start = 0; start < search.length && fields <= limit; start++) {
    // Skips an empty field: a form may have a million of them, and searching for the end of each takes five times as long.
    if (search[start] === '&') continue
    fields++
    start = indexOrEnd(search, '&', start)
  }
  return fields > limit
}

/** Reports whether a path such as `id/42/tag/a` has more pairs than a limit. */
export function exceedsPairs(path: string, limit: number): boolean {
  return path.length > 2 * limit && path.split('/').length >= 2 * (limit + 1)
}

function indexOrEnd(text: string, delimiter: string, start: number): number {
  const index = text.indexOf(delimiter, start)
  return index < 0 ? text.length : index
}

/** Does the same as `text.replaceAll()`, but a match takes 24 ns and not 80 ns: a hostile text consists of them. */
export function replaceAll(text: string, search: string, replacement: string): string {
  return text.includes(search) ? text.split(search).join(replacement) : text
}
