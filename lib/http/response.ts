import { Readable } from 'node:stream'
import { type BodyChunks, isChunks, toReadable } from './body.ts'
import type { Markup } from './html.ts'
import type { HttpRequest } from './request.ts'
import { ResponseHeaders, setKnown } from './response-headers.ts'

const NONE: readonly Error[] = Object.freeze([])

/** What a response can send: text, bytes, a stream of bytes, or nothing. */
export type ResponseBody = string | Uint8Array | Readable | undefined

/**
 * What an action fills in. It is sent when the action has ended: nothing leaves before.
 *
 * @example
 * response.status = 201
 * response.headers.set('Location', '/news/view/id/42')
 * response.json({ id: 42 })
 */
export class HttpResponse {
  /** What is sent beside the status; the framing (`Transfer-Encoding`, `Connection`) is left to the server. */
  readonly headers: ResponseHeaders = new ResponseHeaders()
  /** ZF1's switch, for an error controller of one's own to read and set; false, and nothing here looks at it. */
  renderExceptions = false
  /** The request that it answers, with the names that were asked for; undefined until it is answered. */
  request: HttpRequest | undefined
  #status = 200
  #body: ResponseBody
  #given: ResponseBody | BodyChunks
  #sealed = false
  readonly #exceptions: readonly Error[]

  constructor(exceptions: readonly Error[] = NONE) {
    this.#exceptions = exceptions
  }

  /** The exceptions so far: one for the error action, two for the failsafe. */
  get exceptions(): readonly Error[] {
    return this.#exceptions
  }

  /** The status code (default 200). */
  get status(): number {
    return this.#status
  }

  /** @throws {RangeError} If the status is not an integer from 200 to 599. */
  set status(status: number) {
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError(`Expected a status from 200 to 599, got "${status}"`)
    }
    this.#status = status
  }

  /**
   * What is sent (default nothing): text as UTF-8, bytes, or a stream of both. An async iterable and a web
   * `ReadableStream` are taken too, and are read back as a stream of Node's; an array is not.
   *
   * A stream is sent as it comes, chunked unless `Content-Length` is set, never faster than the client reads.
   * One that fails within 200 ms, before its first byte, is answered by the error controller; later, it ends
   * the connection. One that is not sent, or not to its end, is destroyed: `return()`, `cancel()`; a generator
   * that waits for something hears of it from `request.signal` alone.
   *
   * @example
   * response.body = createReadStream('report.pdf')
   * response.body = (async function* () { for await (const row of rows) yield `${row}\n` })()
   */
  get body(): ResponseBody {
    return this.#body
  }

  /** @throws {TypeError} If the body is of another kind, or a web stream that somebody reads already. */
  set body(given: ResponseBody | BodyChunks) {
    if (given === this.#given) return
    const body = isChunks(given) ? toReadable(given) : given
    if (body === this.#body) return
    if (!isBody(body)) {
      throw new TypeError('Expected a body that is a string, bytes or a readable stream')
    }
    // A stream that fails before anybody reads it must not end the process.
    if (body instanceof Readable) body.on('error', () => {})
    // What comes when the answer is out would stay open for ever.
    destroy(this.#sealed ? body : this.#body)
    if (this.#sealed) return
    this.#body = body
    this.#given = given
  }

  /** Answers with plain text. For another type, set `Content-Type` after it (so with `html`, `json`). */
  text(text: string): void {
    this.#fill('text/plain; charset=utf-8', text)
  }

  /** Answers with a page; what comes from a request must be escaped in it, as the template `html` does. */
  html(page: string | Markup): void {
    this.#fill('text/html; charset=utf-8', String(page))
  }

  /**
   * Answers with JSON.
   *
   * @throws {TypeError} If the value has no JSON form (`undefined`, a cycle, a bigint).
   */
  json(value: unknown): void {
    const text = JSON.stringify(value)
    if (text === undefined) throw new TypeError(`A ${typeof value} has no JSON form`)
    this.#fill('application/json', text)
  }

  /**
   * Sends the client elsewhere.
   *
   * @param location A URL or a path; what can't stand in a header is percent-encoded.
   * @param status 301, 302 (the default), 303, 307 or 308.
   * @throws {TypeError} If the location is no string.
   * @throws {RangeError} If the status is no redirect.
   */
  redirect(location: string, status = 302): void {
    if (![301, 302, 303, 307, 308].includes(status)) {
      throw new RangeError(`Expected 301, 302, 303, 307 or 308, got "${status}"`)
    }
    if (typeof location !== 'string') throw new TypeError('Expected a location that is a string')
    // A lone surrogate has no percent-encoding.
    const text = location.replace(/\p{Cs}/gu, '\ufffd')
    this.headers.set('Location', text.replace(/[^\x21-\x7e]+/g, encodeURIComponent))
    this.status = status
  }

  /**
   * The response of the error action: pristine, but for the exception it records. It is a new one,
   * so what a failed action still writes, however late, is written to nobody.
   */
  reset(exception: Error): HttpResponse {
    this.discard()
    return new HttpResponse(Object.freeze([...this.exceptions, exception]))
  }

  /** Says that the body is on its way: one that is set later is let go of at once. */
  seal(): void {
    this.#sealed = true
  }

  /** Lets go of a body that will not be sent, now or later: an open file stays open otherwise. */
  discard(): void {
    this.seal()
    destroy(this.#body)
  }

  #fill(type: string, body: string): void {
    // Always: text() after html() must not be read as a page.
    setKnown(this.headers, 'Content-Type', type)
    this.body = body
  }
}

function destroy(body: ResponseBody): void {
  try {
    if (body instanceof Readable) body.destroy()
  } catch {
    // A stream of one's own that can't be destroyed is nobody's to mend any more.
  }
}

function isBody(body: unknown): body is ResponseBody {
  return (
    body === undefined ||
    typeof body === 'string' ||
    body instanceof Uint8Array ||
    body instanceof Readable
  )
}
