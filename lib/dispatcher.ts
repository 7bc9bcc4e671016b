import type { Action, Controller, Controllers } from './controller.ts'
import { HttpError, NoActionError, NoControllerError } from './errors.ts'
import { actionName, type Names } from './names.ts'
import type { HttpRequest } from './request.ts'
import type { HttpResponse } from './response.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

// A controller and its actions, as they are looked up.
interface Entry {
  readonly controller: Controller
  readonly actions: ReadonlyMap<string, Choice>
}

interface Choice {
  readonly action: Action
  /** The methods it takes; undefined for all. */
  readonly methods: readonly string[] | undefined
}

/** Looks the action up, and calls it. */
export class Dispatcher {
  readonly #modules: ReadonlyMap<string, ReadonlyMap<string, Entry>>
  readonly #names: Names
  readonly #errorKey: string

  /** @throws {TypeError} If a name can't be reached, or two are one under the rule of names. */
  constructor(modules: Iterable<readonly [string, Controllers]>, names: Names) {
    this.#names = names
    this.#errorKey = names.controller('error')
    this.#modules = keyed(modules, names.module, 'module', (controllers) =>
      keyed(controllers, names.controller, 'controller', (controller, name) => ({
        controller,
        actions: this.#actionsOf(controller, name),
      })),
    )
  }

  /**
   * Runs the action of a request.
   *
   * @returns What the action returned: another request, nothing, or a promise of those.
   * @throws {NoControllerError | NoActionError | HttpError} If there is none, or not for this method.
   */
  dispatch(request: HttpRequest, response: HttpResponse): unknown {
    const { controller, actions } = this.#find(request)
    const choice = actions.get(this.#names.action(request.action))
    if (choice === undefined) throw new NoActionError(request.action)

    const { action, methods } = choice
    // The error action answers whatever the method was.
    if (request.errorHandler !== undefined || takes(methods, request.method)) {
      // Not action.call(): a function may have a property of that name.
      return Reflect.apply(action, controller, [request, response])
    }
    if (methods === undefined || request.method !== 'OPTIONS') throw notAllowed(methods)
    response.status = 204
    response.headers.set('Allow', methods.join(', '))
    return undefined
  }

  #find(request: HttpRequest): Entry {
    const { module, controller } = request
    const key = this.#names.controller(controller)
    const entry = this.#modules.get(this.#names.module(module))?.get(key)
    if (entry === undefined || (this.#isErrorController(module, key) && !request.errorHandler)) {
      throw new NoControllerError(controller)
    }
    return entry
  }

  // Nobody may ask for the error page, or bring an error handler of one's own: there is none but the loop's.
  #isErrorController(module: string, key: string): boolean {
    return key === this.#errorKey && this.#names.module(module) === 'default'
  }

  // Own properties only: /news/constructor must be a 404, never Object's constructor.
  #actionsOf(controller: Controller, name: string): ReadonlyMap<string, Choice> {
    if (typeof controller !== 'object' || controller === null) {
      throw new TypeError(`Expected the controller "${name}" to be an object of functions`)
    }
    const functions = Object.entries(controller).filter(([, value]) => typeof value === 'function')
    const named = functions.map(([name, action]) => [actionName(name), action] as [string, Action])
    return keyed(named, this.#names.action, 'action', (action) => ({
      action,
      methods: methodsOf(action),
    }))
  }
}

function keyed<T, U>(
  entries: Iterable<readonly [string, T]>,
  toKey: (name: string) => string,
  what: string,
  map: (value: T, name: string) => U,
): ReadonlyMap<string, U> {
  const byKey = new Map<string, U>()
  for (const [name, value] of entries) {
    const key = toKey(name)
    if (key === '' || /[/?#\s]/.test(name))
      throw new TypeError(`No URL can name the ${what} "${name}"`)
    if (byKey.has(key)) throw new TypeError(`The ${what} "${name}" has the name of another one`)
    byKey.set(key, map(value, name))
  }
  return byKey
}

function methodsOf(action: Action): readonly string[] | undefined {
  const methods = Object.hasOwn(action, 'methods') ? action.methods : undefined
  if (methods === undefined) return undefined
  if (!Array.isArray(methods) || !methods.every((method) => METHODS.includes(method))) {
    throw new TypeError(`Expected "methods" to be a list out of ${METHODS.join(', ')}`)
  }
  const implied = methods.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS']
  return [...new Set([...methods, ...implied])]
}

function takes(methods: readonly string[] | undefined, method: string): boolean {
  // TRACE would mirror the headers that a proxy added, secrets too.
  if (methods === undefined) return method !== 'TRACE'
  return methods.includes(method) && method !== 'OPTIONS'
}

function notAllowed(methods: readonly string[] = METHODS): HttpError {
  return new HttpError(405, 'The method is not allowed here', {
    headers: { Allow: methods.join(', ') },
  })
}
