import { type Action, isAction } from './controller.ts'

// Whatever is no function: every function has an `apply`.
type State =
  | (string | number | bigint | boolean | symbol | null | undefined)
  | (object & { readonly apply?: never })

/** The members of a controller: actions, and what they share. */
export type Members = Readonly<Record<string, Action | State>>

/**
 * The controller, as it is: its actions know the types of their request and response, and what can't be
 * an action does not compile.
 *
 * @example
 * export const news = defineController({
 *   list: get((request, response) => response.json({ page: request.param('page') ?? '1' })),
 *   async save(request, response) { response.redirect('/news') },
 * })
 * new FrontController({ controllers: new Map([['news', news]]) })
 * @throws {TypeError} If it is no object, or has a class where an action is due.
 */
export function defineController<Controller extends Members>(
  controller: Controller & ThisType<Controller>,
): Controller {
  if (typeof controller !== 'object' || controller === null) {
    throw new TypeError('Expected a controller to be an object of functions')
  }
  for (const [name, member] of Object.entries(controller)) {
    if (typeof member === 'function' && !isAction(member)) {
      throw new TypeError(`Expected "${name}" to be an action, got a class`)
    }
  }
  return controller
}
