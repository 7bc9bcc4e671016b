import { validateHeaderName, validateHeaderValue } from 'node:http'

/** A header's value: a list is sent as one field line each (`Set-Cookie`). */
export type HeaderValue = string | number | readonly string[]

// Whoever says where a message ends must be the one who writes it: two opinions are a smuggled request.
const FRAMING = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Sets a header that is known to be one: what is written in this program need not be checked at each request. */
export let setKnown: (headers: ResponseHeaders, name: string, value: string) => void
/** The field lines as `writeHead` takes them, name and value in turns, but for `Content-Length`. */
export let fieldLinesOf: (headers: ResponseHeaders) => string[]

/**
 * The headers of a response: names in any case, values checked when they are set, so that a bad one
 * is an error of the action and never of the wire.
 *
 * @example
 * response.headers.set('Cache-Control', 'no-store').append('Set-Cookie', 'a=1; HttpOnly')
 */
export class ResponseHeaders
  implements Iterable<[name: string, value: string | readonly string[]]>
{
  // A list: a response has a few headers, and to make a Map took longer than to route the request.
  readonly #fields: Field[] = []

  static {
    setKnown = (headers, name, value) => headers.#put(name, value)
    fieldLinesOf = (headers) => headers.#fieldLines()
  }

  /** How many different names there are. */
  get size(): number {
    return this.#fields.length
  }

  /**
   * Sets a header, in place of what it was.
   *
   * @throws {TypeError} If the name or the value can't stand in a header, or the name is one of the
   * framing headers (`Transfer-Encoding`, `Connection`, ...), which belong to the wire.
   */
  set(name: string, value: HeaderValue): this {
    const values = checkHeader(name, value)
    this.#put(name, Array.isArray(value) ? values : String(value))
    return this
  }

  /**
   * Adds a field line to those that the name has already.
   *
   * @throws {TypeError} As {@link ResponseHeaders.set} does.
   */
  append(name: string, value: string): this {
    return this.set(name, [this.#find(String(name))?.value ?? [], value].flat())
  }

  /** The value, several field lines joined by `, `; undefined where there is none. */
  get(name: string): string | undefined {
    const value = this.#find(name)?.value
    return value === undefined || typeof value === 'string' ? value : value.join(', ')
  }

  /** Whether there is a header of the name. */
  has(name: string): boolean {
    return this.#find(name) !== undefined
  }

  /** Takes a header away; false where there was none. */
  delete(name: string): boolean {
    const field = this.#find(name)
    if (field === undefined) return false
    this.#fields.splice(this.#fields.indexOf(field), 1)
    return true
  }

  /** Each name as it was written last, and its value; in the order in which they were first set. */
  *[Symbol.iterator](): IterableIterator<[name: string, value: string | readonly string[]]> {
    for (const { name, value } of this.#fields) yield [name, value]
  }

  #put(name: string, value: string | readonly string[]): void {
    const field = this.#find(name)
    if (field === undefined) {
      this.#fields.push({ name, value })
    } else {
      field.name = name
      field.value = value
    }
  }

  #find(name: string): Field | undefined {
    for (const field of this.#fields) if (isSameName(field.name, name)) return field
    return undefined
  }

  #fieldLines(): string[] {
    const lines: string[] = []
    for (const { name, value } of this.#fields) {
      if (isSameName(name, 'Content-Length')) continue
      if (typeof value === 'string') lines.push(name, value)
      else for (const each of value) lines.push(name, each)
    }
    return lines
  }
}

interface Field {
  name: string
  value: string | readonly string[]
}

function isSameName(one: string, other: string): boolean {
  return one === other || (one.length === other.length && one.toLowerCase() === other.toLowerCase())
}

/**
 * Checks that a header can be sent.
 *
 * @returns Its field lines.
 * @throws {TypeError} If it can't, or belongs to the wire.
 */
export function checkHeader(name: string, value: HeaderValue): readonly string[] {
  validateHeaderName(name)
  const key = name.toLowerCase()
  if (FRAMING.has(key)) throw new TypeError(`The header "${key}" is set by the server alone`)
  const values = [value].flat().map((each) => (typeof each === 'number' ? String(each) : each))
  if (values.length === 0 || values.some((each) => typeof each !== 'string')) {
    throw new TypeError(
      `Expected the header "${name}" to be a string, a number or a list of strings`,
    )
  }
  for (const each of values) validateHeaderValue(name, each)
  // One proxy reads 0x5 as five, the next one as nothing.
  if (key === 'content-length' && !(values.length === 1 && /^\d{1,15}$/.test(values[0] ?? ''))) {
    throw new TypeError('Expected the header "content-length" to be one whole number')
  }
  return values
}
