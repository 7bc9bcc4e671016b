import {
  NoActionError,
  NoControllerError,
  NoRouteError,
  noActionMessage,
  noControllerMessage,
  ownMessageOf,
} from '../http/errors.ts'
import { isInstance, read } from '../http/exceptions.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import type { Route } from '../http/route.ts'
import { sentPathOf } from '../scrubbing/sent-values.ts'
import { hasNameCharacters, isName, shapeOf } from '../scrubbing/shape.ts'

/** The names of a request, without a secret. */
export type SafeNames = Pick<Route, 'module' | 'controller' | 'action'>

// The names that the routing fills in, also for a REST route.
const DEFAULTS = ['', 'default', 'index', 'get', 'post', 'put', 'patch', 'delete']
const NO_ROUTE = new NoRouteError().message

/**
 * Returns module, controller and action of a request, '' for each one that is missing. A registered
 * name is shown, and so is a name from the path that looks like a name. Any other name, such as one that
 * a forward took from a variable, is shown as its shape. A name may be a part of the target: see `copyOf()`.
 */
export function safeNames(request: HttpRequest | undefined): SafeNames {
  if (request === undefined) return { module: '', controller: '', action: '' }
  const state = stateOf(request)
  const { module, controller, action } = state
  state.safeNames ??= {
    module: showName(module, request),
    controller: showName(controller, request),
    action: showName(action, request),
  }
  return state.safeNames
}

function showName(name: string, request: HttpRequest): string {
  if (DEFAULTS.includes(name) || (isRequested(name, request) && isName(name))) return name
  // Under `names: 'zf1'`, a registered name has spellings with any other characters.
  const isRegistered = hasNameCharacters(name) && stateOf(request).settings.isRegistered?.(name)
  return isRegistered ? name : shapeOf(name)
}

// Reports whether the routing has read a name in the path. A forward may take one from another segment, which may be secret.
function isRequested(name: string, request: HttpRequest): boolean {
  const { module, controller, action } = stateOf(request).firstRoute ?? request
  if (name !== controller && name !== action && name !== module) return false
  const sent = sentPathOf(request)
  // Compares by hand: split() takes 5 % of the time of an unrouted request.
  let start = 0
  for (let segments = 0; segments < 4; segments++) {
    const end = start + name.length
    if (sent.startsWith(name, start) && (end === sent.length || sent[end] === '/')) return true
    start = sent.indexOf('/', start) + 1
    if (start === 0) return false
  }
  return false
}

/**
 * Returns the message of an exception of Portico that contains at most a name of the request: with the safe name. Such
 * a message is not scrubbed: if a parameter also has the value `signin`, the name is still shown.
 *
 * @returns undefined for any other exception.
 */
export function messageAboutNames(exception: Error, request: HttpRequest): string | undefined {
  const { controller, action } = request
  if (isInstance(NoControllerError, exception) && exception.controller === controller) {
    return noControllerMessage(safeNames(request).controller)
  }
  if (isInstance(NoActionError, exception) && exception.action === action) {
    return noActionMessage(safeNames(request).action)
  }
  // The class is exported: an application may put the target into the message.
  const isStandard = isInstance(NoRouteError, exception) && read(exception, 'message') === NO_ROUTE
  return isStandard ? NO_ROUTE : ownMessageOf(exception)
}
