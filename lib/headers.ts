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
  readonly #fields = new Map<string, { name: string; value: string | readonly string[] }>()

  /** How many different names there are. */
  get size(): number {
    return this.#fields.size
  }

  /**
   * Sets a header, in place of what it was.
   *
   * @throws {TypeError} If the name or the value can't stand in a header, or the name is one of the
   * framing headers (`Transfer-Encoding`, `Connection`, ...), which belong to the wire.
   */
  set(name: string, value: HeaderValue): this {
    const values = checkHeader(name, value)
    this.#fields.set(name.toLowerCase(), {
      name,
      value: Array.isArray(value) ? values : String(value),
    })
    return this
  }

  /**
   * Adds a field line to those that the name has already.
   *
   * @throws {TypeError} As {@link ResponseHeaders.set} does.
   */
  append(name: string, value: string): this {
    const present = this.#fields.get(String(name).toLowerCase())?.value ?? []
    return this.set(name, [present, value].flat())
  }

  /** The value, several field lines joined by `, `; undefined where there is none. */
  get(name: string): string | undefined {
    const value = this.#fields.get(name.toLowerCase())?.value
    return value === undefined || typeof value === 'string' ? value : value.join(', ')
  }

  has(name: string): boolean {
    return this.#fields.has(name.toLowerCase())
  }

  delete(name: string): boolean {
    return this.#fields.delete(name.toLowerCase())
  }

  *[Symbol.iterator](): IterableIterator<[name: string, value: string | readonly string[]]> {
    for (const { name, value } of this.#fields.values()) yield [name, value]
  }
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
