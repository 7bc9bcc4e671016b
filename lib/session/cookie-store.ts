import { MAX_COOKIE_BYTES } from '../http/cookies.ts'
import type { Message } from '../http/message.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { headerOf } from '../http/request-readers.ts'
import type { HttpResponse } from '../http/response.ts'
import { type CookieSite, cookieName, deleteCookie, setCookie } from './cookie-site.ts'
import type { Seal } from './seal.ts'

/** Options of a {@link CookieStore}. */
export interface CookieStoreOptions<T> {
  readonly site: CookieSite
  /** The name of the cookie, without its prefix. */
  readonly name: string
  readonly seal: Seal
  /** How long a value can be read after it was written, in milliseconds. */
  readonly ttlMs: number
  /** Returns what no report about a request with the value may show (default: the whole value). */
  readonly secretsOf?: (data: T) => unknown
}

/** A value in a sealed cookie. */
export class CookieStore<T> {
  readonly #options: CookieStoreOptions<T>
  readonly #name: string
  // By message, because the requests that forwards create share it.
  readonly #opened = new WeakMap<Message, Promise<T | undefined>>()
  // Of each response, the number of calls, and the last one that has set or cleared the cookie: an earlier one may be sealed later.
  readonly #calls = new WeakMap<HttpResponse, { count: number; done: number }>()

  constructor(options: CookieStoreOptions<T>) {
    this.#options = options
    this.#name = cookieName(options.site, options.name)
  }

  /** Returns the value that a request has; undefined if it has none. Unseals it once a request. */
  async read(request: HttpRequest): Promise<T | undefined> {
    // Does not parse the cookies of a request without any.
    if (headerOf(request, 'cookie') === undefined) return undefined
    const text = request.cookies.get(this.#name)
    if (text === undefined) return undefined
    const { message } = stateOf(request)
    const opened = this.#opened.get(message) ?? this.#open(request, text)
    this.#opened.set(message, opened)
    return opened
  }

  async #open(request: HttpRequest, text: string): Promise<T | undefined> {
    const { seal, secretsOf = (data) => data } = this.#options
    const data = (await seal.open(text)) as T | undefined
    if (data !== undefined) stateOf(request).message.hide(secretsOf(data))
    return data
  }

  /**
   * Sets the cookie.
   *
   * @throws {TypeError} If the value has no JSON form.
   * @throws {RangeError} If the cookie would have more than 4,096 bytes.
   */
  async write(response: HttpResponse, data: T): Promise<void> {
    const { site, seal, ttlMs } = this.#options
    const json = this.#jsonOf(data)
    const calls = this.#callsOf(response)
    const call = ++calls.count
    // Checks the length before the encryption, which must not work on a large or deep value.
    if (json.length > MAX_COOKIE_BYTES) throw this.#tooLong(`more than ${MAX_COOKIE_BYTES}`)
    const value = await seal.seal(JSON.parse(json), ttlMs)
    const bytes = this.#name.length + value.length
    if (bytes > MAX_COOKIE_BYTES) throw this.#tooLong(bytes)
    if (call < calls.done) return
    calls.done = call
    setCookie(site, response.cookies, { name: this.#name, value, ttlMs })
  }

  #jsonOf(data: T): string {
    const message = `Expected a value with a JSON form for the cookie "${this.#name}"`
    let json: string | undefined
    try {
      json = JSON.stringify(data)
    } catch (cause) {
      throw new TypeError(message, { cause })
    }
    if (json === undefined) throw new TypeError(message)
    return json
  }

  #tooLong(bytes: number | string): RangeError {
    return new RangeError(
      `The cookie "${this.#name}" would have ${bytes} bytes; a browser keeps ${MAX_COOKIE_BYTES}: store less in it`,
    )
  }

  /** Removes the cookie from the browser. */
  clear(response: HttpResponse): void {
    const calls = this.#callsOf(response)
    calls.done = ++calls.count
    deleteCookie(this.#options.site, response.cookies, this.#name)
  }

  #callsOf(response: HttpResponse): { count: number; done: number } {
    const calls = this.#calls.get(response) ?? { count: 0, done: 0 }
    this.#calls.set(response, calls)
    return calls
  }
}
