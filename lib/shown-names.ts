import type { HttpRequest, Route } from './request.ts'
import { scrubAll } from './scrub.ts'
import { shapeOf, shownName } from './shape.ts'

/** The names of a request, as they may be told. */
export type ShownNames = Pick<Route, 'module' | 'controller' | 'action'>

/** Those of no request. */
export const NO_NAMES: ShownNames = { module: '', controller: '', action: '' }

// Where a path leaves names out.
const DEFAULTS: readonly string[] = ['default', 'index']

/**
 * Module, controller and action of a request as they may be told: a name that was asked for is shown; one that a
 * forward took from a value is as secret as that.
 */
export function shownNames(request: HttpRequest): ShownNames {
  const show = (name: string): string => {
    const isKnown = DEFAULTS.includes(name) || isAsked(name, request)
    return isKnown || scrubAll([name], request)[0] === name ? shownName(name) : shapeOf(name)
  }
  const { module, controller, action } = request
  return { module: show(module), controller: show(controller), action: show(action) }
}

/** Whether a name of a request stands in its path, where names do. */
export function isAsked(name: string, { path }: HttpRequest): boolean {
  return path.startsWith(`${name}/`, 1) || path.split('/', 4).includes(name)
}
