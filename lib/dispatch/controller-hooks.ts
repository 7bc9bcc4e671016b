import {
  type Action,
  type Controller,
  checkReturned,
  prototypesOf,
  wrapAction,
} from '../controllers/controller.ts'
import { isPromiseLike } from '../http/async.ts'
import type { HttpResponse } from '../http/response.ts'
import { release } from '../http/retention.ts'
import { checkHooks } from './plugin.ts'
import { run, type Steps, wait } from './steps.ts'

/** The hooks of a controller, as in Zend Framework 1: they run around each of its actions, and are never actions. */
export interface ControllerHooks {
  readonly init?: Action | undefined
  readonly preDispatch?: Action | undefined
  readonly postDispatch?: Action | undefined
}

const HOOKS: readonly string[] = ['init', 'preDispatch', 'postDispatch']

/** The name of the action for names that a controller does not have. */
export const CALL = '__call'

/** Reports whether a function of this name is never an action that a client can name. */
export function isReservedForHook(name: string): boolean {
  return name === CALL || HOOKS.includes(name)
}

/**
 * Returns the hooks among the functions of a controller; undefined if it has none.
 *
 * @throws {TypeError} If a hook or `__call` is undefined or an object in place of a function, or is misspelt: a guard would not run.
 */
export function hooksOf(
  owner: Controller,
  functions: ReadonlyMap<string, Action>,
  name: string,
): ControllerHooks | undefined {
  const reserved = [...HOOKS, CALL]
  const members = [owner, ...prototypesOf(owner)]
  const wrong = reserved.find((hook) => {
    const found = members.flatMap((each) => Object.getOwnPropertyDescriptor(each, hook) ?? [])
    // A text or a number is a member of another meaning. `undefined`, as of a misspelt `guards.admin`, a list, a plugin or a promise
    // is not, nor is a getter. Any member would hide the guard of a class that is extended.
    const isWrong = found.some(({ value = null }) => value === null || Object(value) === value)
    return isWrong && !functions.has(hook)
  })
  checkHooks(wrong, [...functions.keys()], reserved, `the controller "${name}"`)
  const hooks = [...functions].filter(([name]) => HOOKS.includes(name))
  return hooks.length === 0 ? undefined : Object.fromEntries(hooks)
}

/**
 * Returns an action that runs the hooks around another one, in the order of ZF1: `init`, `preDispatch`, the action,
 * `postDispatch`. If one of the first two returns a request or the response, nothing else runs. After a redirect, the
 * action does not run, but `postDispatch` does.
 */
export function withHooks(hooks: ControllerHooks, action: Action): Action {
  const wrapped: Action = function (this: unknown, request, response) {
    return run(around(hooks, action, this, { request, response })) as ReturnType<Action>
  }
  return wrapAction(wrapped, action)
}

// The arguments of the hooks and of the action.
type Received = Parameters<typeof checkReturned>[2]

function* around(
  hooks: ControllerHooks,
  action: Action,
  owner: unknown,
  received: Received,
): Steps<unknown> {
  try {
    for (const name of ['init', 'preDispatch'] as const) {
      const next = checkReturned(yield* call(hooks[name], owner, received), name, received)
      if (next !== undefined) return next
    }
    const next = isRedirect(received.response) ? undefined : yield* call(action, owner, received)
    const after = yield* call(hooks.postDispatch, owner, received)
    return checkReturned(after, 'postDispatch', received) ?? next
  } finally {
    release(received)
  }
}

function* call(
  action: Action | undefined,
  owner: unknown,
  { request, response }: Received,
): Steps<unknown> {
  if (action === undefined) return undefined
  // Does not use action.call(): a function can have an own property of that name.
  const returned: unknown = Reflect.apply(action, owner, [request, response])
  return isPromiseLike(returned) ? yield* wait(returned) : returned
}

/** Reports whether a response redirects. As in ZF1, no action runs then: a guard need not do more than redirect. */
export function isRedirect({ status }: HttpResponse): boolean {
  return status >= 300 && status < 400
}
