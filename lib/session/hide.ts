import { type HttpRequest, stateOf } from '../http/request.ts'

/** Adds values that no report about a request may show. */
export function hide(request: HttpRequest, ...secrets: readonly unknown[]): void {
  const { message } = stateOf(request)
  const { ending } = message
  message.ending = { ...ending, secrets: [...(ending?.secrets ?? []), ...secrets] }
}
