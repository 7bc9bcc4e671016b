import { HttpError, NoRouteError } from '../http/errors.ts'
import { UNPRINTABLE } from './segments.ts'

/** The request target in its two halves, split at the first `?`. */
export interface Target {
  readonly path: string
  readonly search: string
}

/** What the rewrite step makes of a target. */
export interface Rewritten {
  /** The raw path past the base path, with its leading slash: what is routed. */
  readonly path: string
  /** The same, percent-decoded once; the raw path where it can't be decoded. */
  readonly q: string
  /** Why the target can't be served, where it can't. */
  readonly refusal?: HttpError | undefined
}

// A scheme and an authority: the absolute form of RFC 9112, section 3.2.2.
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/]*/i

/**
 * Splits a target by hand: `new URL('//host/path', base)` would read a path as a host.
 */
export function splitTarget(target: string): Target {
  const mark = target.indexOf('?')
  return mark < 0
    ? { path: target, search: '' }
    : { path: target.slice(0, mark), search: target.slice(mark + 1) }
}

/**
 * Rewrites a request target to the path that is routed and to `q` (SPEC section 2).
 *
 * @param basePath What stands before the routed path, such as `/app`; whole segments only.
 */
export function rewrite(target: string, basePath = ''): Rewritten {
  const raw = withoutOrigin(splitTarget(target).path)
  const path = withoutBase(raw, basePath)
  if (path === undefined) return { path: raw, q: raw, refusal: new NoRouteError() }

  // A request target has no fragment (RFC 9112, section 3.2): one proxy cuts it, another routes by it.
  if (!path.startsWith('/') || target.includes('#')) {
    return refused(path, 'The request target is not a path')
  }
  return decoded(path)
}

/** The host, port and all, of a target in the absolute form; it counts in place of `Host` (RFC 9112, section 3.2.2). */
export function authorityOf(target: string): string | undefined {
  const origin = target.startsWith('/') ? undefined : ORIGIN.exec(splitTarget(target).path)?.[0]
  return origin?.replace(/^[^/]*\/\/(?:.*@)?/, '') || undefined
}

function decoded(path: string): Rewritten {
  let q = path
  try {
    if (path.includes('%')) q = decodeURIComponent(path)
  } catch {
    // The URIError says no more than this.
    return refused(path, 'The path is not percent-encoded UTF-8')
  }
  if (UNPRINTABLE.test(q)) return refused(path, 'The path holds a control character')
  return { path, q }
}

function refused(path: string, why: string): Rewritten {
  return { path, q: path, refusal: new HttpError(400, why) }
}

function withoutOrigin(path: string): string {
  const origin = path.startsWith('/') ? undefined : ORIGIN.exec(path)?.[0]
  return origin === undefined ? path : path.slice(origin.length) || '/'
}

function withoutBase(path: string, basePath: string): string | undefined {
  if (basePath === '') return path
  if (path === basePath) return '/'
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined
}
