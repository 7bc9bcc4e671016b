import { type Action, checkReturned } from '../controllers/controller.ts'
import { isPromiseLike } from '../http/is-promise-like.ts'
import type { HttpRequest } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import { run, type Steps, wait } from './steps.ts'

/** The hooks of a controller, as in Zend Framework 1: they run around each of its actions, and are never actions. */
export interface ControllerHooks {
  readonly init?: Action | undefined
  readonly preDispatch?: Action | undefined
  readonly postDispatch?: Action | undefined
}

const HOOKS = ['init', 'preDispatch', 'postDispatch'] as const

/** The name of the action for names that a controller does not have. */
export const CALL = '__call'

/** Reports whether a function of this name is never an action that a client can name. */
export function isReservedForHook(name: string): boolean {
  return name === CALL || (HOOKS as readonly string[]).includes(name)
}

/** Returns the hooks among the functions of a controller; undefined if it has none. */
export function hooksOf(functions: ReadonlyMap<string, Action>): ControllerHooks | undefined {
  const names = HOOKS.filter((name) => functions.has(name))
  const hooks = names.map((name) => [name, functions.get(name)])
  return hooks.length === 0 ? undefined : Object.fromEntries(hooks)
}

/**
 * Returns an action that runs the hooks around another one, in the order of ZF1: `init`, `preDispatch`, the action,
 * `postDispatch`. If one of the first two returns a request or the response, nothing else runs. After a redirect, the
 * action does not run, but `postDispatch` does.
 */
export function withHooks(hooks: ControllerHooks, action: Action): Action {
  return function (this: unknown, request, response) {
    return run(around(hooks, action, this, request, response)) as ReturnType<Action>
  }
}

function* around(
  { init, preDispatch, postDispatch }: ControllerHooks,
  action: Action,
  owner: unknown,
  request: HttpRequest,
  response: HttpResponse,
): Steps<unknown> {
  for (const [name, hook] of Object.entries({ init, preDispatch })) {
    const next = checkReturned(yield* call(hook, owner, request, response), name, {
      request,
      response,
    })
    if (next !== undefined) return next
  }
  const next = isRedirect(response) ? undefined : yield* call(action, owner, request, response)
  const after = yield* call(postDispatch, owner, request, response)
  return checkReturned(after, 'postDispatch', { request, response }) ?? next
}

function* call(
  action: Action | undefined,
  owner: unknown,
  request: HttpRequest,
  response: HttpResponse,
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
