/** The signal of a request: it aborts when the client closes the connection, or when the deadline of the action is over. */
export class Cancellation {
  readonly #clientGone: AbortSignal | undefined
  #controller: AbortController | undefined
  #isFollowing = false

  /** @param clientGone Aborts when the client closes the connection. */
  constructor(clientGone: AbortSignal | undefined) {
    this.#clientGone = clientGone
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    this.#follow(this.#controller)
    return this.#controller.signal
  }

  abort(reason: Error): void {
    this.#controller ??= new AbortController()
    this.#controller.abort(reason)
  }

  // Not AbortSignal.any(): Node keeps the result in memory until it aborts, if it has a listener.
  #follow(controller: AbortController): void {
    const clientGone = this.#clientGone
    if (this.#isFollowing || clientGone === undefined) return
    this.#isFollowing = true
    if (clientGone.aborted) controller.abort(clientGone.reason)
    else
      clientGone.addEventListener('abort', () => controller.abort(clientGone.reason), {
        once: true,
      })
  }
}
