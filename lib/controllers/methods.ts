import { METHODS } from 'node:http'
import { FORBIDDEN_METHODS, type Method, STANDARD_METHODS } from '../http/request-line.ts'
import { type Action, checkAction, wrapAction } from './controller.ts'

/**
 * Restricts an action to methods, as {@link Action.methods} does.
 *
 * Of nested ones, the outermost counts.
 *
 * @throws {TypeError} If `action` is not an action, or the list is empty or holds an invalid method.
 */
export function methods(allowed: readonly Method[], action: Action): Action {
  checkAction(action)
  const checked = checkedMethods(allowed, action.name)
  const run = function (this: unknown, ...args: Parameters<Action>): ReturnType<Action> {
    return Reflect.apply(action, this, args)
  }
  return Object.assign(wrapAction(run, action), { methods: Object.freeze([...checked]) })
}

/** Restricts an action to `GET` (and `HEAD`); see {@link methods}. */
export function get(action: Action): Action {
  return methods(['GET'], action)
}

/** Restricts an action to `POST`; see {@link methods}. */
export function post(action: Action): Action {
  return methods(['POST'], action)
}

/** Restricts an action to `PUT`; see {@link methods}. */
export function put(action: Action): Action {
  return methods(['PUT'], action)
}

/** Restricts an action to `PATCH`; see {@link methods}. */
export function patch(action: Action): Action {
  return methods(['PATCH'], action)
}

/** Restricts an action to `DELETE`, a reserved word; see {@link methods}. */
export function del(action: Action): Action {
  return methods(['DELETE'], action)
}

/**
 * Checks the methods of an action.
 *
 * @param name The name of the action, for the error message.
 * @throws {TypeError} If the value is not a list of methods, or is empty.
 */
export function checkedMethods(value: unknown, name: string): readonly string[] {
  if (Array.isArray(value) && value.length > 0 && value.every(isMethod)) return value
  throw new TypeError(
    `Expected the methods of the action "${name}" to be a list of methods, such as ${STANDARD_METHODS.join(', ')}`,
  )
}

function isMethod(method: string): boolean {
  return METHODS.includes(method) && !FORBIDDEN_METHODS.includes(method)
}
