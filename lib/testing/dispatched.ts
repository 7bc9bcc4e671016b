import {
  type Controller,
  type Controllers,
  functionsOf,
  wrapAction,
} from '../controllers/controller.ts'
import { FrontController, partsOf } from '../dispatch/front-controller.ts'
import type { FrontControllerOptions, OptionsWithMaps } from '../dispatch/options.ts'
import type { Hook, Plugin } from '../dispatch/plugin.ts'
import type { ErrorType } from '../http/errors.ts'
import { factsOf } from '../http/exceptions.ts'
import type { HttpRequestInit } from '../http/message.ts'
import { HttpRequest, isRequest } from '../http/request.ts'
import { clientParamsOf } from '../http/request-readers.ts'

/** The action that a request is dispatched to, with its parameters. */
export interface Dispatched {
  /** The name of the module, such as `default`. */
  readonly module: string
  /** The name of the controller. */
  readonly controller: string
  /** The name of the action. */
  readonly action: string
  /** The merged parameters, without the reserved names. */
  readonly params: Readonly<Record<string, string>>
  /** The type of the error, if no action would run. */
  readonly type?: ErrorType
  /** The status of that error, which the built-in error controller responds with. */
  readonly status?: number
}

const dryRuns = new WeakMap<FrontController, FrontController>()

/**
 * Returns where a request is dispatched, without running the action or the error action.
 *
 * Routing, limits, the form, the methods of the action and the plugins' hooks up to `preDispatch` work as
 * usual. Nothing is logged. The diagnostics channels publish as for any request.
 *
 * @param request A target, the init of a request, or a request, whose form body is read.
 * @example
 * assert.deepEqual(await dispatched(front, '/news/list?page=2'), {
 *   module: 'default',
 *   controller: 'news',
 *   action: 'list',
 *   params: { page: '2' },
 * })
 */
export async function dispatched(
  front: FrontController,
  request: string | HttpRequestInit | HttpRequest,
): Promise<Dispatched> {
  if (!(front instanceof FrontController))
    throw new TypeError('Expected a FrontController, such as new FrontController(options)')
  const init = typeof request === 'string' ? { target: request } : request
  const original = isRequest(init) ? init : new HttpRequest(init)
  const response = await dryRunOf(front).handle(original)
  const last = response.request ?? original
  const { module, controller, action } = last
  const route = { module, controller, action, params: Object.fromEntries(clientParamsOf(last)) }
  const [exception] = response.exceptions
  if (exception === undefined) return route
  const { type, status } = factsOf(exception)
  return { ...route, type, status }
}

// Returns the same front controller with empty actions. The real loop computes the result, so it can't differ.
function dryRunOf(front: FrontController): FrontController {
  const dryRun = dryRuns.get(front) ?? new FrontController(dryRunOptions(partsOf(front).options))
  dryRuns.set(front, dryRun)
  return dryRun
}

function dryRunOptions(options: OptionsWithMaps): FrontControllerOptions {
  const { controllers, modules, plugins = [] } = options
  return {
    ...options,
    controllers: emptyAll(controllers),
    modules: new Map([...modules].map(([name, each]) => [name, emptyAll(each)])),
    plugins: plugins.map(stopAtPreDispatch),
    logger: undefined,
    onReport: undefined,
    development: false,
    showValues: false,
  }
}

function emptyAll(controllers: Controllers): Controllers {
  return new Map([...controllers].map(([name, controller]) => [name, emptyActions(controller)]))
}

function emptyActions(controller: Controller): Controller {
  return Object.fromEntries(
    [...functionsOf(controller)].map(([name, action]) => [name, wrapAction(() => {}, action)]),
  )
}

// The result describes the original request, so no hook runs for the dispatch of the error action.
function stopAtPreDispatch(plugin: Plugin): Plugin {
  const hook =
    (name: keyof Plugin): Hook =>
    (request, response) =>
      request.errorHandler === undefined ? plugin[name]?.(request, response) : undefined
  return {
    routeStartup: hook('routeStartup'),
    routeShutdown: hook('routeShutdown'),
    dispatchLoopStartup: hook('dispatchLoopStartup'),
    preDispatch: hook('preDispatch'),
  }
}
