import { Readable } from 'node:stream'
import { isPromiseLike } from './async.ts'
import { type BodyChunks, isChunks, toReadable } from './body.ts'
import { ResponseCookies } from './cookies.ts'
import type { Markup } from './html.ts'
import { type HttpRequest, stateOf } from './request.ts'
import { ResponseHeaders, setUnchecked, varyBy } from './response-headers.ts'

const NO_EXCEPTIONS: readonly Error[] = Object.freeze([])

/** The body of a response: text, bytes, a stream of bytes, or nothing. */
export type ResponseBody = string | Uint8Array | Readable | undefined

/** Reports whether a value is a response. Unlike `instanceof`, it rejects an object that only has the prototype. */
export let isResponse: (value: unknown) => value is HttpResponse

/** Operations on a response for the server and the loop only: index.ts does not export them. */
export let responseLifecycle: {
  /** Marks the body as being sent: a body that is set later is destroyed at once. */
  seal(response: HttpResponse): void
  /**
   * Destroys the body, and any body that is set later: without this, an open file would stay open. If it is a stream, first
   * aborts the signal of a request (default: all signals of the message).
   */
  discard(response: HttpResponse, request?: HttpRequest): void
  /**
   * Discards the response of a request. Returns a new one for the error action, with the exception added. The failed
   * action may still write to the old response, but that is never sent.
   */
  reset(response: HttpResponse, exception: Error, request?: HttpRequest): HttpResponse
  /** Adds an exception to a response. */
  fail(response: HttpResponse, exception: Error): void
}

/**
 * The response that an action fills in. The server sends it after the action has ended, and nothing before.
 */
export class HttpResponse {
  /** The headers, without those of the framing (`Transfer-Encoding`, `Connection`), which the server sets. */
  readonly headers: ResponseHeaders = new ResponseHeaders()
  /** A switch of ZF1 for a custom error controller (default false). Portico does not read it. */
  renderExceptions = false
  /** The original request, with the requested names; undefined until the response is complete. */
  request: HttpRequest | undefined
  #status = 200
  #body: ResponseBody
  // The value that `body` was set to. It differs from `#body` if chunks were converted.
  #assigned: ResponseBody | BodyChunks
  #isSealed = false
  #isRedirected = false
  #exceptions: readonly Error[] = NO_EXCEPTIONS
  #cookies: ResponseCookies | undefined

  static {
    isResponse = (value): value is HttpResponse =>
      Object(value) === value && #status in (value as object)
    responseLifecycle = {
      seal(response) {
        response.#isSealed = true
      },
      discard(response, request) {
        response.#isSealed = true
        const body = response.#body
        const from = request ?? response.request
        const message = from && stateOf(from).message
        // If the client has left, the connection aborts the signal.
        if (message && needsSignal(body, response.#assigned) && !message.aborted) {
          // The error action has a signal of its own.
          if (request) message.cancellations.cancelFor(request.errorHandler)
          else message.cancellations.cancelAll()
        }
        destroy(body)
      },
      reset(response, exception, request) {
        this.discard(response, request)
        const next = new HttpResponse()
        next.#exceptions = response.#exceptions
        this.fail(next, exception)
        return next
      },
      fail(response, exception) {
        response.#exceptions = Object.freeze([...response.#exceptions, exception])
      },
    }
  }

  /** The exceptions of the request: one in the error action, two if that or sending failed. */
  get exceptions(): readonly Error[] {
    return this.#exceptions
  }

  /** The cookies that the response sets. */
  get cookies(): ResponseCookies {
    this.#cookies ??= new ResponseCookies(this.headers)
    return this.#cookies
  }

  /** The status code (default 200). */
  get status(): number {
    return this.#status
  }

  /** @throws {RangeError} If the status is not an integer from 200 to 599. */
  set status(status: number) {
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError(
        `Expected a status from 200 to 599, got the ${typeof status} "${status}"`,
      )
    }
    this.#status = status
  }

  /**
   * The body (default none): text in UTF-8, bytes, or a stream of both. An async iterable or a web `ReadableStream`
   * becomes a Node.js stream; an array is rejected.
   *
   * A stream is sent as it produces data, no faster than the client reads, and chunked unless `Content-Length` is set.
   * If it fails (a chunk is neither text nor bytes) within 200 ms and before its first byte, the error controller
   * responds; later, the connection is closed. A stream that is not sent completely is destroyed. A generator that is
   * awaiting other work notices this only by `request.signal`.
   */
  get body(): ResponseBody {
    return this.#body
  }

  /** @throws {TypeError} If the body has another type, or is a web stream that is locked. */
  set body(value: ResponseBody | BodyChunks) {
    if (value === this.#assigned) return
    const body = isChunks(value) ? toReadable(value) : value
    if (body === this.#body) return
    const isBytes = body instanceof Uint8Array || body instanceof Readable
    if (body !== undefined && typeof body !== 'string' && !isBytes) {
      throw new TypeError('Expected a body that is a string, bytes or a readable stream')
    }
    // Without a listener, an error of a stream that is not read yet would end the process.
    if (body instanceof Readable) body.on('error', () => {})
    const isUnsent = this.#isSealed || this.#keepsRedirect()
    destroy(isUnsent ? body : this.#body)
    if (isUnsent) return
    this.#body = body
    this.#assigned = value
  }

  /**
   * Sets a plain text body and its `Content-Type`. For another type, set the header afterwards (also for `html`, `json`).
   *
   * @returns The response, which an action or a hook can return to end the request.
   */
  text(text: string): this {
    return this.#fill('text/plain; charset=utf-8', text)
  }

  /** Sets an HTML body. Escape values from a request in it, as the template tag `html` does. */
  html(page: string | Markup): this {
    const text = page && !isPromiseLike(page) ? String(page) : page
    return this.#fill('text/html; charset=utf-8', text)
  }

  /**
   * Sets a JSON body.
   *
   * @throws {TypeError} If the value has no JSON form (`undefined`, a promise, a cycle, a bigint).
   */
  json(value: unknown): this {
    if (isPromiseLike(value))
      throw new TypeError('A promise has no JSON form: is an "await" missing?')
    const text = JSON.stringify(value)
    if (text === undefined) throw new TypeError(`A ${typeof value} has no JSON form`)
    return this.#fill('application/json', text)
  }

  /**
   * Redirects the client. A body that is set afterwards is not sent, unless the status is changed too.
   *
   * @param location A URL or a path. Characters that a header cannot hold are percent-encoded.
   * @param status 301, 302 (the default), 303, 307 or 308.
   * @throws {TypeError} If the location is not a string.
   * @throws {RangeError} If the status is not one of these.
   */
  redirect(location: string, status = 302): this {
    if (!isRedirectStatus(status)) {
      throw new RangeError(`Expected 301, 302, 303, 307 or 308, got "${status}"`)
    }
    if (typeof location !== 'string') throw new TypeError('Expected a location that is a string')
    // A lone surrogate has no percent-encoding.
    const text = location.toWellFormed()
    this.headers.set('Location', text.replace(/[^\x21-\x7e]+/g, encodeURIComponent))
    this.status = status
    this.#isRedirected = true
    return this
  }

  /**
   * Adds the name of a request header to `Vary`, unless it is there: a cache then keeps one copy for each of its values.
   *
   * @throws {TypeError} If it is not a valid name of a header.
   */
  vary(name: string): this {
    varyBy(this.headers, name)
    return this
  }

  // Whether the response still redirects: an action that redirects and goes on must not send its page behind the redirect.
  // Not a getter: V8 reads a private one by a slow function of its runtime.
  #keepsRedirect(): boolean {
    return this.#isRedirected && isRedirectStatus(this.#status)
  }

  #fill(type: string, body: unknown): this {
    if (typeof body !== 'string') throw new TypeError(`Expected a text, got ${typeof body}`)
    if (this.#keepsRedirect()) return this
    // Replaces an earlier type: a browser must not read the body of text() after html() as HTML.
    setUnchecked(this.headers, 'Content-Type', type)
    this.body = body
    return this
  }
}

function isRedirectStatus(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

// Reports whether only the signal can stop the work behind a body that is not sent. Another part of the action may still write to its
// own stream, also to one that is destroyed. A generator that is destroyed has ended its work. A web stream is cancelled: a listener
// for `abort` that closed it then would throw, and end the process.
function needsSignal(body: ResponseBody, assigned: unknown): boolean {
  if (!(body instanceof Readable) || assigned instanceof ReadableStream) return false
  return !body.readableEnded && (!body.destroyed || body === assigned)
}

function destroy(body: ResponseBody): void {
  try {
    if (body instanceof Readable) body.destroy()
  } catch {
    // The destroy() of a custom stream threw: nothing more can be done.
  }
}
