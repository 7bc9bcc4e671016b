import { monotonicMs } from '../http/clock.ts'
import type { HttpResponse } from '../http/response.ts'
import type { IncomingRequest } from './incoming-request.ts'

/** Milliseconds in which a request that was on its way when the stop began should arrive. */
export const GRACE_MS = 600

// The stop of each server, by the signal that aborts when it begins.
const stops = new WeakMap<AbortSignal, ServerStop>()

/** The stop of a server, as its requests see it. @internal */
export class ServerStop {
  /** The requests whose calls of the handler have not ended, also those whose clients have left. */
  readonly running: Set<IncomingRequest> = new Set()
  /** Whether the stop has begun. From then on, the last response of each connection ends it. */
  hasBegun = false
  readonly #closing: AbortSignal | undefined
  // The requests of the open responses with the type `text/event-stream`.
  readonly #streams = new Set<IncomingRequest>()
  #graceEndsAt = 0

  /**
   * Returns the stop of a signal, always the same one.
   *
   * @param closing Aborts when the server begins to stop; undefined if nothing is known about it.
   */
  static of(closing: AbortSignal | undefined): ServerStop {
    const stop = (closing && stops.get(closing)) ?? new ServerStop(closing)
    if (closing) stops.set(closing, stop)
    return stop
  }

  private constructor(closing: AbortSignal | undefined) {
    this.#closing = closing
    if (closing?.aborted) this.#begin()
    else closing?.addEventListener('abort', () => this.#begin())
  }

  #begin(): void {
    this.hasBegun = true
    this.#graceEndsAt = monotonicMs() + GRACE_MS
    for (const incoming of this.#streams) incoming.abort(this.#closing?.reason)
  }

  /** Whether each new request is the last of its connection: a client that always has a request in flight would never be done. */
  get isGraceOver(): boolean {
    return this.hasBegun && monotonicMs() >= this.#graceEndsAt
  }

  /**
   * Adds the request of a response whose headers are written, if it is an event stream. Its signal aborts when the stop begins:
   * such a response never ends by itself, and its client connects again. Any other response can still be completed, so the stop
   * must not abort its work.
   *
   * @returns Whether the response is an event stream.
   */
  addStream(incoming: IncomingRequest, { headers }: HttpResponse): boolean {
    if (!/^text\/event-stream\b/i.test(headers.get('Content-Type') ?? '')) return false
    if (this.hasBegun) incoming.abort(this.#closing?.reason)
    else this.#streams.add(incoming)
    return true
  }

  /** Removes the request of a response that has ended. */
  deleteStream(incoming: IncomingRequest): void {
    this.#streams.delete(incoming)
  }
}
