import { type HttpRequest, isRequest } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'

/**
 * What runs for a request: fills in the response, or returns another request to be dispatched next.
 *
 * A function's own property `methods` restricts it: others are answered 405 with `Allow`, `OPTIONS`
 * 204; `HEAD` is taken where `GET` is.
 *
 * @example
 * export function save(request, response) { response.redirect('/news') }
 * save.methods = ['POST']
 */
export interface Action {
  // biome-ignore lint/suspicious/noConfusingVoidType: an action that returns nothing is the common one.
  (request: HttpRequest, response: HttpResponse): void | HttpRequest | Promise<void | HttpRequest>
  /** The methods it takes, in upper case, such as `['GET', 'POST']` (default: all but TRACE and CONNECT). */
  readonly methods?: readonly string[]
}

/**
 * An object whose own functions are actions, `fooBar` reached as `foo-bar`; what is no function is
 * none. A module namespace (`import * as news`) is one.
 */
export type Controller = object

/** The controllers of a module, by their names in URLs, such as `user-admin`. */
export type Controllers = ReadonlyMap<string, Controller>

/** Whether a value can be run as an action: a class that a file exports for others can't be called. */
export function isAction(value: unknown): value is Action {
  return typeof value === 'function' && !/^class\b/.test(Function.prototype.toString.call(value))
}

/** @throws {TypeError} If a value can't be run as an action. */
export function checkAction(value: unknown): void {
  if (!isAction(value)) throw new TypeError(`Expected an action, got "${kindOf(value)}"`)
}

/** Dresses a new function as the action it stands for: the same name, the same properties. */
export function wrapAction(run: Action, original: (...args: never[]) => unknown): Action {
  Object.assign(run, original)
  return Object.defineProperty(run, 'name', { value: original.name, configurable: true })
}

/**
 * The request that an action or a plugin returned, to be dispatched next; undefined for nothing.
 *
 * @throws {TypeError} If it returned anything else.
 */
export function nextRequest(returned: unknown, who: string): HttpRequest | undefined {
  if (returned === undefined || isRequest(returned)) return returned
  const kind = returned === null ? 'null' : `a value of the type ${typeof returned}`
  throw new TypeError(`${who} returned ${kind}; expected nothing, or a request to be dispatched`)
}

function kindOf(value: unknown): string {
  return typeof value === 'function' ? 'class' : value === null ? 'null' : typeof value
}
