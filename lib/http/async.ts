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

interface SignalSource {
  /** Aborts when the client leaves. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The controllers of the signals of a message, by the parameter `error_handler`. A request and its forwards share one. An error action
 * and its forwards share another, because the first may have aborted.
 */
export class Cancellations {
  readonly #source: SignalSource
  // null if a signal was cancelled before it was read: to follow the source would add listeners to the connection.
  readonly #controllers = new Map<unknown, AbortController | null>()
  #isCancelled = false

  constructor(source: SignalSource) {
    this.#source = source
  }

  /** Returns the controller of a signal. */
  controllerFor(errorHandler: unknown): AbortController {
    const known = this.#controllers.get(errorHandler)
    if (known) return known
    const isCancelled = known === null || this.#isCancelled
    const controller = isCancelled ? new AbortController() : follow(this.#source.signal)
    this.#controllers.set(errorHandler, controller)
    if (isCancelled) controller.abort()
    return controller
  }

  /** Aborts one signal, also if it is read later. */
  cancelFor(errorHandler: unknown): void {
    const known = this.#controllers.get(errorHandler)
    if (known) known.abort()
    else this.#controllers.set(errorHandler, null)
  }

  /** Aborts all signals, also those that are read later. */
  cancelAll(): void {
    this.#isCancelled = true
    for (const each of this.#controllers.values()) each?.abort()
  }
}

// Returns a new controller that also aborts when a signal does.
function follow(signal: AbortSignal | undefined): AbortController {
  // Does not use AbortSignal.any(): if its result has a listener, Node keeps it in memory until it aborts.
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal?.reason)
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return controller
}
