import { MalformedMessageError } from '../http/errors.ts'
import { isClientGone, isInstance, statusOf } from '../http/exceptions.ts'
import type { HttpRequest } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'

/** An error to report. */
export interface Failure {
  /** The exception; then the exception of the error action, if there is one. */
  readonly exceptions: readonly Error[]
  /** The status of the response; that of the exception if the response has none of an error. */
  readonly status: number
  /** The request that failed; undefined if it was not read, or is unknown. */
  readonly request?: HttpRequest | undefined
  readonly durationMs?: number | undefined
  /** The fingerprint, if it is known (default: computed for the report). */
  readonly fingerprint?: string | undefined
}

/** Returns the error of a response that has an exception. The error action may have redirected the client. */
export function failureOf({ exceptions, request, status }: HttpResponse): Failure {
  return { exceptions, request, status: status < 400 ? statusOf(exceptions[0] as Error) : status }
}

// The statuses from 500 on of a message that is rejected for its framing.
const FRAMING: readonly number[] = [501, 505]

/**
 * Reports whether a failure is a rejection: the client caused it. A message with an unsupported
 * version of HTTP is one, although its status is 505. A failure of the error action is not.
 */
export function isRejection({ status, exceptions, request }: Failure): boolean {
  if (exceptions.length > 1) return false
  if (status < 500 || isInstance(MalformedMessageError, exceptions[0])) return true
  // Excludes other exceptions of a rejected message, such as that of a plugin, and the 502 of a handler.
  return FRAMING.includes(status) && exceptions[0] === request?.rejection
}

/** Reports whether a failure means only that the client has gone away. That is not an error of the server. */
export function isClientGoneOnly({ exceptions, request }: Failure): boolean {
  return exceptions.length > 0 && exceptions.every((exception) => isClientGone(exception, request))
}
