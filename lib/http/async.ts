/** Reports whether a value must be awaited. */
export function isPromiseLike<T>(value: T | Promise<T>): value is Promise<T>
export function isPromiseLike(value: unknown): value is PromiseLike<unknown>
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === 'function'
}
