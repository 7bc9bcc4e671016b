import { monotonicMs } from '../http/clock.ts'
import { outsideRequests } from '../http/retention.ts'

// Promises that expire in one turn of the event loop. The report of each may take milliseconds, and all other requests wait.
const MAX_EXPIRED = 8

interface Pending {
  readonly expiresAt: number
  // Removed when the promise is settled or late: the calls refer to the request, and the promise may hang for ever.
  calls: Calls | undefined
}

interface Calls {
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
  readonly createError: () => Error
}

/**
 * Applies one time limit to many promises, with a single timer: they expire in the order in which they were added. Creates
 * their errors outside of the context of any request.
 */
export class Deadlines {
  readonly #limitMs: number
  readonly #pending = new Set<Pending>()
  #timer: NodeJS.Timeout | undefined

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Settles as the promise does, or rejects with the error of `createError` when the limit is over. */
  within<T>(promise: PromiseLike<T>, createError: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      // Uses the monotonic clock: the time of day can jump.
      const expiresAt = monotonicMs() + this.#limitMs
      this.#add({ expiresAt, calls: { resolve, reject, createError } }, promise)
    })
  }

  #add(pending: Pending, promise: PromiseLike<unknown>): void {
    this.#pending.add(pending)
    this.#timer ??= outsideRequests(() => setTimeout(this.#expire, this.#limitMs))
    this.#timer.ref()
    promise.then(
      (value) => this.#take(pending)?.resolve(value as never),
      (error) => this.#take(pending)?.reject(error),
    )
  }

  #take(pending: Pending): Calls | undefined {
    const { calls } = pending
    pending.calls = undefined
    this.#pending.delete(pending)
    // The timer must not keep an idle process alive.
    if (this.#pending.size === 0) this.#timer?.unref()
    return calls
  }

  readonly #expire = (): void => {
    this.#timer = undefined
    const now = monotonicMs()
    let left = MAX_EXPIRED
    for (const pending of this.#pending) {
      if (pending.expiresAt > now || left-- === 0) {
        this.#timer = setTimeout(this.#expire, Math.max(1, pending.expiresAt - now))
        return
      }
      const calls = this.#take(pending)
      calls?.reject(calls.createError())
    }
  }
}
