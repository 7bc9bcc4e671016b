import { typeOf } from '../http/exceptions.ts'
import { type HttpRequest, stateOf, withState } from '../http/request.ts'
import { fullName } from '../http/route.ts'

/**
 * Returns the request for `error/error`; its parameter `error_handler` has the original request, unchanged.
 *
 * @param id The id by which the error can be found; undefined if it cannot.
 */
export function toErrorRequest(request: HttpRequest, exception: Error, id?: string): HttpRequest {
  const pairs = stateOf(request).route?.pairs
  return withState(request, {
    route: { module: 'default', controller: 'error', action: 'error', pairs },
    errorHandler: { exception, type: typeOf(exception), request, ...(id && { id }) },
  })
}

/** Reports whether a request is for `error/error` itself, and not for an action that it forwarded to. */
export function isErrorRequest(request: HttpRequest): boolean {
  return request.errorHandler !== undefined && fullName(request) === 'error/error'
}
