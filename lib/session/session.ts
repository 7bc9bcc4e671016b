import { checkNames } from '../http/check-options.ts'
import type { HttpRequest } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import { cookieSiteOf } from './cookie-site.ts'
import { CookieStore } from './cookie-store.ts'
import { checkedMs } from './durations.ts'
import { createFlash, type Flash } from './flash.ts'
import { checkInstalled } from './optional-package.ts'
import { createSeal } from './seal.ts'

/** Options of {@link createSession}. */
export interface SessionOptions {
  /**
   * The origin that browsers see, such as `https://news.example`. Plain HTTP is only allowed for `localhost`, `127.0.0.1`
   * and `[::1]`; the cookies then have no `Secure` and no prefix `__Host-`.
   */
  readonly origin: string
  /**
   * Strings (UTF-8) or bytes, 32 bytes or more each. The first seals, and all open: to replace a secret, put the new one
   * first, and remove the old one when its cookies have expired.
   */
  readonly secrets: readonly (string | Uint8Array | undefined)[]
  /** Milliseconds until a session ends, from when it was written (default 43,200,000: 12 hours; at most 400 days). */
  readonly ttlMs?: number | undefined
  /** The name of the cookie without its prefix: letters, digits, `-` and `_` (default `session`). */
  readonly name?: string | undefined
}

/** A session in a sealed cookie. The server stores nothing. */
export interface Session<T, FlashMessage = string> {
  /**
   * Returns what the session of a request holds; undefined if there is none. A changed, foreign or expired cookie is no
   * session. The cookie is unsealed once a request. What a response writes is read in the next request.
   */
  read(request: HttpRequest): Promise<T | undefined>
  /**
   * Begins a session, or replaces it. It ends after `ttlMs`.
   *
   * @param data A value with a JSON form: it is read as `JSON.parse(JSON.stringify(data))`.
   * @throws {TypeError} If the value has no JSON form.
   * @throws {RangeError} If name and value of the cookie would have more than 4,096 bytes.
   */
  write(response: HttpResponse, data: T): Promise<void>
  /** Ends the session in this browser. A copy of the cookie can be read until it expires. */
  clear(response: HttpResponse): void
  /** Messages for the next page, in a cookie of their own. */
  readonly flash: Flash<FlashMessage>
}

const OPTIONS: readonly (keyof SessionOptions)[] = ['origin', 'secrets', 'ttlMs', 'name']
const DEFAULT_TTL_MS = 12 * 3_600_000
const NAME = /^(?!__(?:Host|Secure)-)[A-Z0-9_-]{1,64}$/i

/**
 * Creates a session that needs no store: a cookie sealed by AES-256-GCM, which the browser can neither read nor change.
 * Several processes with the same secrets share it. Needs the package `jose`.
 *
 * @example
 * const session = createSession<{ cart: string[] }>({ origin: 'https://news.example', secrets: [process.env.SESSION_SECRET] })
 * const { cart } = (await session.read(request)) ?? { cart: [] }
 * await session.write(response, { cart: [...cart, '42'] })
 * @throws {TypeError} If an option is invalid; the message names it.
 * @throws {Error} If `jose` is not installed.
 */
export function createSession<T = unknown, FlashMessage = string>(
  options: SessionOptions,
): Session<T, FlashMessage> {
  checkNames('options of createSession()', options, OPTIONS)
  checkInstalled(['jose'], 'portico/session')
  const site = cookieSiteOf(options.origin)
  const { name = 'session', ttlMs = DEFAULT_TTL_MS } = options
  checkedMs('ttlMs', ttlMs)
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new TypeError(`Expected "name" to be a name such as "session", got "${String(name)}"`)
  }
  const storeOf = <Value>(cookie: string): CookieStore<Value> => {
    const seal = createSeal(options.secrets, `portico/session ${site.origin} ${cookie}`)
    return new CookieStore<Value>({ site, name: cookie, seal, ttlMs })
  }
  const store = storeOf<T>(name)
  return {
    read: (request) => store.read(request),
    write: (response, data) => store.write(response, data),
    clear: (response) => store.clear(response),
    flash: createFlash(storeOf<readonly FlashMessage[]>(`${name}.flash`)),
  }
}
