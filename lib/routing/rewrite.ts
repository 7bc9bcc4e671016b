import { type HttpError, NoRouteError, rejectionWith } from '../http/errors.ts'
import { splitTarget, withoutOrigin } from '../http/request-line.ts'
import { unprintableIn } from './segments.ts'

/** The result of {@link rewrite}. */
export interface Rewritten {
  /** The raw path without the base path, but with its leading slash. Routing uses it. */
  readonly path: string
  /** The path, percent-decoded once; the raw path if it cannot be decoded. */
  readonly q: string
  /** The error to respond with; undefined if the target is valid. */
  readonly rejection?: HttpError | undefined
}

/**
 * Rewrites a request target to the path that is routed and to `q` (SPEC section 2).
 *
 * @param basePath The part before the routed path, such as `/app`: whole segments only; '' for none.
 */
export function rewrite(target: string, basePath: string): Rewritten {
  const raw = withoutOrigin(splitTarget(target).path)
  const path = withoutBase(raw, basePath)
  if (path === undefined) return { path: raw, q: raw, rejection: new NoRouteError() }

  // A request target has no fragment (RFC 9112, section 3.2). One proxy removes it, and another routes by it.
  if (!path.startsWith('/') || target.includes('#')) {
    return rejected(path, 'The request target is not a path')
  }
  let q = path
  try {
    if (path.includes('%')) q = decodeURIComponent(path)
  } catch {
    // The URIError adds no facts.
    return rejected(path, 'The path is not percent-encoded UTF-8')
  }
  const unprintable = unprintableIn(q)
  if (unprintable !== undefined) return rejected(path, `The path holds a ${unprintable}`)
  return { path, q }
}

function rejected(path: string, reason: string): Rewritten {
  return { path, q: path, rejection: rejectionWith(400, reason) }
}

function withoutBase(path: string, basePath: string): string | undefined {
  if (basePath === '') return path
  if (path === basePath) return '/'
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined
}
