import { nextRequest } from '../controllers/controller.ts'
import { isPromiseLike } from '../http/is-promise-like.ts'
import type { HttpRequest } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import { type Steps, wait } from './steps.ts'

/** What a plugin does at a moment. Another request that it returns takes the place of the one given. */
export type Hook = (
  request: HttpRequest,
  response: HttpResponse,
  // biome-ignore lint/suspicious/noConfusingVoidType: a moment that returns nothing is the common one.
) => void | HttpRequest | Promise<void | HttpRequest>

/** What takes part in every request, at the six moments that ZF1 knows. */
export interface Plugin {
  /** Before the request is rewritten and routed. */
  readonly routeStartup?: Hook
  /** After that: module, controller and action are known. */
  readonly routeShutdown?: Hook
  /** Before the loop goes round for the first time; the form has been read. */
  readonly dispatchLoopStartup?: Hook
  /** Before each dispatch, that of the error action included; a request it returns is dispatched instead. */
  readonly preDispatch?: Hook
  /** After each dispatch that did not fail; a request it returns is dispatched next. */
  readonly postDispatch?: Hook
  /** After the last round; a request it returns comes too late. */
  readonly dispatchLoopShutdown?: Hook
}

const HOOKS: readonly (keyof Plugin)[] = [
  'routeStartup',
  'routeShutdown',
  'dispatchLoopStartup',
  'preDispatch',
  'postDispatch',
  'dispatchLoopShutdown',
]

/**
 * Checks a plugin: a guard with a misspelt moment would let everybody pass.
 *
 * @throws {TypeError} If it is no object, a moment of it no function, or none of its functions a moment.
 */
export function checkPlugin(plugin: Plugin, name: string): void {
  if (Object(plugin) !== plugin) throw new TypeError('Expected "plugins" to be a list of objects')
  const given = HOOKS.filter((moment) => plugin[moment] !== undefined)
  for (const moment of given) {
    if (typeof plugin[moment] === 'function') continue
    throw new TypeError(`Expected "${moment}" of ${name} to be a function`)
  }
  const functions = functionNamesOf(plugin)
  for (const each of functions) {
    const meant = HOOKS.find((moment) => moment.toLowerCase() === each.toLowerCase())
    if (meant === undefined || meant === each) continue
    throw new TypeError(`There is no moment "${each}" for ${name}: did you mean "${meant}"?`)
  }
  if (functions.length > 0 && given.length === 0) {
    throw new TypeError(`Expected ${name} to have a moment out of ${HOOKS.join(', ')}`)
  }
}

// Those of its class too.
function functionNamesOf(object: object): readonly string[] {
  const names: string[] = []
  for (let each = object; each && each !== Object.prototype; each = Object.getPrototypeOf(each)) {
    const properties = Object.entries(Object.getOwnPropertyDescriptors(each))
    const functions = properties.filter(([, { value }]) => typeof value === 'function')
    names.push(...functions.map(([name]) => name).filter((name) => name !== 'constructor'))
  }
  return names
}

/** Holds a promise to the limit of time. */
export type Within = <T>(request: HttpRequest, promise: PromiseLike<T>) => Promise<T>

/** Tells the plugins of one request about its moments, in the order they were given. */
export class PluginBroker {
  #plugins: readonly Plugin[]
  readonly #within: Within

  constructor(plugins: readonly Plugin[], within: Within) {
    this.#plugins = plugins
    this.#within = within
  }

  /** @returns The request that a plugin put in place of the given one, or the given one. */
  *notify(moment: keyof Plugin, request: HttpRequest, response: HttpResponse): Steps<HttpRequest> {
    let current = request
    for (const plugin of this.#plugins) {
      try {
        const returned = plugin[moment]?.(current, response)
        const next = isPromiseLike(returned)
          ? yield* wait(this.#within(current, returned))
          : returned
        current = nextRequest(next, moment) ?? current
      } catch (thrown) {
        // It sits out the rest: a plugin that refuses every request must not refuse the error action too.
        this.#plugins = this.#plugins.filter((other) => other !== plugin)
        throw thrown
      }
    }
    return current
  }
}
