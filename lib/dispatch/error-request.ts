import { factsOf } from '../http/exceptions.ts'
import { type HttpRequest, stateOf, withState } from '../http/request.ts'

/** The request for `error/error`, with `error_handler`: the original is in it, as it was. */
export function toErrorRequest(request: HttpRequest, exception: Error): HttpRequest {
  const findings = stateOf(request)
  const { pairs } = findings.route ?? {}
  return withState(request, {
    ...findings,
    route: { module: 'default', controller: 'error', action: 'error', pairs },
    errorHandler: { exception, type: factsOf(exception).type, request },
    rejection: undefined,
  })
}
