import { isObject } from '../http/check-options.ts'
import { type Action, isAction } from './controller.ts'

// Any value except a function, because every function has an `apply`.
type State =
  | (string | number | bigint | boolean | symbol | null | undefined)
  | (object & { readonly apply?: never })

/** The members of a controller: its actions, and the state that they share. */
export type Members = Readonly<Record<string, Action | State>>

/**
 * Returns a controller unchanged. TypeScript infers the types of request and response of its
 * actions, and rejects functions that are not actions.
 *
 * @throws {TypeError} If the controller is not an object, or a member is a class.
 */
export function defineController<Controller extends Members>(
  controller: Controller & ThisType<Controller>,
): Controller {
  if (!isObject(controller)) {
    throw new TypeError('Expected a controller to be an object of functions')
  }
  for (const [name, member] of Object.entries(controller)) {
    if (typeof member === 'function' && !isAction(member)) {
      throw new TypeError(`Expected "${name}" to be an action, got a class`)
    }
  }
  return controller
}
