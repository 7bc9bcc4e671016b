/**
 * A key and its value, and where they come from: from a request, whose client can send once more what it
 * has sent; or from somebody who has encoded them.
 */
export type Pair = readonly [key: string, value: string, source?: 'request' | 'encoded']

/**
 * What no path may hold, however encoded: controls would forge lines in a log; a lone surrogate has no
 * UTF-8 form.
 */
export const UNPRINTABLE: RegExp = /[\p{Cc}\p{Cs}]/u

// RFC 3986, section 3.3: what clients send as it stands.
const PCHARS = /^(?:[\w.~!$&'()*+,;=:@-]|%[0-9a-f]{2})*$/i
// Clients resolve them, encoded as well (WHATWG URL, section 4.1).
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i
// What a browser would encode, and who sent it did not: nothing that ends an attribute of HTML, and no
// backslash in front, which browsers take for a second slash, and what follows for a host.
const SENT_NAME = /^(?!\\)[^\P{ASCII}\p{Cc} "<>`/?#]+$/u

/** Whether clients send a segment as it stands, and a server takes it. */
export function isSegment(segment: string): boolean {
  return PCHARS.test(segment) && !DOT_SEGMENT.test(segment) && isDecodable(segment)
}

/**
 * The segment that {@link decodeSegment} takes back to a text.
 *
 * @throws {TypeError} With `what`, which names the text and does not tell it, if there is none.
 */
export function encodeSegment(text: string, what: string): string {
  if (UNPRINTABLE.test(text)) {
    throw new TypeError(`No URL can hold ${what}: a path has no control characters`)
  }
  if (isDots(text)) {
    throw new TypeError(`No URL can hold ${what}: clients resolve "." and ".."`)
  }
  return encodeURIComponent(text)
}

function checkedSegment(segment: string, what: string): string {
  if (isSegment(segment)) return segment
  throw new TypeError(`No URL can hold ${what} as it stands`)
}

/** Key/value pairs as segments: {@link parsePairs} the other way round. */
export function writePairs(pairs: readonly Pair[]): string[] {
  const segments = pairs.flatMap(([key, value, source]) => [
    writeText(key, source, `the key "${key}"`),
    writeText(value, source, `the value of "${key}"`),
  ])
  // An empty end would be cut off with its slash; what stands behind it is a key without a value, and dropped.
  return segments.at(-1) === '' ? [...segments, '-'] : segments
}

/** A key or a value as a segment. */
export function writeText(text: string, source: Pair[2], what: string): string {
  if (source === 'encoded') return checkedSegment(text, what)
  if (source === 'request' && isDots(text)) return text.replaceAll('.', '%2E')
  return encodeSegment(text, what)
}

/** A module, a controller or an action as a segment: as it stands, for it is never decoded. */
export function writeName(name: string, isSent: boolean, what: string): string {
  if (name === '') throw new TypeError(`No URL can hold ${what}`)
  return isSent && SENT_NAME.test(name) ? name : checkedSegment(name, what)
}

function isDots(text: string): boolean {
  return text === '.' || text === '..'
}

function isDecodable(segment: string): boolean {
  if (!segment.includes('%')) return true
  try {
    return !UNPRINTABLE.test(decodeURIComponent(segment))
  } catch {
    // The URIError says no more than this.
    return false
  }
}
