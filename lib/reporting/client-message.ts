import { isInstance } from '../http/exceptions.ts'
import type { HttpRequest } from '../http/request.ts'
import { ValidationError, type ValidationIssue } from '../http/validation-error.ts'
import { printable } from '../scrubbing/printable.ts'
import { messageAboutNames } from './request-names.ts'
import { scrubException } from './scrubbed-exception.ts'

const MAX_DETAIL = 200

/** Returns the message of an exception for the client, without the values of its request; 200 characters at most. */
export function messageForClient(exception: Error, request: HttpRequest): string {
  // Checks this first, because a scanner gets such an error for each path that it tries.
  const message = messageAboutNames(exception, request)
  if (message !== undefined) return clean(message)
  const { raw, textForClient } = scrubException(exception, request, false)
  return typeof raw.message === 'string' ? clean(textForClient(raw.message)) : ''
}

/** Returns the first 20 issues of a {@link ValidationError} for the client, scrubbed; else none. */
export function issuesForClient(
  exception: Error,
  request: HttpRequest,
): readonly ValidationIssue[] {
  if (!isInstance(ValidationError, exception)) return []
  const { raw, textForClient } = scrubException(exception, request, false)
  // Scrubs the paths too: a strict schema names an unknown field, which may be a secret itself.
  return raw.issues.map(({ path, message }) => ({
    path: clean(textForClient(path)),
    message: clean(textForClient(message)),
  }))
}

// The text must be scrubbed before: scrubbing would not recognize half of a value. Escaping all of a message of 16 KiB of controls
// would take 10 ms.
function clean(text: string): string {
  return printable(text.slice(0, 2 * MAX_DETAIL))
    .slice(0, MAX_DETAIL)
    .toWellFormed()
}
