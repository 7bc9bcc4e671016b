import { HttpError, NoRouteError } from '../http/errors.ts'
import { splitTarget, withoutOrigin } from '../http/target.ts'
import { UNPRINTABLE } from './segments.ts'

/** What the rewrite step makes of a target. */
export interface Rewritten {
  /** The raw path past the base path, with its leading slash: what is routed. */
  readonly path: string
  /** The same, percent-decoded once; the raw path where it can't be decoded. */
  readonly q: string
  /** Why the target can't be served, where it can't. */
  readonly rejection?: HttpError | undefined
}

/**
 * Rewrites a request target to the path that is routed and to `q` (SPEC section 2).
 *
 * @param basePath What stands before the routed path, such as `/app`; whole segments only.
 */
export function rewrite(target: string, basePath = ''): Rewritten {
  const raw = withoutOrigin(splitTarget(target).path)
  const path = withoutBase(raw, basePath)
  if (path === undefined) return { path: raw, q: raw, rejection: new NoRouteError() }

  // A request target has no fragment (RFC 9112, section 3.2): one proxy cuts it, another routes by it.
  if (!path.startsWith('/') || target.includes('#')) {
    return refused(path, 'The request target is not a path')
  }
  return decoded(path)
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
  return { path, q: path, rejection: new HttpError(400, why) }
}

function withoutBase(path: string, basePath: string): string | undefined {
  if (basePath === '') return path
  if (path === basePath) return '/'
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined
}
