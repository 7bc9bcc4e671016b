import { functionsOf, type Returned } from '../controllers/controller.ts'
import type { HttpRequest } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'

/**
 * A function that a plugin runs at one point of a request. A request that it returns replaces the current one:
 * make it by `request.forward()`; a new `HttpRequest` is a TypeError. If it returns the response, the request ends:
 * no further action or hook runs but `dispatchLoopShutdown`.
 */
export type Hook = (request: HttpRequest, response: HttpResponse) => Returned | Promise<Returned>

/**
 * Hooks that run for every request, at the six points of ZF1.
 *
 * A plugin whose hook throws is skipped for the action `error/error` only. Its hooks run again if the error action
 * forwards. If they throw again, the response is a bare 500.
 */
export interface Plugin {
  /** Before the request is rewritten and routed. */
  readonly routeStartup?: Hook
  /** After routing: module, controller and action are known. */
  readonly routeShutdown?: Hook
  /** Before the first dispatch; the form has been read. */
  readonly dispatchLoopStartup?: Hook
  /**
   * Before each dispatch, including that of the error action. A returned request is dispatched instead. An access rule
   * belongs here: the hooks above do not see the target of a forward.
   */
  readonly preDispatch?: Hook
  /** After each dispatch that did not fail. A returned request is dispatched next. */
  readonly postDispatch?: Hook
  /** After the last dispatch. A returned request is ignored. */
  readonly dispatchLoopShutdown?: Hook
}

/** The names of the hooks, in the order in which they run. */
export const HOOKS: readonly (keyof Plugin)[] = [
  'routeStartup',
  'routeShutdown',
  'dispatchLoopStartup',
  'preDispatch',
  'postDispatch',
  'dispatchLoopShutdown',
]

/** The message about plugins that are not a list of objects. */
export const NO_PLUGINS = 'Expected "plugins" to be a list of objects'

/**
 * Checks a plugin. A misspelt hook would never run, and might leave a page without protection.
 *
 * @throws {TypeError} If the plugin is not an object, a hook is not a function or is misspelt, or no function is a hook.
 */
export function checkPlugin(plugin: Plugin, name: string): void {
  if (Object(plugin) !== plugin) throw new TypeError(NO_PLUGINS)
  const present = HOOKS.filter((hook) => plugin[hook] !== undefined)
  const wrong = present.find((hook) => typeof plugin[hook] !== 'function')
  const functions = [...functionsOf(plugin).keys()]
  checkHooks(wrong, functions, HOOKS, name)
  if (functions.length > 0 && present.length === 0) {
    throw new TypeError(`Expected ${name} to have at least one hook of ${HOOKS.join(', ')}`)
  }
}

/**
 * Checks the hooks of a plugin or a controller.
 *
 * @param wrong The first hook that is not a function; undefined if there is none.
 * @param functions The names of all its functions.
 * @throws {TypeError} If there is a wrong hook, or the name of a function is that of a hook but for its case.
 */
export function checkHooks(
  wrong: string | undefined,
  functions: readonly string[],
  hooks: readonly string[],
  name: string,
): void {
  if (wrong !== undefined) throw new TypeError(`Expected "${wrong}" of ${name} to be a function`)
  for (const each of functions) {
    const meant = hooks.find((hook) => hook.toLowerCase() === each.toLowerCase())
    if (meant === undefined || meant === each) continue
    throw new TypeError(`There is no hook "${each}" for ${name}: did you mean "${meant}"?`)
  }
}
