import { checkNames } from './check-options.ts'
import { decodePercent } from './params.ts'
import { type ResponseHeaders, rawValueOf, setUnchecked } from './response-headers.ts'
import { forgetLastMatch } from './retention.ts'

/** The attributes of a cookie. The defaults are `Path=/; HttpOnly; SameSite=Lax`. */
export interface CookieAttributes {
  /** The path below which the client sends the cookie (default `/`). */
  readonly path?: string | undefined
  /** The domain whose hosts receive the cookie (default: only the host of the request). */
  readonly domain?: string | undefined
  /** Whole seconds that the client keeps the cookie; 0 removes it (default: until the browser closes). */
  readonly maxAgeSeconds?: number | undefined
  /** The date until which the client keeps the cookie. `maxAgeSeconds` takes precedence. */
  readonly expires?: Date | undefined
  /** Whether scripts of a page cannot read the cookie (default true). */
  readonly httpOnly?: boolean | undefined
  /** Whether the client sends the cookie over TLS only (default false). */
  readonly secure?: boolean | undefined
  /** Which requests from other sites send the cookie (default `lax`). */
  readonly sameSite?: 'strict' | 'lax' | 'none' | undefined
  /** Whether each site that embeds this one has its own cookie (default false). */
  readonly partitioned?: boolean | undefined
}

/** Maximum bytes of the name and the value of a cookie: a browser ignores a longer one (RFC 6265bis, 5.6). */
export const MAX_COOKIE_BYTES = 4_096
// The same for an attribute.
const MAX_ATTRIBUTE_BYTES = 1_024

const ATTRIBUTES: readonly (keyof CookieAttributes)[] = [
  'path',
  'domain',
  'maxAgeSeconds',
  'expires',
  'httpOnly',
  'secure',
  'sameSite',
  'partitioned',
]
// A year beyond 9999 has no form in a cookie.
const MAX_TIME = Date.UTC(10_000, 0)

const NAME = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const TOKEN = new RegExp(`^${NAME}$`)
// trim() would also remove a no-break space: another host of the domain could then set the cookie `__Host-s`, by a name that has
// no prefix for a browser.
const SPACED = new RegExp(`^[ \t]*(${NAME})[ \t]*$`)
// The characters that a value cannot hold (RFC 6265bis, 4.1.1), and `%`, which starts an escape.
const ESCAPED = /[^!#$&-+\--:<-[\]-~]/gu
const PREFIX = /^__(?:Host|Secure)-/i
// A path and a whole domain. Neither may hold a control character or a semicolon.
const PATH = /^\/[ -:<-~]*$/
const DOMAIN = /^\.?[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i

const readOnly = {
  value: () => {
    throw new TypeError('The cookies of a request are read-only: use response.cookies')
  },
}

/**
 * Parses a `Cookie` header. Skips pairs that it cannot read. The first of several cookies with one name counts: it
 * belongs to the longest path (RFC 6265bis, 5.8.3).
 *
 * A value is percent-decoded if it has valid escapes only; surrounding quotes are removed.
 */
export function parseCookies(header: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>()
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=')
    const name = SPACED.exec(pair.slice(0, Math.max(0, equals)))?.[1]
    if (name && !cookies.has(name)) cookies.set(name, decoded(pair.slice(equals + 1)))
  }
  forgetLastMatch()
  return Object.defineProperties(cookies, { set: readOnly, delete: readOnly, clear: readOnly })
}

function decoded(raw: string): string {
  const value = raw.trim().replace(/^"(.*)"$/, '$1')
  // Another program may have set the cookie, with a `%` that starts no escape. Checks this without decodeURIComponent(), whose
  // exception takes 6 µs.
  if (!value.includes('%') || /%(?![\da-f]{2})/i.test(value)) return value
  const text = decodePercent(value)
  const isUtf8 = text.split('\ufffd').length === value.split(/%ef%bf%bd|\ufffd/i).length
  return isUtf8 ? text : value
}

/**
 * The cookies that a response sets, in its header `Set-Cookie`.
 */
export class ResponseCookies {
  readonly #headers: ResponseHeaders
  // The field lines that were set last, and the indexes of the lines of each cookie in ascending order. They are kept, because
  // parsing all lines again for each of 3,200 cookies took 11 s.
  #lines: string[] = []
  readonly #indexes = new Map<string, number[]>()

  /** @internal */
  constructor(headers: ResponseHeaders) {
    this.#headers = headers
  }

  /**
   * Sets a cookie, in place of one of this response with the same name, domain and path. The value may be any
   * text: characters that a cookie cannot hold are percent-encoded.
   *
   * @throws {TypeError} If the name, the value or an attribute is invalid; name and value are longer than 4,096 bytes;
   * `SameSite=None` or `Partitioned` has no `secure`; or the rules of a prefix (`__Host-`, `__Secure-`) do not hold.
   */
  set(name: string, value: string, attributes: CookieAttributes = {}): this {
    const start = nameAndValue(name, value)
    const line = [start, ...attributeTexts(name, attributes)].join('; ')
    const key = identityOf(line)
    const lines = rawValueOf(this.#headers, 'Set-Cookie')
    if (lines !== this.#lines) this.#read(typeof lines === 'string' ? [lines] : [...lines])
    const [index = this.#lines.length, ...others] = this.#indexes.get(key) ?? []
    this.#lines[index] = line
    this.#indexes.set(key, [index])
    if (others.length > 0) this.#remove(others)
    setUnchecked(this.#headers, 'Set-Cookie', this.#lines)
    return this
  }

  // Removes lines, by their indexes in ascending order. The last lines take their places: to move all lines behind them would take
  // time that grows with their number.
  #remove(removed: readonly number[]): void {
    const lines = this.#lines
    const count = lines.length - removed.length
    const free = removed.filter((index) => index < count)
    for (const key of new Set(lines.slice(count).map(identityOf))) {
      const indexes = this.#indexes.get(key) as number[]
      const texts = indexes.map((index) => lines[index] as string)
      const kept = indexes.filter((index) => index < count)
      kept.push(...free.splice(0, indexes.length - kept.length))
      // The lines of a cookie keep their order, because a client keeps the last one.
      kept
        .sort((a, b) => a - b)
        .forEach((index, i) => {
          lines[index] = texts[i] as string
        })
      this.#indexes.set(key, kept)
    }
    lines.length = count
  }

  // Reads the header after other code has changed it. Reads only the new lines if that code has only appended lines.
  #read(lines: string[]): void {
    const isExtended = this.#lines.every((line, i) => line === lines[i])
    if (!isExtended) this.#indexes.clear()
    for (let i = isExtended ? this.#lines.length : 0; i < lines.length; i++) {
      const key = identityOf(lines[i] as string)
      // Other code may set a cookie twice, such as with and without `Partitioned`.
      const indexes = this.#indexes.get(key)
      if (indexes === undefined) this.#indexes.set(key, [i])
      else indexes.push(i)
    }
    this.#lines = lines
  }

  /**
   * Removes a cookie from the client. `path`, `domain` and the other attributes must be those that it was set with. The
   * default of `secure` is true for the prefixes `__Host-` and `__Secure-`.
   *
   * @throws {TypeError} As {@link ResponseCookies.set} does.
   */
  delete(name: string, attributes: Omit<CookieAttributes, 'maxAgeSeconds' | 'expires'> = {}): this {
    const secure = attributes.secure ?? PREFIX.test(name)
    return this.set(name, '', { ...attributes, secure, maxAgeSeconds: 0, expires: new Date(0) })
  }
}

function nameAndValue(name: string, value: string): string {
  if (typeof name !== 'string' || !TOKEN.test(name)) {
    throw new TypeError(`Expected the name of a cookie, such as "theme", got "${String(name)}"`)
  }
  if (typeof value !== 'string' || !value.isWellFormed()) {
    throw new TypeError(`Expected the value of the cookie "${name}" to be a well-formed string`)
  }
  // Does not escape a value that is too long: it would not become shorter, and 1 MB, such as from a form, takes 0.3 s.
  const isLong = value.length > MAX_COOKIE_BYTES
  const text = isLong ? value : value.replace(ESCAPED, encodeURIComponent)
  if (name.length + text.length > MAX_COOKIE_BYTES) {
    throw new TypeError(`Expected the cookie "${name}" to have at most ${MAX_COOKIE_BYTES} bytes`)
  }
  return `${name}=${text}`
}

const SAME_SITE = { strict: 'Strict', lax: 'Lax', none: 'None' } as const

// Returns the attributes in the order of RFC 6265bis, section 4.1.1.
function attributeTexts(name: string, attributes: CookieAttributes): readonly string[] {
  checkNames(`attributes of the cookie "${name}"`, attributes, ATTRIBUTES)
  const { path = '/', domain, maxAgeSeconds, expires, sameSite = 'lax' } = attributes
  const { httpOnly = true, secure = false, partitioned = false } = attributes
  const check = (isValid: boolean, expected: string): void => {
    if (!isValid) throw new TypeError(`Expected ${expected} of the cookie "${name}"`)
  }
  check(isText(path, PATH), 'a path such as "/admin" as "path"')
  check(domain === undefined || isText(domain, DOMAIN), 'a host name as "domain"')
  check(
    maxAgeSeconds === undefined || Number.isSafeInteger(maxAgeSeconds),
    'a whole number as "maxAgeSeconds"',
  )
  const isDate = expires instanceof Date && expires.getTime() < MAX_TIME
  check(expires === undefined || isDate, 'a valid Date as "expires"')
  check(Object.hasOwn(SAME_SITE, sameSite), '"strict", "lax" or "none" as "sameSite"')
  const areBooleans = [httpOnly, secure, partitioned].every((flag) => typeof flag === 'boolean')
  check(areBooleans, 'true or false as "httpOnly", "secure" and "partitioned"')
  check(secure || (sameSite !== 'none' && !partitioned), '"secure" with "none" and "partitioned"')
  check(secure || !PREFIX.test(name), '"secure" for the prefix')
  const isHostOnly = path === '/' && domain === undefined
  check(isHostOnly || !/^__Host-/i.test(name), 'the path "/" and no "domain" for the prefix')
  const texts = [
    expires && `Expires=${new Date(expires).toUTCString()}`,
    maxAgeSeconds !== undefined && `Max-Age=${maxAgeSeconds}`,
    domain && `Domain=${domain}`,
    `Path=${path}`,
    secure && 'Secure',
    httpOnly && 'HttpOnly',
    `SameSite=${SAME_SITE[sameSite]}`,
    partitioned && 'Partitioned',
  ]
  return texts.filter((text) => typeof text === 'string')
}

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && value.length <= MAX_ATTRIBUTE_BYTES && pattern.test(value)
}

// Returns name, domain and path, which identify a cookie (RFC 6265bis, 5.7). Other code may have set the line.
function identityOf(line: string): string {
  const [start = '', ...attributes] = line.split(';').map((each) => each.trim())
  const name = start.split('=', 1)[0]?.trim()
  const last = (attribute: string): string => {
    const isNamed = (each: string): boolean => each.toLowerCase().startsWith(`${attribute}=`)
    return attributes.findLast(isNamed)?.slice(attribute.length + 1) ?? ''
  }
  return [name, last('domain').replace(/^\./, '').toLowerCase(), last('path')].join(';')
}
