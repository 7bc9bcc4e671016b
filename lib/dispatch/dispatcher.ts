import { type Controller, type Controllers, originalOf } from '../controllers/controller.ts'
import { Checks } from '../http/check-options.ts'
import { type HttpError, NoActionError, NoControllerError, rejectionWith } from '../http/errors.ts'
import { type ErrorHandler, type HttpRequest, stateOf } from '../http/request.ts'
import { FORBIDDEN_METHODS, STANDARD_METHODS } from '../http/request-line.ts'
import type { Resolved } from '../http/request-state.ts'
import type { HttpResponse } from '../http/response.ts'
import { fullName, type Route } from '../http/route.ts'
import type { NameKeys } from '../routing/name-rules.ts'
import { CALL, isRedirect } from './controller-hooks.ts'
import {
  type RegisteredAction,
  type RegisteredController,
  register,
  registerController,
} from './registered-controller.ts'

/** Finds the action of a request, and calls it. */
export class Dispatcher {
  // The keys are those of NameKeys: with the rule `zf1`, several names have the same key.
  readonly #modules = new Map<string, Map<string, RegisteredController>>()
  readonly #names: NameKeys
  readonly #errorKey: string
  // The keys of all modules, controllers and actions, collected when a report first needs them.
  #registeredKeys: ReadonlySet<string> | undefined

  /** @throws {TypeError} If no URL can contain a name, or two names have the same key. */
  constructor(modules: Iterable<readonly [name: string, Controllers]>, names: NameKeys) {
    this.#names = names
    this.#errorKey = names.controller('error')
    const checks = new Checks()
    const moduleNames = new Map<string, string>()
    for (const [module, controllers] of modules) {
      const byKey = new Map<string, RegisteredController>()
      checks.run(() =>
        this.#modules.set(register(moduleNames, 'module', module, names.module(module)), byKey),
      )
      const controllerNames = new Map<string, string>()
      for (const [name, owner] of controllers) {
        checks.run(() => {
          const key = register(controllerNames, 'controller', name, names.controller(name))
          const isHidden = this.#isErrorController(module, key)
          byKey.set(key, registerController({ module, controller: name, owner, isHidden }, names))
        })
      }
    }
    checks.end()
  }

  /** Replaces the error controller. Called late, so that the one of the application is checked like any other. */
  replaceErrorController(owner: Controller): void {
    const names = { module: 'default', controller: 'error', owner, isHidden: true }
    this.#modules.get('default')?.set(this.#errorKey, registerController(names, this.#names))
  }

  /** All actions, including those of the error controller. */
  get actions(): readonly RegisteredAction[] {
    const controllers = [...this.#modules.values()].flatMap((module) => [...module.values()])
    return controllers.flatMap(({ actions, call }) => [
      ...actions.values(),
      ...(call ? [call] : []),
    ])
  }

  /** The actions that a client can request. */
  get reachable(): readonly RegisteredAction[] {
    return this.actions.filter(({ isHidden }) => !isHidden)
  }

  /** The names of the actions that a client can request, such as `news/list`, `admin/report/daily`. */
  get registered(): readonly string[] {
    return this.reachable.filter(({ action }) => action !== CALL).map(({ name }) => name)
  }

  /** Reports whether a module, a controller or an action is registered under a name. */
  isRegistered(name: string): boolean {
    this.#registeredKeys ??= this.#allKeys()
    const { module, controller, action } = this.#names
    return [module(name), controller(name), action(name)].some((key) =>
      this.#registeredKeys?.has(key),
    )
  }

  #allKeys(): ReadonlySet<string> {
    const controllers = [...this.#modules.values()].flatMap((module) => [...module])
    const others = controllers.flatMap(([key, { actions }]) => [key, ...actions.keys()])
    return new Set([...this.#modules.keys(), ...others])
  }

  /** Reports whether a routed request leads to a controller that a client can request. */
  hasController(request: HttpRequest): boolean {
    const { rejection, errorHandler } = stateOf(request)
    return rejection === undefined && this.#controllerOf(request, errorHandler) !== undefined
  }

  /** Reports whether a route leads to an action that a client can request. */
  hasAction(route: Route): boolean {
    return this.#controllerOf(route)?.actions.has(this.#names.action(route.action)) === true
  }

  /** Returns what a route leads to, by the names that it is registered under. */
  resolve(route: Route): Resolved {
    const { module: toModule, controller: toController, action: toAction, spell } = this.#names
    const { module, controller, action } = route
    const owner = this.#controllerOf(route)
    const actionKey = toAction(action)
    const found = owner?.actions.get(actionKey)
    return {
      module: owner?.module ?? spell(toModule(module)),
      controller: owner?.controller ?? spell(toController(controller)),
      action: found?.action ?? spell(actionKey),
      run: found && originalOf(found.run),
      registered: found ?? owner?.call,
    }
  }

  /** Returns the registered name of the action that a client requests by a route; undefined if there is none. */
  nameOf(route: Route): string | undefined {
    const owner = this.#controllerOf(route)
    return (owner?.actions.get(this.#names.action(route.action)) ?? owner?.call)?.name
  }

  /**
   * Returns the action of a request, or an error if there is none. The error is returned and not thrown, because throwing
   * took a tenth of the time of an unrouted request.
   */
  find(request: HttpRequest): RegisteredAction | NoControllerError | NoActionError {
    const controller = this.#controllerOf(request, request.errorHandler)
    if (controller === undefined) return new NoControllerError(request.controller)
    const { actions, call } = controller
    return (
      actions.get(this.#names.action(request.action)) ??
      optionsAction(request) ??
      call ??
      new NoActionError(request.action)
    )
  }

  /** Returns the action that runs the hooks before it throws the error of {@link Dispatcher.find}; undefined without hooks. */
  findHooks(request: HttpRequest): RegisteredAction | undefined {
    return this.#controllerOf(request, request.errorHandler)?.missing
  }

  /**
   * Calls an action. After a redirect, only the hooks of its controller run.
   *
   * @returns The result of the action: another request, undefined, or a promise of either.
   * @throws {HttpError} 405 if the action does not accept the method of the request.
   */
  run(action: RegisteredAction, request: HttpRequest, response: HttpResponse): unknown {
    const { owner, run, methods, hasHooks } = action
    if (!hasHooks && isRedirect(response)) return undefined
    // The error action responds to every method.
    if (request.errorHandler !== undefined || allowsMethod(methods, request.method)) {
      // Does not use run.call(): a function can have an own property of that name.
      return Reflect.apply(run, owner, [request, response])
    }
    if (methods === undefined || request.method !== 'OPTIONS') throw methodNotAllowed(methods)
    response.status = 204
    response.headers.set('Allow', methods.join(', '))
    return undefined
  }

  // Only the loop can request the error controller: its request has an error handler.
  #controllerOf(
    { module, controller }: Pick<Route, 'module' | 'controller'>,
    errorHandler?: ErrorHandler,
  ): RegisteredController | undefined {
    const moduleKey = this.#names.module(module)
    const key = this.#names.controller(controller)
    if (errorHandler === undefined && this.#isErrorController(moduleKey, key)) return undefined
    return this.#modules.get(moduleKey)?.get(key)
  }

  #isErrorController(moduleKey: string, key: string): boolean {
    return key === this.#errorKey && moduleKey === 'default'
  }
}

// Returns the action for OPTIONS to a REST resource that has no action for it; undefined for any other request.
function optionsAction(request: HttpRequest): RegisteredAction | undefined {
  const { route } = stateOf(request)
  if (route?.allow === undefined) return undefined
  return {
    ...route,
    name: fullName(route),
    owner: {},
    run: () => undefined,
    hasHooks: false,
    methods: route.allow,
    limits: undefined,
    isHidden: false,
  }
}

/** Reports whether an action accepts a method. If its methods are restricted, the dispatcher responds to OPTIONS. */
export function allowsMethod(methods: readonly string[] | undefined, method: string): boolean {
  if (methods === undefined) return !FORBIDDEN_METHODS.includes(method)
  return methods.includes(method) && method !== 'OPTIONS'
}

/** Returns the 405 for a method that an action does not accept. */
export function methodNotAllowed(methods: readonly string[] = STANDARD_METHODS): HttpError {
  return rejectionWith(405, 'The method is not allowed here', {
    headers: { Allow: methods.join(', ') },
  })
}
