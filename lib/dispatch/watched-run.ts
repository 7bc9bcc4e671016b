import { createHook } from 'node:async_hooks'
import { isPromiseLike } from '../http/async.ts'
import type { HttpResponse } from '../http/response.ts'
import type { Logger } from '../reporting/log.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { RegisteredAction } from './registered-controller.ts'

/**
 * Returns a function that runs actions in place of `dispatcher.run`, in development. It warns about an action that creates
 * a promise and ends without a response: an `await` is probably missing.
 */
export function watchedRun(dispatcher: Dispatcher, logger: Logger): Dispatcher['run'] {
  // One warning for each action is enough.
  const warned = new Set<RegisteredAction>()
  const warn = (action: RegisteredAction): void => {
    if (warned.has(action)) return
    warned.add(action)
    const { module, controller, action: property, name } = action
    logger.warn(
      { event: 'warning', module, controller, action: property },
      `The action ${name} began a promise and ended without a response: is an "await" missing?`,
    )
  }
  return (action, request, response) => {
    const { result, hasPromises } = watchPromises(dispatcher, action, request, response)
    const check = (returned: unknown): unknown => {
      if (returned === undefined && isUntouched(response)) warn(action)
      return returned
    }
    if (isPromiseLike(result)) return result.then(check)
    return hasPromises ? check(result) : result
  }
}

// Takes the arguments of the action, because a closure over them would stay in memory with an exception: see release().
function watchPromises(
  dispatcher: Dispatcher,
  ...args: Parameters<Dispatcher['run']>
): { readonly result: unknown; readonly hasPromises: boolean } {
  let hasPromises = false
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') hasPromises = true
    },
  }).enable()
  try {
    const result = dispatcher.run(...args)
    return { result, hasPromises }
  } finally {
    hook.disable()
  }
}

function isUntouched({ status, body, headers }: HttpResponse): boolean {
  return status === 200 && body === undefined && headers.size === 0
}
