import { type HttpRequest, isRequest, stateOf } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'

/**
 * A function that handles a request. It fills in the response, or returns another request to be
 * dispatched next.
 *
 * The property `methods` of the function lists the HTTP methods that it accepts. Any other method gets
 * 405 with `Allow`, `OPTIONS` gets 204, and `HEAD` is allowed if `GET` is.
 *
 * @example
 * export function save(request, response) { response.redirect('/news') }
 * save.methods = ['POST']
 */
export interface Action {
  // biome-ignore lint/suspicious/noConfusingVoidType: an action that returns nothing is the common one.
  (request: HttpRequest, response: HttpResponse): void | HttpRequest | Promise<void | HttpRequest>
  /** The allowed methods, in upper case, such as `['GET', 'POST']` (default: all but TRACE and CONNECT). */
  readonly methods?: readonly string[]
}

/**
 * An object whose own functions are actions. The URL name of `fooBar` is `foo-bar`. Properties that are
 * not functions are ignored. A module namespace (`import * as news`) is a controller.
 */
export type Controller = object

/** The controllers of a module, by their names in URLs, such as `user-admin`. */
export type Controllers = ReadonlyMap<string, Controller>

/** Reports whether a value is an action. A class is not an action: a file may export it for other files. */
export function isAction(value: unknown): value is Action {
  return typeof value === 'function' && !/^class\b/.test(Function.prototype.toString.call(value))
}

/** @throws {TypeError} If a value is not an action. */
export function checkAction(value: unknown): void {
  if (isAction(value)) return
  const kind = typeof value === 'function' ? 'class' : value === null ? 'null' : typeof value
  throw new TypeError(`Expected an action, got "${kind}"`)
}

type AnyFunction = (...args: never[]) => unknown

const originals = new WeakMap<AnyFunction, AnyFunction>()

/** Returns the function that `get()`, `withParams()` and others wrapped; the action itself if none did. @internal */
export function originalOf(action: AnyFunction): AnyFunction {
  const original = originals.get(action)
  return original === undefined ? action : originalOf(original)
}

/** Copies the name and the properties of an action to the function that wraps it. */
export function wrapAction(run: Action, original: AnyFunction): Action {
  originals.set(run, original)
  Object.assign(run, original)
  return Object.defineProperty(run, 'name', { value: original.name, configurable: true })
}

/**
 * Checks that an action or a plugin returned nothing, or a request to be dispatched next. That request must
 * be of the same message: of another one, no report would know the values, and no deadline the client.
 *
 * @throws {TypeError} If it returned anything else; `who` names the function in the message.
 */
export function nextRequest(
  returned: unknown,
  who: string,
  current: HttpRequest,
): HttpRequest | undefined {
  if (returned === undefined) return undefined
  if (!isRequest(returned)) {
    const kind = returned === null ? 'null' : `a value of the type ${typeof returned}`
    throw new TypeError(`${who} returned ${kind}; expected nothing, or a request to be dispatched`)
  }
  if (stateOf(returned).message === stateOf(current).message) return returned
  throw new TypeError(
    `${who} returned a new HttpRequest; expected one that the current request makes: request.forward({ action, controller, module, params })`,
  )
}
