import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Calls a function without the stores of `AsyncLocalStorage` of the current request. Use it to create what several requests
 * share: a timer or a promise would keep the stores of one request in memory, and a timer would call the code of other
 * requests with them.
 */
export const outsideRequests: <T>(call: () => T) => T = AsyncLocalStorage.snapshot()

const NOTHING = /^/

/**
 * Makes V8 forget the text that a regular expression has matched last: it may be a part of the target, which it would keep in
 * memory until the next match.
 */
export function forgetLastMatch(): void {
  NOTHING.test('')
}
