import type { IncomingMessage, ServerResponse } from 'node:http'
import { statusOf } from '../http/exceptions.ts'
import { isPromiseLike } from '../http/is-promise-like.ts'
import { STANDARD_METHODS } from '../http/methods.ts'
import { HttpRequest } from '../http/request.ts'
import { HttpResponse } from '../http/response.ts'
import type { EventStreams } from './event-streams.ts'
import { type HeaderLimits, readFraming } from './framing.ts'
import type { Handler, ListenerOptions } from './handler.ts'
import { IncomingRequest } from './incoming-request.ts'
import { type ResponseTarget, writeResponse } from './response-writer.ts'

interface ExchangeOptions extends ListenerOptions {
  readonly headerLimits: HeaderLimits
  readonly eventStreams: EventStreams
}

/** One message of `node:http` and its response. */
export class Exchange implements ResponseTarget {
  readonly incoming: IncomingRequest
  bytes = 0
  readonly #handler: Handler
  readonly #options: ExchangeOptions
  readonly #request: HttpRequest
  readonly #startedAt: number
  // The last response that was attempted.
  #response: HttpResponse | undefined

  constructor(
    message: IncomingMessage,
    out: ServerResponse,
    handler: Handler,
    options: ExchangeOptions,
  ) {
    const { headerLimits, onAccess, expectsContinue } = options
    this.#startedAt = onAccess === undefined ? 0 : performance.now()
    const framing = readFraming(message, headerLimits)
    const isExpecting = expectsContinue?.has(message) === true
    const { maxTargetBytes } = headerLimits
    this.incoming = new IncomingRequest(message, out, framing, isExpecting, maxTargetBytes)
    this.incoming.connection.recordRequest(out, this.incoming.mustBeLast)
    this.#handler = handler
    this.#options = options
    this.#request = new HttpRequest(this.incoming)
  }

  get isLast(): boolean {
    const { isReceived, mustBeLast, connection, out } = this.incoming
    // The rest of an unread body must not be read as the next request.
    if (!isReceived || mustBeLast) return true
    // A server that is stopping still responds to the requests that were pipelined behind this one.
    return this.#isClosing() && connection.latest === out
  }

  get eventStreams(): EventStreams {
    return this.#options.eventStreams
  }

  #isClosing(): boolean {
    return this.#options.closing?.aborted === true
  }

  /** Calls the handler, or queues the request if too many pipelined ones are in flight. */
  start(): void {
    const { connection, out } = this.incoming
    if (connection.isPipelined) {
      connection.startInTurn(out, () => this.#start(), this.#options.maxPauseMs)
    } else this.#start()
  }

  // Wait one tick when a body follows: node:http has then usually parsed the bytes that arrived
  // with the headers, so `body` can return them synchronously.
  #start(): void {
    if (this.incoming.isReceived) this.#respond()
    else process.nextTick(() => this.#respond())
  }

  #respond(): void {
    try {
      const response = this.#callHandler()
      if (isPromiseLike(response)) {
        response.then(
          (settled) => this.#deliver(settled),
          (error) => this.#fail(error),
        )
      } else {
        this.#deliver(response)
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  #callHandler(): HttpResponse | Promise<HttpResponse> {
    const { target, method, rejection } = this.incoming
    // With the target `*`, OPTIONS applies to the whole server (RFC 9110, section 9.3.7).
    if (target === '*' && method === 'OPTIONS' && rejection === undefined) return methodsOfServer()
    const handler = this.#handler
    return handler.respond ? handler.respond(this.#request) : handler.handle(this.#request)
  }

  #deliver(response: HttpResponse): void {
    // While the server is stopping, only the last response of a connection closes it. node:http
    // must first parse the requests that have arrived.
    if (this.#isClosing()) setImmediate(() => this.#send(response))
    else this.#send(response)
  }

  #send(response: HttpResponse): void {
    try {
      response.request ??= this.#request
      this.#recordAccess(response)
      writeResponse(response, this)
    } catch (error) {
      this.#fail(error)
    }
  }

  // Sends a 500 without a body, or closes the connection if the headers have been sent.
  #fail(error: unknown): void {
    const { out, connection } = this.incoming
    const response = new HttpResponse()
    response.status = 500
    response.request = this.#request
    this.#recordAccess(response)
    if (out.headersSent) connection.socket.destroy()
    else writeResponse(response, this)
    this.#handler.report?.(error, { request: this.#request, status: 500 })
  }

  // A body that streams the body of the request fails with the error of the client.
  report(error: Error, { request }: HttpResponse): void {
    this.#handler.report?.(error, { request, status: statusOf(error) })
  }

  // `onAccess` is called once per request, with the last response that was attempted.
  #recordAccess(response: HttpResponse): void {
    const { onAccess } = this.#options
    const isRecorded = this.#response !== undefined
    this.#response = response
    if (onAccess === undefined || isRecorded) return
    const { connection, out, method } = this.incoming
    const report = (): void => {
      const durationMs = performance.now() - this.#startedAt
      onAccess({ method, response: this.#response ?? response, bytes: this.bytes, durationMs })
    }
    connection.watchOutcome(out, report, report)
  }
}

function methodsOfServer(): HttpResponse {
  const response = new HttpResponse()
  response.status = 204
  response.headers.set('Allow', STANDARD_METHODS.join(', '))
  return response
}
