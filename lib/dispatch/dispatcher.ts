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

// What is registered under a name, by the key that the name is looked up by.
type Registry<T> = ReadonlyMap<string, { readonly name: string; readonly value: T }>

/** An action that can be run. */
export interface RegisteredAction {
  readonly controller: Controller
  readonly action: Action
  /** The methods it takes; undefined for all. */
  readonly methods: readonly string[] | undefined
}

/** An action under the names that it is registered by. */
export interface NamedAction {
  readonly module: string
  readonly controller: string
  readonly action: string
  readonly found: RegisteredAction
  /** Whether it belongs to the error controller, which nobody can ask for. */
  readonly isHidden: boolean
}

/** Looks the action up, and calls it. */
export class Dispatcher {
  readonly #modules: Registry<Registry<Registry<RegisteredAction>>>
  readonly #names: NameKeys
  readonly #errorKey: string

  /** @throws {TypeError} If a name can't be reached, or two are one under the rule of names. */
  constructor(modules: Iterable<readonly [string, Controllers]>, names: NameKeys) {
    this.#names = names
    this.#errorKey = names.controller('error')
    this.#modules = register(modules, names.module, 'module', (controllers) =>
      register(controllers, names.controller, 'controller', (controller, name) =>
        this.#actionsOf(controller, name),
      ),
    )
  }

  /** Every action, those of the error controller too. */
  get actions(): readonly NamedAction[] {
    return [...this.#modules].flatMap(([moduleKey, module]) =>
      [...module.value].flatMap(([key, { name: controller, value }]) =>
        [...value.values()].map(({ name: action, value: found }) => ({
          module: module.name,
          controller,
          action,
          found,
          isHidden: this.#isErrorController(moduleKey, key),
        })),
      ),
    )
  }

  /** Every action that can be asked for, such as `news/list`, `admin/report/daily`. */
  get registered(): readonly string[] {
    return this.actions.filter(({ isHidden }) => !isHidden).map(fullName)
  }

  /** Whether a request that was routed leads to a controller that can be asked for. */
  hasController(request: HttpRequest): boolean {
    const { module, controller } = request
    const [moduleKey, key] = [this.#names.module(module), this.#names.controller(controller)]
    return (
      stateOf(request).rejection === undefined &&
      this.#modules.get(moduleKey)?.value.has(key) === true &&
      !this.#isErrorController(moduleKey, key)
    )
  }

  /**
   * The action of a request, or the error that says why there is none. Returned, and not thrown: to throw
   * took a tenth of the time of an unrouted request.
   */
  find(request: HttpRequest): RegisteredAction | NoControllerError | NoActionError {
    const { module, controller, action } = request
    const moduleKey = this.#names.module(module)
    const key = this.#names.controller(controller)
    const registered = this.#modules.get(moduleKey)?.value.get(key)
    // Nobody may ask for the error page, or bring an error handler of one's own: there is none but the loop's.
    const isHidden = request.errorHandler === undefined && this.#isErrorController(moduleKey, key)
    if (registered === undefined || isHidden) return new NoControllerError(controller)
    const found = registered.value.get(this.#names.action(action))
    return found === undefined ? new NoActionError(action) : found.value
  }

  /**
   * Runs an action.
   *
   * @returns What the action returned: another request, nothing, or a promise of those.
   * @throws {HttpError} If it is not for the method of the request.
   */
  run(found: RegisteredAction, request: HttpRequest, response: HttpResponse): unknown {
    const { controller, action, methods } = found
    // The error action answers whatever the method was.
    if (request.errorHandler !== undefined || allowsMethod(methods, request.method)) {
      // Not action.call(): a function may have a property of that name.
      return Reflect.apply(action, controller, [request, response])
    }
    if (methods === undefined || request.method !== 'OPTIONS') throw methodNotAllowed(methods)
    response.status = 204
    response.headers.set('Allow', methods.join(', '))
    return undefined
  }

  #isErrorController(moduleKey: string, key: string): boolean {
    return moduleKey === 'default' && key === this.#errorKey
  }

  // Own properties only: /news/constructor must be a 404, never Object's constructor.
  #actionsOf(controller: Controller, name: string): Registry<RegisteredAction> {
    if (typeof controller !== 'object' || controller === null) {
      throw new TypeError(`Expected the controller "${name}" to be an object of functions`)
    }
    const functions = Object.entries(controller).filter(([, value]) => isAction(value))
    const named = functions.map(([name, action]) => [actionName(name), action] as [string, Action])
    return register(named, this.#names.action, 'action', (action, actionName) => ({
      controller,
      action,
      methods: methodsOf(action, `${name}/${actionName}`),
    }))
  }
}

/** Such as `news/list`, `admin/report/daily`. */
export function fullName({ module, controller, action }: Route): string {
  return [...(module === 'default' ? [] : [module]), controller, action].join('/')
}

function register<T, U>(
  entries: Iterable<readonly [string, T]>,
  toKey: (name: string) => string,
  what: string,
  map: (value: T, name: string) => U,
): Registry<U> {
  const byKey = new Map<string, { name: string; value: U }>()
  for (const [name, value] of entries) {
    const key = toKey(name)
    if (key === '' || /[/?#\s]/.test(name)) {
      throw new TypeError(`No URL can name the ${what} "${name}"`)
    }
    const other = byKey.get(key)?.name
    if (other !== undefined) {
      throw new TypeError(`The ${what} "${name}" has the name of another one, "${other}"`)
    }
    byKey.set(key, { name, value: map(value, name) })
  }
  return byKey
}

function methodsOf(action: Action, name: string): readonly string[] | undefined {
  // Taken for nothing, it would let every method pass.
  if (Object.hasOwn(action, 'method')) {
    throw new TypeError(`There is no "method" for the action "${name}": did you mean "methods"?`)
  }
  if (!Object.hasOwn(action, 'methods') || action.methods === undefined) return undefined
  const methods = checkedMethods(action.methods, `the action "${name}"`)
  const implied = methods.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS']
  return [...new Set([...methods, ...implied])]
}

/** Whether an action takes a method; OPTIONS is answered for one that is restricted. */
export function allowsMethod(methods: readonly string[] | undefined, method: string): boolean {
  if (methods === undefined) return !FORBIDDEN_METHODS.includes(method)
  return methods.includes(method) && method !== 'OPTIONS'
}

/** The error of a method that an action does not take. */
export function methodNotAllowed(methods: readonly string[] = STANDARD_METHODS): HttpError {
  return new HttpError(405, 'The method is not allowed here', {
    headers: { Allow: methods.join(', ') },
  })
}
