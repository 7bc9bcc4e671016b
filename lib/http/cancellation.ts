/** The signal of a request. It aborts when the client closes the connection, or when the action is out of time. */
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

  // Does not use AbortSignal.any(): if its result has a listener, Node keeps it in memory until it aborts.
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
