import { typeOf } from '../http/exceptions.ts'
import { type HttpRequest, stateOf, withState } from '../http/request.ts'

/** Returns the request for `error/error`; its parameter `error_handler` has the original request, unchanged. */
export function toErrorRequest(request: HttpRequest, exception: Error): HttpRequest {
  const pairs = stateOf(request).route?.pairs
  return withState(request, {
    route: { module: 'default', controller: 'error', action: 'error', pairs },
    errorHandler: { exception, type: typeOf(exception), request },
  })
}
