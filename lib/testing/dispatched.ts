import { type Controller, type Controllers, isAction } from '../controllers/controller.ts'
import { FrontController, optionsOf } from '../dispatch/front-controller.ts'
import type { FrontControllerOptions } from '../dispatch/options.ts'
import type { Hook, Plugin } from '../dispatch/plugin.ts'
import type { ErrorType } from '../http/errors.ts'
import { factsOf } from '../http/exceptions.ts'
import type { HttpRequestInit } from '../http/message.ts'
import { clientParamsOf, HttpRequest, isRequest } from '../http/request.ts'

/** Where a request goes. */
export interface Dispatched {
  readonly module: string
  readonly controller: string
  readonly action: string
  /** The merged view, without the reserved names. */
  readonly params: Readonly<Record<string, string>>
  /** Why no action would be run; absent where one would. */
  readonly type?: ErrorType
  /** The status of that error: what the built-in error controller answers with. */
  readonly status?: number
}

const rehearsals = new WeakMap<FrontController, FrontController>()

/**
 * Tells where a request goes, and runs no action, nor the error action. Routing, limits, the form, the
 * methods of the action and the plugins, up to `preDispatch`, take part as ever. Nothing is logged; the
 * diagnostics channels are told as of any request.
 *
 * @param request A target, what a request is made from, or a request; the body of a form is read.
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
  const asked = toRequest(request)
  const response = await rehearsalOf(front).handle(asked)
  const answered = response.request ?? asked
  const { module, controller, action } = answered
  const found = { module, controller, action, params: Object.fromEntries(clientParamsOf(answered)) }
  const [exception] = response.exceptions
  if (exception === undefined) return found
  const { type, status } = factsOf(exception)
  return { ...found, type, status }
}

function toRequest(request: string | HttpRequestInit | HttpRequest): HttpRequest {
  if (isRequest(request)) return request
  return new HttpRequest(typeof request === 'string' ? { target: request } : request)
}

// The same front controller, but that its actions do nothing: so nothing of the loop is told twice.
function rehearsalOf(front: FrontController): FrontController {
  const rehearsal = rehearsals.get(front) ?? new FrontController(rehearsed(optionsOf(front)))
  rehearsals.set(front, rehearsal)
  return rehearsal
}

function rehearsed(options: FrontControllerOptions): FrontControllerOptions {
  const { controllers, modules, plugins = [] } = options
  return {
    ...options,
    controllers: controllers && idle(controllers),
    modules: modules && new Map([...modules].map(([name, each]) => [name, idle(each)])),
    plugins: plugins.map(untilDispatch),
    logger: undefined,
    onReport: undefined,
    development: false,
  }
}

function idle(controllers: Controllers): Controllers {
  return new Map([...controllers].map(([name, controller]) => [name, idleController(controller)]))
}

function idleController(controller: Controller): Controller {
  const actions = Object.entries(controller).filter(([, value]) => isAction(value))
  return Object.fromEntries(
    actions.map(([name, action]) => [
      name,
      Object.assign(() => {}, Object.hasOwn(action, 'methods') && { methods: action.methods }),
    ]),
  )
}

// Of the error action nothing is told, so nobody is asked about it.
function untilDispatch(plugin: Plugin): Plugin {
  const at =
    (moment: keyof Plugin): Hook =>
    (request, response) =>
      request.errorHandler === undefined ? plugin[moment]?.(request, response) : undefined
  return {
    routeStartup: at('routeStartup'),
    routeShutdown: at('routeShutdown'),
    dispatchLoopStartup: at('dispatchLoopStartup'),
    preDispatch: at('preDispatch'),
  }
}
