interface Waiting {
  readonly expiresAt: number
  readonly expire: () => void
}

/**
 * One limit of time for many promises, with a single timer: all wait equally long, so the first to
 * have come is the first to expire.
 */
export class Deadlines {
  readonly #limitMs: number
  readonly #waiting = new Set<Waiting>()
  #timer: NodeJS.Timeout | undefined

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Settles as the promise does, or rejects with what `expired` returns when the time is over. */
  within<T>(promise: PromiseLike<T>, expired: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting = {
        // Not the clock of the day, which jumps.
        expiresAt: performance.now() + this.#limitMs,
        expire: () => reject(expired()),
      }
      this.#add(waiting)
      const settle = <V>(finish: (value: V) => void) => {
        return (value: V): void => {
          this.#delete(waiting)
          finish(value)
        }
      }
      promise.then(settle(resolve), settle(reject))
    })
  }

  #add(waiting: Waiting): void {
    this.#waiting.add(waiting)
    this.#timer ??= setTimeout(this.#expire, this.#limitMs)
    this.#timer.ref()
  }

  #delete(waiting: Waiting): void {
    this.#waiting.delete(waiting)
    // A process with nothing else to do must not wait for the timer.
    if (this.#waiting.size === 0) this.#timer?.unref()
  }

  readonly #expire = (): void => {
    this.#timer = undefined
    const now = performance.now()
    for (const waiting of this.#waiting) {
      if (waiting.expiresAt > now) {
        this.#timer = setTimeout(this.#expire, waiting.expiresAt - now)
        return
      }
      this.#waiting.delete(waiting)
      waiting.expire()
    }
  }
}
