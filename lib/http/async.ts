import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Calls a function without the stores of `AsyncLocalStorage` of the current request. A timer or a promise that all requests
 * share would keep those of the request that makes it in memory, and a timer would show them to the code of other requests.
 */
export const outsideRequests: <T>(call: () => T) => T = AsyncLocalStorage.snapshot()

/** Reports whether a value must be awaited. */
export function isPromiseLike<T>(value: T | Promise<T>): value is Promise<T>
export function isPromiseLike(value: unknown): value is PromiseLike<unknown>
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === 'function'
}
