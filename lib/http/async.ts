/** Reports whether a value must be awaited. */
export function isPromiseLike<T>(value: T | Promise<T>): value is Promise<T>
export function isPromiseLike(value: unknown): value is PromiseLike<unknown>
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === 'function'
}

/**
 * Waits for a value. The timer keeps the process alive: a top-level await that never settles would end it without a message.
 *
 * @param problem The beginning of the message of the error after the timeout.
 * @internal
 */
export function withTimeout<T>(
  value: T | Promise<T>,
  timeoutMs: number,
  problem: string,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`${problem} after ${timeoutMs} milliseconds`)
    timer = setTimeout(reject, timeoutMs, error)
  })
  return Promise.race([value, late]).finally(() => clearTimeout(timer))
}

/** Returns a new controller that also aborts when a signal does. */
export function follow(signal: AbortSignal | undefined): AbortController {
  // Does not use AbortSignal.any(): if its result has a listener, Node keeps it in memory until it aborts.
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal?.reason)
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return controller
}
