import { type HttpError, rejectionWith } from './errors.ts'

/** An HTTP method: a standard one, or any other that `node:http` accepts. */
export type Method =
  | ('GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS')
  | (string & Record<never, never>)

/** Methods that no action serves. A response to TRACE would show the secrets that a proxy added; CONNECT is for proxies. */
export const FORBIDDEN_METHODS: readonly string[] = ['TRACE', 'CONNECT']

/** The methods that `Allow` lists for an action without a restriction. */
export const STANDARD_METHODS: readonly string[] = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]

// Matches the scheme and the authority of the absolute form (RFC 9112, section 3.2.2).
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i

// Matches a name or an address in brackets, and an optional port (RFC 9110, section 7.2). No comma: some proxies write
// lists of hosts, and join repeated fields.
const HOST = /^(?:[\w.~%!$&'()*+;=-]+|\[[0-9a-f:.]+\])(?::\d{0,5})?$/i

/** Reports whether a text is a host with an optional port. */
export function isHost(text: string): boolean {
  return HOST.test(text)
}

/** Splits a target at its first `?`. By hand: `new URL('//host/path', base)` would read a path as a host. */
export function splitTarget(target: string): { readonly path: string; readonly search: string } {
  const mark = target.indexOf('?')
  return mark < 0
    ? { path: target, search: '' }
    : { path: target.slice(0, mark), search: target.slice(mark + 1) }
}

/**
 * Returns the host and port of a target in the absolute form, which replace the `Host` header (RFC 9112,
 * section 3.2.2); undefined for any other form.
 */
export function authorityOf(target: string): string | undefined {
  return originOf(target)?.replace(/^[^/]*\/\/(?:.*@)?/, '') || undefined
}

/** Returns scheme and authority of a target in the absolute form; undefined for any other form. */
export function originOf(target: string): string | undefined {
  return target.startsWith('/') ? undefined : ORIGIN.exec(target)?.[0]
}

/** Removes scheme and authority from the path of a target in the absolute form. */
export function withoutOrigin(path: string): string {
  const origin = originOf(path)
  return origin === undefined ? path : path.slice(origin.length) || '/'
}

/** Returns the error for a target that is longer than a limit; undefined if it is not. */
export function rejectLongTarget(target: string, maxBytes: number): HttpError | undefined {
  // node:http reads each byte of a target as one character.
  if (target.length <= maxBytes) return undefined
  return rejectionWith(414, `The request target is longer than ${maxBytes} bytes`)
}
