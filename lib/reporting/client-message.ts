import { NoActionError, NoControllerError, NoRouteError } from '../http/errors.ts'
import { factsOf, isInstance } from '../http/exceptions.ts'
import type { HttpRequest } from '../http/request.ts'
import { ValidationError, type ValidationIssue } from '../http/validation-error.ts'
import { printable } from './printable.ts'
import { isRequested } from './request-names.ts'
import { scrub, scrubAll } from './scrub.ts'

const MAX_ISSUES = 20

/**
 * What a client may be told of an exception of its own request: the names that it asked for, and no
 * other text of the request.
 */
export function messageForClient(exception: Error, request: HttpRequest): string {
  const { message } = factsOf(exception)
  return printable(isNamesOwn(exception, request) ? message : scrub(message, request))
}

/** What a client may be told of the issues of a {@link ValidationError}: the first 20, none of any other error. */
export function issuesForClient(
  exception: Error,
  request: HttpRequest,
): readonly ValidationIssue[] {
  if (!isInstance(ValidationError, exception)) return []
  const issues = exception.issues.slice(0, MAX_ISSUES)
  const paths = issues.map(({ path }) => path)
  const messages = issues.map(({ message }) => message)
  // The paths too: a strict schema names what it does not know, and that may be a secret without a name.
  const told = scrubAll([...paths, ...messages], request).map(printable)
  return issues.map((_, i) => ({ path: told[i] ?? '', message: told[issues.length + i] ?? '' }))
}

/**
 * Whether the message of an exception quotes the requested name and nothing else of the request. What looks like a value
 * in it (`signin`, if a parameter has that value too) is then that name.
 */
export function isNamesOwn(exception: Error, request: HttpRequest): boolean {
  const { controller, action } = request
  if (isInstance(NoControllerError, exception)) {
    return exception.controller === controller && isRequested(controller, request)
  }
  if (isInstance(NoActionError, exception))
    return exception.action === action && isRequested(action, request)
  return isInstance(NoRouteError, exception)
}
