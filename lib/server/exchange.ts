import type { IncomingMessage, ServerResponse } from 'node:http'
// Imported, because each use of the global `process` calls a getter.
import { nextTick } from 'node:process'
import { isPromiseLike } from '../http/async.ts'
import { monotonicMs } from '../http/clock.ts'
import { ClientGoneError } from '../http/errors.ts'
import { statusOf, toError } from '../http/exceptions.ts'
import { HttpRequest, stateOf } from '../http/request.ts'
import { STANDARD_METHODS } from '../http/request-line.ts'
import { HttpResponse, isResponse, responseLifecycle } from '../http/response.ts'
import { runBefore, watchHead } from './before.ts'
import { reportCutUpgrade } from './client-error.ts'
import type { EndListener } from './connection.ts'
import { closesByTrailer, type HeaderLimits, readFraming } from './framing.ts'
import { type Access, type Handler, type ListenerOptions, respondBy } from './handler.ts'
import { IncomingRequest } from './incoming-request.ts'
import { type ResponseTarget, writeResponse } from './response-writer.ts'
import type { ServerStop } from './server-stop.ts'

interface ExchangeOptions extends ListenerOptions {
  readonly headerLimits: HeaderLimits
  readonly stop: ServerStop
}

/** One message of `node:http` and its response. */
export class Exchange implements ResponseTarget, EndListener {
  readonly incoming: IncomingRequest
  bytes = 0
  readonly #handler: Handler
  readonly #options: ExchangeOptions
  readonly #request: HttpRequest
  // The last response that was attempted.
  #response: HttpResponse | undefined

  constructor(
    message: IncomingMessage,
    out: ServerResponse,
    handler: Handler,
    options: ExchangeOptions,
  ) {
    const { headerLimits, stop } = options
    const framing = readFraming(message, headerLimits)
    this.incoming = new IncomingRequest(message, out, framing, headerLimits.maxTargetBytes)
    const { connection, mustBeLast } = this.incoming
    connection.recordRequest(out, mustBeLast || stop.isGraceOver)
    if (framing.upgrades) reportCutUpgrade(message)
    this.#handler = handler
    this.#options = options
    this.#request = new HttpRequest(this.incoming)
  }

  get isLast(): boolean {
    // The rest of an unread body must not be read as the next request.
    return !this.incoming.isReceived || this.#endsConnection()
  }

  // Whether no message follows, even after the rest of an unread body has been read.
  #endsConnection(): boolean {
    const { isReceived, mustBeLast, message, connection, out } = this.incoming
    if (mustBeLast || closesByTrailer(message) || (connection.fault && !isReceived)) return true
    // A server that is stopping still responds to the requests that were pipelined behind this one.
    return this.stop.hasBegun && connection.latest === out && !connection.isDetached
  }

  get stop(): ServerStop {
    return this.#options.stop
  }

  /** Calls the handler, or queues the request if too many pipelined ones are in flight. */
  start(): void {
    const { connection, out } = this.incoming
    if (connection.pipeline) connection.pipeline.start(out, () => this.#start())
    else this.#start()
  }

  // Waits one tick for a body: node:http has then usually parsed the bytes that have arrived, so `body` returns them at once.
  #start(): void {
    // While the server is stopping, only the last response of a connection ends it: node:http must first parse what has arrived.
    if (this.stop.hasBegun) setImmediate(() => this.#begin())
    else if (this.incoming.isReceived) this.#begin()
    else nextTick(() => this.#begin())
  }

  // Calls the middlewares of `before`, if there are any, and then the handler.
  #begin(): void {
    const { before } = this.#options
    const { rejection, message, out, connection } = this.incoming
    if (before === undefined || rejection !== undefined) {
      this.#respond()
      return
    }
    const unwatch = watchHead(out, connection, () => this.#endsConnection())
    let isPassedOn = false
    const report = (): void => {
      if (isPassedOn || this.#response !== undefined) return
      // Without a head, the client has left while a middleware waited.
      const status = out.headersSent ? out.statusCode : new ClientGoneError().status
      this.#response = this.#emptyResponse(status >= 200 && status < 600 ? status : 500)
      this.onEnd()
    }
    if (this.#options.onAccess !== undefined) connection.watchOutcome(out, report, report)
    const done = (): void => {
      isPassedOn = true
      unwatch()
      this.#respond()
    }
    runBefore(before, message, out, done, (error) => this.#fail(error))
  }

  #respond(): void {
    try {
      const response = this.#callHandler()
      if (isPromiseLike(response)) {
        this.stop.running.add(this.incoming)
        response.then(
          (settled) => this.#deliver(settled),
          (error) => this.#fail(error),
        )
      } else this.#deliver(response)
    } catch (error) {
      this.#fail(error)
    }
  }

  #callHandler(): HttpResponse | Promise<HttpResponse> {
    const { target, method, rejection } = this.incoming
    // With the target `*`, OPTIONS applies to the whole server (RFC 9110, section 9.3.7).
    if (target === '*' && method === 'OPTIONS' && rejection === undefined) {
      const response = this.#emptyResponse(204)
      response.headers.set('Allow', STANDARD_METHODS.join(', '))
      return response
    }
    return respondBy(this.#handler, this.#request)
  }

  #deliver(response: HttpResponse): void {
    this.stop.running.delete(this.incoming)
    // As in #start(): the stop may have begun meanwhile.
    if (this.stop.hasBegun) setImmediate(() => this.#send(response))
    else this.#send(response)
  }

  #send(response: HttpResponse): void {
    try {
      response.request ??= this.#request
      this.#recordAccess(response)
      this.#write(response)
    } catch (error) {
      this.#fail(error)
    }
  }

  // Sends a 500 without a body, or closes the connection if that fails, or if the headers have been sent.
  #fail(error: unknown): void {
    const { out } = this.incoming
    this.stop.running.delete(this.incoming)
    // Nothing sends this response any more, for example because a middleware of `before` has responded meanwhile.
    if (isResponse(this.#response)) responseLifecycle.discard(this.#response)
    // A middleware of `before` may fail after it has responded.
    if (!out.writableEnded) {
      const response = this.#emptyResponse(500)
      responseLifecycle.fail(response, toError(error))
      this.#recordAccess(response)
      try {
        if (out.headersSent) throw error
        this.#write(response)
      } catch {
        // A response without a socket waits for the responses before it, which are still sent.
        if (out.socket) out.destroy()
        else out.once('socket', (socket) => socket.destroy())
      }
    }
    this.#reportFault(error)
  }

  #reportFault(error: unknown): void {
    this.#handler.report?.(error, { request: this.#requestOf(), status: 500 })
  }

  // The request of a response has the form and the route. An error may quote the cookies of that response.
  #requestOf(response = this.#response): HttpRequest {
    const request = response?.request ?? this.#request
    stateOf(request).message.hideCookies(response?.headers)
    return request
  }

  #write(response: HttpResponse): void {
    const { idHeader } = this.#options
    if (idHeader !== undefined && !response.headers.has(idHeader))
      response.headers.set(idHeader, response.request?.id ?? this.#request.id)
    writeResponse(response, this)
  }

  #emptyResponse(status: number): HttpResponse {
    const response = new HttpResponse()
    response.status = status
    response.request = this.#requestOf()
    return response
  }

  // The status is not always 500: a response that streams `request.body` fails with the error of the client.
  report(error: Error, response: HttpResponse): void {
    responseLifecycle.fail(response, error)
    this.#handler.report?.(error, { request: this.#requestOf(response), status: statusOf(error) })
  }

  // `onAccess` is called once per request, with the last response that was attempted.
  #recordAccess(response: HttpResponse): void {
    const { onAccess } = this.#options
    const isRecorded = this.#response !== undefined
    this.#response = response
    if (onAccess === undefined || isRecorded) return
    const { connection, out } = this.incoming
    connection.watchEnd(out, this)
  }

  onEnd(): void {
    const response = this.#response
    if (response === undefined) return
    const durationMs = monotonicMs() - stateOf(this.#request).message.arrivedAt
    // An error of `onAccess` must not end the process, nor keep the other listeners of the connection from being called.
    try {
      const access = new AccessRecord(this.incoming.method, response, this.bytes, durationMs)
      const returned: unknown = this.#options.onAccess?.(access)
      if (isPromiseLike(returned)) returned.then(undefined, (error) => this.#reportFault(error))
    } catch (error) {
      this.#reportFault(error)
    }
  }
}

// A class, because its getter costs nothing unless it is read.
class AccessRecord implements Access {
  readonly method: string
  readonly response: HttpResponse
  readonly bytes: number
  readonly durationMs: number

  constructor(method: string, response: HttpResponse, bytes: number, durationMs: number) {
    this.method = method
    this.response = response
    this.bytes = bytes
    this.durationMs = durationMs
  }

  get route(): string | null {
    return this.response.request?.route ?? null
  }
}
