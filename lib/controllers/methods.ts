import { METHODS } from 'node:http'
import { FORBIDDEN_METHODS, type Method, STANDARD_METHODS } from '../http/methods.ts'
import { type Action, checkAction, wrapAction } from './controller.ts'

/**
 * The action, for these methods alone: others are answered 405 with `Allow`, `OPTIONS` 204; `HEAD` is
 * taken where `GET` is. The given function stays what it was; the outermost of several lists counts.
 *
 * @example
 * export const edit = methods(['GET', 'POST'], (request, response) => { ... })
 * @throws {TypeError} If it is no action, or the list has none, or what is no method.
 */
export function methods(list: readonly Method[], action: Action): Action {
  checkAction(action)
  const taken = checkedMethods(list, `the action "${action.name}"`)
  const run = function (this: unknown, ...given: Parameters<Action>): ReturnType<Action> {
    return Reflect.apply(action, this, given)
  }
  return Object.assign(wrapAction(run, action), { methods: Object.freeze([...taken]) })
}

/**
 * The action, for `GET` (and `HEAD`) alone; see {@link methods}.
 *
 * @example
 * export const list = get((request, response) => response.json([]))
 */
export function get(action: Action): Action {
  return methods(['GET'], action)
}

/**
 * The action, for `POST` alone; see {@link methods}.
 *
 * @example
 * export const save = post((request, response) => response.redirect('/news'))
 */
export function post(action: Action): Action {
  return methods(['POST'], action)
}

/** The action, for `PUT` alone; see {@link methods}. */
export function put(action: Action): Action {
  return methods(['PUT'], action)
}

/** The action, for `PATCH` alone; see {@link methods}. */
export function patch(action: Action): Action {
  return methods(['PATCH'], action)
}

/** The action, for `DELETE` alone (a word that JavaScript has taken); see {@link methods}. */
export function del(action: Action): Action {
  return methods(['DELETE'], action)
}

/** @throws {TypeError} If the methods of somebody are no list of methods. */
export function checkedMethods(list: unknown, whose: string): readonly string[] {
  if (Array.isArray(list) && list.length > 0 && list.every(isMethod)) return list
  throw new TypeError(
    `Expected the methods of ${whose} to be a list out of ${STANDARD_METHODS.join(', ')}`,
  )
}

function isMethod(method: string): boolean {
  return METHODS.includes(method) && !FORBIDDEN_METHODS.includes(method)
}
