/** The names that routing alone gives a value; a client that sends one changes nothing. */
export const reservedNames = ['module', 'controller', 'action', 'q', 'error_handler'] as const

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

/** The last value of a name: the one that counts inside one source. */
export function lastValue(params: URLSearchParams, name: string): string | undefined {
  return params.getAll(name).at(-1)
}

/** Whether `name=value&...` has more than `limit` fields; an empty one is none. */
export function exceedsFields(search: string, limit: number): boolean {
  if (search.length < limit) return false
  let fields = 0
  for (let at = 0; at < search.length && fields <= limit; ) {
    const end = search.indexOf('&', at)
    const stop = end < 0 ? search.length : end
    if (stop > at) fields++
    at = stop + 1
  }
  return fields > limit
}

/** Whether a path such as `id/42/tag/a` has more than `limit` pairs. */
export function exceedsPairs(path: string, limit: number): boolean {
  return path.length > 2 * limit && path.split('/').length >= 2 * (limit + 1)
}

// What is a delimiter to URLSearchParams is none to a path.
function literal(segment = ''): string {
  return segment.replace(/[&=]/g, encodeURIComponent)
}
