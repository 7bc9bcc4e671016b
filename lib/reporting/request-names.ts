import { NoActionError, NoControllerError, NoRouteError } from '../http/errors.ts'
import { isInstance, read } from '../http/exceptions.ts'
import { copyOf } from '../http/params.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import type { Route } from '../http/route.ts'
import { sentPathOf } from './sent-values.ts'
import { hasNameCharacters, isName, shapeOf } from './shape.ts'

/** The names of a request, without a secret. */
export type SafeNames = Pick<Route, 'module' | 'controller' | 'action'>

// The names that the routing fills in.
const DEFAULTS: readonly string[] = ['', 'default', 'index']
const NO_ROUTE = new NoRouteError().message

/**
 * Returns module, controller and action of a request, '' for each one that is missing. A registered
 * name is shown, and so is a name from the path that looks like a name. Any other name, such as one that
 * a forward took from a variable, is shown as its shape. Returns copies, because a subscriber or `onReport` may keep them.
 */
export function safeNames(request: HttpRequest | undefined): SafeNames {
  if (request === undefined) return { module: '', controller: '', action: '' }
  const { module, controller, action } = request
  return {
    module: copyOf(showName(module, request)),
    controller: copyOf(showName(controller, request)),
    action: copyOf(showName(action, request)),
  }
}

function showName(name: string, request: HttpRequest): string {
  if (DEFAULTS.includes(name) || (isRequested(name, request) && isName(name))) return name
  // Under `names: 'zf1'`, a registered name has spellings with any other characters.
  const isRegistered = hasNameCharacters(name) && stateOf(request).settings.isRegistered?.(name)
  return isRegistered ? name : shapeOf(name)
}

// Returns whether the routing has read a name in the path. A forward may take one from another segment, which may be secret.
function isRequested(name: string, request: HttpRequest): boolean {
  const { module, controller, action } = stateOf(request).firstRoute ?? request
  if (![module, controller, action].includes(name)) return false
  const sent = sentPathOf(request)
  return sent.startsWith(`${name}/`, 1) || sent.split('/', 4).includes(name)
}

/**
 * Returns the message of an exception that contains at most a name of the request: with the safe name. Such
 * a message is not scrubbed: if a parameter also has the value `signin`, the name is still shown.
 *
 * @returns undefined for any other exception.
 */
export function messageAboutNames(exception: Error, request: HttpRequest): string | undefined {
  const { controller, action } = request
  if (isInstance(NoControllerError, exception) && exception.controller === controller) {
    return new NoControllerError(showName(controller, request)).message
  }
  if (isInstance(NoActionError, exception) && exception.action === action) {
    return new NoActionError(showName(action, request)).message
  }
  // The class is exported: an application may put the target into the message.
  const isStandard = isInstance(NoRouteError, exception) && read(exception, 'message') === NO_ROUTE
  return isStandard ? NO_ROUTE : undefined
}
