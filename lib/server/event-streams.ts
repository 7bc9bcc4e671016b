import type { HttpResponse } from '../http/response.ts'
import type { IncomingRequest } from './incoming-request.ts'

/**
 * The open responses with the type `text/event-stream`. The signals of their requests abort when the
 * server begins to stop: such a response never ends by itself, and its client connects again. Any
 * other response can still be completed, so the stop must not abort its work.
 * @internal
 */
export class EventStreams {
  readonly #closing: AbortSignal | undefined
  readonly #open = new Set<IncomingRequest>()

  /** @param closing Aborts when the server begins to stop; undefined if nothing is known about it. */
  constructor(closing: AbortSignal | undefined) {
    this.#closing = closing
    closing?.addEventListener('abort', () => {
      for (const incoming of this.#open) incoming.abort(closing.reason)
    })
  }

  /** Adds the request of a response whose headers are written, if it is an event stream. */
  add(incoming: IncomingRequest, { headers }: HttpResponse): void {
    if (!/^text\/event-stream\b/i.test(headers.get('Content-Type') ?? '')) return
    if (this.#closing?.aborted) incoming.abort(this.#closing.reason)
    else this.#open.add(incoming)
  }

  /** Removes the request of a response that has ended. */
  delete(incoming: IncomingRequest): void {
    this.#open.delete(incoming)
  }
}
