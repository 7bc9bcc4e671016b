/** The names that only routing sets. A parameter of such a name from a client has no effect. */
export const reservedNames = ['module', 'controller', 'action', 'q', 'error_handler'] as const

/** Reports whether only routing sets a name. */
export function isReserved(name: string): boolean {
  return (reservedNames as readonly string[]).includes(name)
}

/**
 * Parses the key/value pairs of a path, such as `id/42/tag/a`. Each side is percent-decoded once, and `+`
 * is a space. A last key without a value is dropped.
 */
export function parsePairs(path: string): URLSearchParams {
  const segments = path.split('/')
  let search = ''
  for (let i = 0; i + 1 < segments.length; i += 2) {
    search += `&${escapeDelimiters(segments[i])}=${escapeDelimiters(segments[i + 1])}`
  }
  return new URLSearchParams(search)
}

/** Parses `name=value&...`. A leading `?` is part of the first name: URLSearchParams would remove it. */
export function parseSearch(search: string): URLSearchParams {
  return new URLSearchParams(search.startsWith('?') ? `?${search}` : search)
}

/**
 * Parses `name=value&...` into a map, where the last value of a name wins. The result equals that of
 * URLSearchParams, and takes half the time.
 */
export function mergeSearch(search: string, into: Map<string, string>): void {
  const text = search.toWellFormed()
  const decode = decoderFor(text, String)
  for (let start = 0; start < text.length; ) {
    const end = indexOrEnd(text, '&', start)
    const field = text.slice(start, end)
    const equals = indexOrEnd(field, '=', 0)
    if (end > start) into.set(decode(field.slice(0, equals)), decode(field.slice(equals + 1)))
    start = end + 1
  }
}

/** Parses the key/value pairs of a path like {@link parsePairs}, into a map like {@link mergeSearch}. */
export function mergePairs(path: string, into: Map<string, string>): void {
  const text = path.toWellFormed()
  const decode = decoderFor(text, escapeDelimiters)
  for (let start = 0; start < text.length; ) {
    const keyEnd = indexOrEnd(text, '/', start)
    if (keyEnd === text.length) return
    const end = indexOrEnd(text, '/', keyEnd + 1)
    into.set(decode(text.slice(start, keyEnd)), decode(text.slice(keyEnd + 1, end)))
    start = end + 1
  }
}

/** Decodes a segment once, like {@link parsePairs}: `+` is a space. */
export function decodeSegment(segment: string): string {
  return decoderFor(segment, escapeDelimiters)(segment)
}

/** Reports whether `name=value&...` has more fields than a limit. Empty fields do not count. */
export function exceedsFields(search: string, limit: number): boolean {
  if (search.length <= 2 * limit) return false
  let fields = 0
  for (let start = 0; start < search.length && fields <= limit; ) {
    const end = indexOrEnd(search, '&', start)
    if (end > start) fields++
    start = end + 1
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

// Returns a decoder for the parts of a text. Most texts have nothing to decode, so their parts stay unchanged.
// URLSearchParams decodes invalid UTF-8, so that the results are equal.
function decoderFor(text: string, escapePart: (part: string) => string): (part: string) => string {
  if (!/[%+]/.test(text)) return String
  return (part) => {
    try {
      return decodeURIComponent(replaceAll(part, '+', ' '))
    } catch {
      return new URLSearchParams(`=${escapePart(part)}`).get('') ?? ''
    }
  }
}

// `&` and `=` delimit fields for URLSearchParams, but have no meaning in a path.
function escapeDelimiters(segment = ''): string {
  return segment.replace(/[&=]/g, encodeURIComponent)
}

/** Does the same as `text.replaceAll()`, but a match takes 24 ns and not 80 ns: a hostile text consists of them. */
export function replaceAll(text: string, search: string, replacement: string): string {
  return text.includes(search) ? text.split(search).join(replacement) : text
}
