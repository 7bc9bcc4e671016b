interface Pending {
  readonly expiresAt: number
  readonly expire: () => void
}

/** Applies one time limit to many promises, with a single timer: they expire in the order in which they were added. */
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
      const pending = {
        // Uses the monotonic clock: the time of day can jump.
        expiresAt: performance.now() + this.#limitMs,
        expire: () => reject(createError()),
      }
      this.#add(pending)
      const settle = <V>(finish: (value: V) => void) => {
        return (value: V): void => {
          this.#delete(pending)
          finish(value)
        }
      }
      promise.then(settle(resolve), settle(reject))
    })
  }

  #add(pending: Pending): void {
    this.#pending.add(pending)
    this.#timer ??= setTimeout(this.#expire, this.#limitMs)
    this.#timer.ref()
  }

  #delete(pending: Pending): void {
    this.#pending.delete(pending)
    // The timer must not keep an idle process alive.
    if (this.#pending.size === 0) this.#timer?.unref()
  }

  readonly #expire = (): void => {
    this.#timer = undefined
    const now = performance.now()
    for (const pending of this.#pending) {
      if (pending.expiresAt > now) {
        this.#timer = setTimeout(this.#expire, pending.expiresAt - now)
        return
      }
      this.#pending.delete(pending)
      pending.expire()
    }
  }
}
