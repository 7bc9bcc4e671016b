import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Calls a function without the stores of `AsyncLocalStorage` of the current request. Use it to create what several requests
 * share: a timer or a promise would keep the stores of one request in memory, and a timer would call the code of other
 * requests with them.
 */
export const outsideRequests: <T>(call: () => T) => T = AsyncLocalStorage.snapshot()

/** Reports whether a value must be awaited. */
export function isPromiseLike<T>(value: T | Promise<T>): value is Promise<T>
export function isPromiseLike(value: unknown): value is PromiseLike<unknown>
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === 'function'
}
