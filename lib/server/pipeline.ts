import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { monotonicMs } from '../http/clock.ts'
import { inThisContext } from '../http/retention.ts'
import { leaveToListenerSoon } from './close-slowly.ts'
import { DEFAULT_HEADER_LIMITS, readFraming } from './framing.ts'
import { isLeftToListener, pauseReading } from './reading.ts'

// Maximum requests in flight per connection, besides one that all others wait for. Later ones wait, and reading is paused.
const MAX_IN_FLIGHT = 8
// A pipelined request starts only while fewer bytes than this wait in the responses before it.
const MAX_WAITING_BYTES = 65_536

/** The part of a Connection that this file uses: to import its type would be a cycle. */
interface Pipelining {
  readonly socket: Socket
  /** Nothing more is read after it. */
  readonly fault: Error | undefined
  readonly isDetached: boolean | undefined
  resumedAt: number | undefined
}

/** A response in flight, and whether its request has a body. */
interface InFlight {
  readonly out: ServerResponse
  readonly hasBody: boolean
}

/** A queued request: its response, and the function that starts it. */
interface Queued {
  readonly out: ServerResponse
  readonly start: () => void
}

/** The pipelined requests of a connection: those in flight, and the queued ones. */
export class Pipeline {
  readonly #connection: Pipelining
  #inFlight: readonly InFlight[] = []
  // The queued requests, in the order in which they have reached the listener.
  #queued: Queued[] = []
  #resumeReading: (() => void) | undefined

  /** @param active The response that is active when the first pipelined request arrives. */
  constructor(connection: Pipelining, active: ServerResponse) {
    this.#connection = connection
    this.#track(active)
  }

  /** Number of requests in flight: their actions run, or their responses are not sent yet. */
  get inFlight(): number {
    return this.#inFlight.length
  }

  /** The response in flight whose request has started last. */
  get latest(): ServerResponse | undefined {
    return this.#inFlight.at(-1)?.out
  }

  /** Reports whether a request has started, and its response is not sent yet. */
  isInFlight(out: ServerResponse): boolean {
    return this.#inFlight.some((each) => each.out === out)
  }

  /** Whether the most recent request is queued: nothing reads its body until it starts. */
  get hasQueued(): boolean {
    return this.#queued.length > 0
  }

  /**
   * Starts a request as soon as fewer than the maximum are in flight, none of them has a body, and less than 64 KiB of their
   * responses waits for the client. Reads nothing until then. Starts it at once if its response is the next one to be sent.
   */
  start(out: ServerResponse, start: () => void): void {
    // A second listener gets a request that has started. A middleware in front of the listener may have kept the request whose
    // response is next.
    if (out.socket !== null || this.isInFlight(out)) {
      this.#run(out, start)
      return
    }
    // Otherwise, `start` would run in the context of the request whose response makes room.
    this.#queued.push({ out, start: inThisContext(start) })
    // The responses before it may be those of a middleware in front of the listener, whose end is not tracked.
    out.once('socket', () => this.#startQueued())
    this.#startQueued()
    if (this.hasQueued) this.#pauseReading()
  }

  /** Drops the requests that wait. */
  close(): void {
    this.#queued.length = 0
    this.#resumeReading?.()
  }

  // Counts a response as in flight until it has been sent.
  #track(out: ServerResponse): void {
    // By the fields as they were sent: a middleware may change `headers`.
    const hasBody = readFraming(out.req, DEFAULT_HEADER_LIMITS).bodyBytes !== 0
    this.#inFlight = [...this.#inFlight, { out, hasBody }]
    // A response finishes when the socket has taken its last byte.
    out.once('finish', () => {
      this.#inFlight = this.#inFlight.filter((other) => other.out !== out)
      // Starts them in this turn: in the next one, the requests of all other connections would be queued too.
      this.#startQueued()
    })
  }

  #startQueued(): void {
    // After a failed write, node:http emits `finish` for the responses that were not sent. Another write would emit it
    // again, which ends the process.
    if (!this.#connection.socket.writable) this.#queued.length = 0
    for (let next = this.#takeNext(); next; next = this.#takeNext()) this.#run(next.out, next.start)
    if (!this.hasQueued) this.#resumeReading?.()
  }

  #run(out: ServerResponse, start: () => void): void {
    if (!this.isInFlight(out)) this.#track(out)
    start()
  }

  #takeNext(): Queued | undefined {
    if (this.#hasRoom()) return this.#queued.shift()
    // If no response in flight has the socket, all of them wait for the response to a queued request.
    if (this.#inFlight.some(({ out }) => out.socket !== null)) return undefined
    const i = this.#queued.findIndex(({ out }) => out.socket !== null)
    return i < 0 ? undefined : this.#queued.splice(i, 1)[0]
  }

  #hasRoom(): boolean {
    let waiting = 0
    for (const { out, hasBody } of this.#inFlight) {
      // A byte of a body that is not read yet may take 200 bytes: each segment of the network is a Buffer.
      if (hasBody) return false
      waiting += out.writableLength
    }
    return this.#inFlight.length < MAX_IN_FLIGHT && waiting < MAX_WAITING_BYTES
  }

  #pauseReading(): void {
    const { socket } = this.#connection
    const pause = (): void => {
      if (!isLeftToListener(socket)) pauseReading(socket)
    }
    pause()
    if (this.#resumeReading !== undefined) return
    this.#resumeReading = () => {
      socket.off('resume', pause)
      this.#resumeReading = undefined
      // A new list: the old one keeps the memory of its longest queue.
      this.#queued = []
      this.#connection.resumedAt = monotonicMs()
      if (this.#connection.fault === undefined && !isLeftToListener(socket)) socket.resume()
    }
    socket.on('resume', pause)
    leaveToListenerSoon(this.#connection)
  }
}
