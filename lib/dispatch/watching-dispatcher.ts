import { createHook } from 'node:async_hooks'
import type { Controllers } from '../controllers/controller.ts'
import { isPromiseLike } from '../http/async.ts'
import type { HttpRequest } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import type { Logger } from '../reporting/logger.ts'
import type { NameKeys } from '../routing/name-rules.ts'
import { Dispatcher } from './dispatcher.ts'
import type { RegisteredAction } from './registered-controller.ts'

/**
 * A dispatcher for development. It warns about an action that creates a promise and ends without a response: an `await`
 * is probably missing.
 */
export class WatchingDispatcher extends Dispatcher {
  readonly #logger: Logger | undefined
  // One warning for each action is enough.
  readonly #warned = new Set<RegisteredAction>()

  constructor(
    modules: Iterable<readonly [name: string, Controllers]>,
    names: NameKeys,
    logger: Logger | undefined,
  ) {
    super(modules, names)
    this.#logger = logger
  }

  override run(action: RegisteredAction, request: HttpRequest, response: HttpResponse): unknown {
    const { result, hasPromises } = watchPromises(() => super.run(action, request, response))
    const check = (returned: unknown): unknown => {
      if (returned === undefined && isUntouched(response)) this.#warn(action)
      return returned
    }
    if (isPromiseLike(result)) return result.then(check)
    return hasPromises ? check(result) : result
  }

  #warn(action: RegisteredAction): void {
    if (this.#warned.has(action)) return
    this.#warned.add(action)
    const { module, controller, action: property, name } = action
    this.#logger?.warn(
      { event: 'warning', module, controller, action: property },
      `The action ${name} began a promise and ended without a response: is an "await" missing?`,
    )
  }
}

function watchPromises<T>(run: () => T): { readonly result: T; readonly hasPromises: boolean } {
  let hasPromises = false
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') hasPromises = true
    },
  }).enable()
  try {
    const result = run()
    return { result, hasPromises }
  } finally {
    hook.disable()
  }
}

function isUntouched({ status, body, headers }: HttpResponse): boolean {
  return status === 200 && body === undefined && headers.size === 0
}
