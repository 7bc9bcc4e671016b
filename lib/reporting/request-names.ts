import { NoActionError, NoControllerError, NoRouteError } from '../http/errors.ts'
import { isInstance } from '../http/exceptions.ts'
import type { HttpRequest } from '../http/request.ts'
import type { Route } from '../http/route.ts'
import { scrubAll } from './scrub.ts'
import { safeName, shapeOf } from './shape.ts'

/** The names of a request, without a secret. */
export type SafeNames = Pick<Route, 'module' | 'controller' | 'action'>

// The names that the routing fills in.
const DEFAULTS: readonly string[] = ['default', 'index']

// The names of each request that contain one of its values: they are searched for once.
const secretNames = new WeakMap<HttpRequest, readonly string[]>()

/**
 * Returns module, controller and action of a request, '' for each one that is missing. A name from
 * the path is shown if it looks like a name; a name that a forward took from a value is shown as
 * the shape.
 */
export function safeNames(request: HttpRequest | undefined): SafeNames {
  if (request === undefined) return { module: '', controller: '', action: '' }
  const { module, controller, action } = request
  const secret = secretNamesOf(request, [module, controller, action])
  const show = (name: string): string => (secret.includes(name) ? shapeOf(name) : safeName(name))
  return { module: show(module), controller: show(controller), action: show(action) }
}

function secretNamesOf(request: HttpRequest, names: readonly string[]): readonly string[] {
  const unrequested = names.filter(
    (name) => !DEFAULTS.includes(name) && !isRequested(name, request),
  )
  if (unrequested.length === 0) return unrequested
  const known = secretNames.get(request)
  if (known !== undefined) return known
  const scrubbed = scrubAll(unrequested, request)
  const secret = unrequested.filter((name, i) => scrubbed[i] !== name)
  secretNames.set(request, secret)
  return secret
}

// Returns whether a name is one of the segments of the path that can be names.
function isRequested(name: string, { path }: HttpRequest): boolean {
  return path.startsWith(`${name}/`, 1) || path.split('/', 4).includes(name)
}

/**
 * Returns whether the message of an exception contains only the requested name, and nothing else of
 * the request. Such a message is not scrubbed: if a parameter also has the value `signin`, the name
 * is still shown.
 */
export function isAboutNames(exception: Error, request: HttpRequest): boolean {
  const { controller, action } = request
  if (isInstance(NoControllerError, exception)) {
    return exception.controller === controller && isRequested(controller, request)
  }
  if (isInstance(NoActionError, exception)) {
    return exception.action === action && isRequested(action, request)
  }
  return isInstance(NoRouteError, exception)
}
