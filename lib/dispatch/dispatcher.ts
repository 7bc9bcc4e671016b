import {
  type Action,
  type Controller,
  type Controllers,
  isAction,
} from '../controllers/controller.ts'
import { checkedMethods } from '../controllers/methods.ts'
import { HttpError, NoActionError, NoControllerError } from '../http/errors.ts'
import { FORBIDDEN_METHODS, STANDARD_METHODS } from '../http/methods.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import type { Route } from '../http/route.ts'
import { actionName, type NameKeys } from '../routing/name-rules.ts'

/** An action that can be run. */
export interface RegisteredAction {
  readonly controller: Controller
  readonly action: Action
  /** The methods that it accepts; undefined for all. */
  readonly methods: readonly string[] | undefined
}

/** An action with the names that it is registered under. */
export interface NamedAction {
  readonly module: string
  readonly controller: string
  readonly action: string
  readonly found: RegisteredAction
  /** Whether it belongs to the error controller, which no client can request. */
  readonly isHidden: boolean
}

interface RegisteredModule {
  readonly name: string
  readonly controllers: Map<string, RegisteredController>
}

interface RegisteredController {
  readonly name: string
  readonly isHidden: boolean
  readonly actions: Map<string, RegisteredName>
}

interface RegisteredName {
  readonly name: string
  readonly found: RegisteredAction
}

/** Finds the action of a request, and calls it. */
export class Dispatcher {
  // Maps by key: with the rule `zf1`, several names have one key.
  readonly #modules = new Map<string, RegisteredModule>()
  readonly #names: NameKeys

  /** @throws {TypeError} If no URL can contain a name, or two names have the same key. */
  constructor(modules: Iterable<readonly [name: string, Controllers]>, names: NameKeys) {
    this.#names = names
    for (const [name, controllers] of modules) {
      const module: RegisteredModule = { name, controllers: new Map() }
      register(this.#modules, names.module(name), module, 'module')
      for (const [controllerName, controller] of controllers) {
        const key = names.controller(controllerName)
        const isHidden = name === 'default' && key === names.controller('error')
        const actions = actionsOf(controller, controllerName, names)
        register(module.controllers, key, { name: controllerName, isHidden, actions }, 'controller')
      }
    }
  }

  /** All actions, including those of the error controller. */
  get actions(): readonly NamedAction[] {
    const all: NamedAction[] = []
    for (const module of this.#modules.values()) {
      for (const { name: controller, isHidden, actions } of module.controllers.values()) {
        for (const { name: action, found } of actions.values()) {
          all.push({ module: module.name, controller, action, found, isHidden })
        }
      }
    }
    return all
  }

  /** The names of all actions that a client can request, such as `news/list`, `admin/report/daily`. */
  get registered(): readonly string[] {
    return this.actions.filter(({ isHidden }) => !isHidden).map(fullName)
  }

  /** Whether a routed request leads to a controller that a client can request. */
  hasController(request: HttpRequest): boolean {
    const controller = this.#controllerOf(request)
    return controller?.isHidden === false && stateOf(request).rejection === undefined
  }

  /**
   * Returns the action of a request, or the error that there is none. The error is returned because throwing it took a
   * tenth of the time of an unrouted request.
   */
  find(request: HttpRequest): RegisteredAction | NoControllerError | NoActionError {
    const controller = this.#controllerOf(request)
    // Only the loop can request the error controller, with an error handler of its own.
    const isForbidden = controller?.isHidden === true && request.errorHandler === undefined
    if (controller === undefined || isForbidden) return new NoControllerError(request.controller)
    const action = controller.actions.get(this.#names.action(request.action))
    return action?.found ?? new NoActionError(request.action)
  }

  /**
   * Calls an action.
   *
   * @returns What the action returned: another request, nothing, or a promise of either.
   * @throws {HttpError} 405 if the action does not accept the method of the request.
   */
  run(found: RegisteredAction, request: HttpRequest, response: HttpResponse): unknown {
    const { controller, action, methods } = found
    // The error action responds to every method.
    if (request.errorHandler !== undefined || allowsMethod(methods, request.method)) {
      // Not action.call(): a function can have an own property of that name.
      return Reflect.apply(action, controller, [request, response])
    }
    if (methods === undefined || request.method !== 'OPTIONS') throw methodNotAllowed(methods)
    response.status = 204
    response.headers.set('Allow', methods.join(', '))
    return undefined
  }

  #controllerOf({ module, controller }: HttpRequest): RegisteredController | undefined {
    const registered = this.#modules.get(this.#names.module(module))
    return registered?.controllers.get(this.#names.controller(controller))
  }
}

/** Returns the name of an action, such as `news/list`, `admin/report/daily`. */
export function fullName({ module, controller, action }: Route): string {
  return [...(module === 'default' ? [] : [module]), controller, action].join('/')
}

// Own properties only: /news/constructor must be a 404, not Object's constructor.
function actionsOf(
  controller: Controller,
  controllerName: string,
  names: NameKeys,
): Map<string, RegisteredName> {
  if (typeof controller !== 'object' || controller === null) {
    throw new TypeError(`Expected the controller "${controllerName}" to be an object of functions`)
  }
  const actions = new Map<string, RegisteredName>()
  for (const [property, action] of Object.entries(controller)) {
    if (!isAction(action)) continue
    const name = actionName(property)
    const methods = methodsOf(action, `${controllerName}/${name}`)
    const found = { controller, action, methods }
    register(actions, names.action(name), { name, found }, 'action')
  }
  return actions
}

function register<T extends { readonly name: string }>(
  registry: Map<string, T>,
  key: string,
  entry: T,
  kind: string,
): void {
  const { name } = entry
  if (key === '' || /[/?#\s]/.test(name)) {
    throw new TypeError(`No URL can name the ${kind} "${name}"`)
  }
  const other = registry.get(key)
  if (other !== undefined) {
    throw new TypeError(`The ${kind} "${name}" has the name of another one, "${other.name}"`)
  }
  registry.set(key, entry)
}

function methodsOf(action: Action, name: string): readonly string[] | undefined {
  // A misspelt restriction would allow every method.
  if (Object.hasOwn(action, 'method')) {
    throw new TypeError(`There is no "method" for the action "${name}": did you mean "methods"?`)
  }
  if (!Object.hasOwn(action, 'methods') || action.methods === undefined) return undefined
  const methods = checkedMethods(action.methods, `the action "${name}"`)
  const implied = methods.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS']
  return [...new Set([...methods, ...implied])]
}

/** Whether an action accepts a method. OPTIONS is handled for an action with a restriction. */
export function allowsMethod(methods: readonly string[] | undefined, method: string): boolean {
  if (methods === undefined) return !FORBIDDEN_METHODS.includes(method)
  return methods.includes(method) && method !== 'OPTIONS'
}

/** Returns the 405 for a method that an action does not accept. */
export function methodNotAllowed(methods: readonly string[] = STANDARD_METHODS): HttpError {
  return new HttpError(405, 'The method is not allowed here', {
    headers: { Allow: methods.join(', ') },
  })
}
