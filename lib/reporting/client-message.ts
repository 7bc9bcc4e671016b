import { isInstance, read } from '../http/exceptions.ts'
import type { HttpRequest } from '../http/request.ts'
import { ValidationError, type ValidationIssue } from '../http/validation-error.ts'
import { printable } from './printable.ts'
import { isAboutNames } from './request-names.ts'
import { scrubException } from './scrubbed-exception.ts'

/** Returns the message of an exception for the client, without the values of its request. */
export function messageForClient(exception: Error, request: HttpRequest): string {
  // Checks this first, because a scanner gets such an error for each path that it tries.
  if (isAboutNames(exception, request)) return printable(String(read(exception, 'message')))
  const { raw, scrubber } = scrubException(exception, request, false)
  return typeof raw.message === 'string' ? printable(scrubber.text(raw.message)) : ''
}

/** Returns the first 20 issues of a {@link ValidationError} for the client, scrubbed; else none. */
export function issuesForClient(
  exception: Error,
  request: HttpRequest,
): readonly ValidationIssue[] {
  if (!isInstance(ValidationError, exception)) return []
  const { raw, scrubber } = scrubException(exception, request, false)
  const clean = (text: string): string => printable(scrubber.text(text))
  // Scrubs the paths too: a strict schema names an unknown field, which may be a secret itself.
  return raw.issues.map(({ path, message }) => ({ path: clean(path), message: clean(message) }))
}
