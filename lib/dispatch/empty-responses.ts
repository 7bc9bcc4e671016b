import type { HttpRequest } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import type { Logger } from '../reporting/log.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { RegisteredAction } from './registered-controller.ts'

/** Checks the response to a request that was dispatched. */
export type ResponseCheck = (request: HttpRequest, response: HttpResponse) => void

/** Returns a function that warns about each action that ends without a response, once: an `await` is probably missing. */
export function emptyResponseCheck(dispatcher: Dispatcher, logger: Logger): ResponseCheck {
  const warned = new Set<RegisteredAction>()
  return (request, { status, body, headers }) => {
    if (status !== 200 || body !== undefined || headers.size > 0) return
    const found = dispatcher.find(request)
    if (found instanceof Error || warned.has(found)) return
    warned.add(found)
    const { module, controller, action, name } = found
    logger.warn(
      { event: 'warning', module, controller, action },
      `The action ${name} ended without a response: is an "await" missing?`,
    )
  }
}
