import { nearestName } from '../http/check-options.ts'
import { NoActionError, NoControllerError } from '../http/errors.ts'
import type { HttpRequest } from '../http/request.ts'
import { fullName } from '../http/route.ts'
import type { SiteParts } from './action-urls.ts'
import type { RegisteredAction } from './registered-controller.ts'

/**
 * Returns the registered action, or the controller, with the name that is most similar to a requested one; undefined if none is
 * similar, or the exception is not about a name.
 */
export function nearestOf(
  site: SiteParts,
  request: HttpRequest,
  exception: Error,
): string | undefined {
  const isMissing = exception instanceof NoControllerError || exception instanceof NoActionError
  if (!isMissing) return undefined
  const { registered } = site.dispatcher
  // Compares the whole name, then the start of the path (its first segment may be a misspelt module), then the name of the
  // controller.
  const { path, module, controller } = request
  const start = path.split('/', 4).slice(1).join('/')
  for (const requested of start.includes('/') ? [fullName(request), start] : []) {
    const nearest = nearestName(requested, registered)
    if (nearest !== undefined) return nearest
  }
  if (exception instanceof NoActionError) return undefined
  return nearestName(controller, controllersOfModule(site, module))
}

/** Returns the actions of a module. */
export function actionsOfModule(
  { dispatcher, names }: SiteParts,
  module: string,
): readonly RegisteredAction[] {
  const key = names.module(module)
  return dispatcher.actions.filter((each) => names.module(each.module) === key)
}

/** Returns the controllers that a client can request, each as often as it has actions. */
export function controllersOfModule(site: SiteParts, module: string): readonly string[] {
  const visible = actionsOfModule(site, module).filter(({ isHidden }) => !isHidden)
  return visible.map(({ controller }) => controller)
}
