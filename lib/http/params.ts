/** The names that routing alone gives a value; a client that sends one changes nothing. */
export const reservedNames = ['module', 'controller', 'action', 'q', 'error_handler'] as const

/** Whether routing alone gives a name its value. */
export function isReserved(name: string): boolean {
  return (reservedNames as readonly string[]).includes(name)
}

/**
 * Reads the key/value pairs of a path, such as `id/42/tag/a`: each side percent-decoded once, `+` a
 * space, a last key without a value dropped.
 */
export function parsePairs(path: string): URLSearchParams {
  const segments = path.split('/')
  let search = ''
  for (let i = 0; i + 1 < segments.length; i += 2) {
    search += `&${literal(segments[i])}=${literal(segments[i + 1])}`
  }
  return new URLSearchParams(search)
}

/** Reads `name=value&...`, leading `?` and all: the constructor would take it for its own. */
export function parseSearch(search: string): URLSearchParams {
  return new URLSearchParams(search.startsWith('?') ? `?${search}` : search)
}

/**
 * Reads `name=value&...` into a view in which the last value of a name counts: what a URLSearchParams
 * has, in half the time.
 */
export function mergeSearch(search: string, into: Map<string, string>): void {
  const text = search.toWellFormed()
  const decode = decoderOf(text, String)
  for (let at = 0; at < text.length; ) {
    const end = endOf(text, '&', at)
    const field = text.slice(at, end)
    const equals = endOf(field, '=', 0)
    if (end > at) into.set(decode(field.slice(0, equals)), decode(field.slice(equals + 1)))
    at = end + 1
  }
}

/** Reads the key/value pairs of a path as {@link parsePairs} does, into such a view. */
export function mergePairs(path: string, into: Map<string, string>): void {
  const text = path.toWellFormed()
  const decode = decoderOf(text, literal)
  for (let at = 0; at < text.length; ) {
    const keyEnd = endOf(text, '/', at)
    if (keyEnd === text.length) return
    const end = endOf(text, '/', keyEnd + 1)
    into.set(decode(text.slice(at, keyEnd)), decode(text.slice(keyEnd + 1, end)))
    at = end + 1
  }
}

/** Decodes a segment once, as {@link parsePairs} does a key or a value: `+` is a space. */
export function decodeSegment(segment: string): string {
  return decoderOf(segment, literal)(segment)
}

/** Whether `name=value&...` has more than `limit` fields; an empty one is none. */
export function exceedsFields(search: string, limit: number): boolean {
  if (search.length <= 2 * limit) return false
  let fields = 0
  for (let at = 0; at < search.length && fields <= limit; ) {
    const end = endOf(search, '&', at)
    if (end > at) fields++
    at = end + 1
  }
  return fields > limit
}

/** Whether a path such as `id/42/tag/a` has more than `limit` pairs. */
export function exceedsPairs(path: string, limit: number): boolean {
  return path.length > 2 * limit && path.split('/').length >= 2 * (limit + 1)
}

function endOf(text: string, delimiter: string, start: number): number {
  const end = text.indexOf(delimiter, start)
  return end < 0 ? text.length : end
}

// Most texts stand for themselves. What is no UTF-8 is read as URLSearchParams reads it, so that both agree.
function decoderOf(text: string, quoted: (part: string) => string): (part: string) => string {
  if (!/[%+]/.test(text)) return String
  return (part) => {
    try {
      return decodeURIComponent(part.replaceAll('+', ' '))
    } catch {
      return new URLSearchParams(`=${quoted(part)}`).get('') ?? ''
    }
  }
}

// What is a delimiter to URLSearchParams is none to a path.
function literal(segment = ''): string {
  return segment.replace(/[&=]/g, encodeURIComponent)
}
