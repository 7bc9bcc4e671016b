import type { HttpRequest } from '../http/request.ts'
import type { Route } from '../http/route.ts'
import { scrubAll } from './scrub.ts'
import { safeName, shapeOf } from './shape.ts'

/** The names of a request, as they may be told. */
export type SafeNames = Pick<Route, 'module' | 'controller' | 'action'>

// Where a path leaves names out.
const DEFAULTS: readonly string[] = ['default', 'index']

/**
 * Module, controller and action of a request as they may be told, '' where there is none: a name that was asked for
 * is shown; one that a forward took from a value is as secret as that.
 */
export function safeNames(request: HttpRequest | undefined): SafeNames {
  if (request === undefined) return { module: '', controller: '', action: '' }
  const { module, controller, action } = request
  const strange = [module, controller, action].filter(
    (name) => !DEFAULTS.includes(name) && !isRequested(name, request),
  )
  // All at once, and most often none: the values of the request are gone through for it.
  const scrubbed = strange.length > 0 ? scrubAll(strange, request) : []
  const secret = strange.filter((name, i) => scrubbed[i] !== name)
  const show = (name: string): string => (secret.includes(name) ? shapeOf(name) : safeName(name))
  return { module: show(module), controller: show(controller), action: show(action) }
}

/** Whether a name of a request stands in its path, where names do. */
export function isRequested(name: string, { path }: HttpRequest): boolean {
  return path.startsWith(`${name}/`, 1) || path.split('/', 4).includes(name)
}
