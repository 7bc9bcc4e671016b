import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { Kind } from './check-options.ts'

/** The value of a header. A list is sent as one field line for each item (`Set-Cookie`). */
export type HeaderValue = string | number | readonly string[]

// Only the server sets these fields: if two fields disagree about the end of a message, requests can be smuggled.
const FRAMING = /^(?:connection|keep-alive|te|trailer|transfer-encoding|upgrade)$/i

/** Sets a header without checks. Use it only for names and values that are constants of this program, or checked. */
export let setUnchecked: (headers: ResponseHeaders, name: string, value: Field['value']) => void
/** Returns the value of a header as it was set; `[]` if it is not set. */
export let rawValueOf: (headers: ResponseHeaders, name: string) => Field['value']
/** Sets the headers of a list that are not set yet. */
export let setMissing: (headers: ResponseHeaders, defaults: DefaultHeaders) => void
/**
 * Returns a flat list of alternating names and values, as `writeHead` accepts it, without `Content-Length`. A value may be a
 * list: if a middleware has set a header, Node 20 sends only the last field of a repeated name.
 *
 * @param out Has the headers of a middleware: the `Vary` of the response adds to that one. The response itself does not change: a
 * handler may send it again.
 */
export let fieldLinesOf: (
  headers: ResponseHeaders,
  out: { getHeader(name: string): unknown },
) => (string | string[])[]

/**
 * The headers of a response. Names are case-insensitive. To set an invalid value throws.
 */
export class ResponseHeaders {
  // A list and not a Map: a response has few headers, and creating a Map took longer than routing the request.
  readonly #fields: Field[] = []

  static {
    setUnchecked = (headers, name, value) => headers.#put({ name, value })
    rawValueOf = (headers, name) => headers.#find(name)?.value ?? []
    setMissing = (headers, defaults) => {
      for (const field of defaults)
        if (!headers.has(field.name)) headers.#put({ name: field.name, value: field.value })
    }
    fieldLinesOf = (headers, out) => {
      const lines: (string | string[])[] = []
      for (const { name, value } of headers.#fields) {
        const vary = isSameName(name, 'Vary') && out.getHeader(name)
        if (vary) lines.push(name, `${vary}, ${headers.get(name)}`)
        else if (!isSameName(name, 'Content-Length')) lines.push(name, value as string | string[])
      }
      return lines
    }
  }

  /** The number of different names. */
  get size(): number {
    return this.#fields.length
  }

  /**
   * Sets a header, and replaces its earlier value.
   *
   * @throws {TypeError} If the name or the value is invalid, or the server sets the header itself
   * (`Transfer-Encoding`, `Connection`, ...).
   */
  set(name: string, value: HeaderValue): this {
    return this.#put(checkedField(name, value))
  }

  /**
   * Adds a field line to a header.
   *
   * @throws {TypeError} As {@link ResponseHeaders.set} does.
   */
  append(name: string, value: string): this {
    const before = rawValueOf(this, String(name))
    const lines = typeof before === 'string' ? [before] : before
    // Checks only the new line: checking all of them for each of 3,200 lines took a second.
    return this.#put({ name, value: [...lines, ...checkHeader(name, value, lines.length)] })
  }

  /** Returns a header, with several field lines joined by `, `; undefined if it is not set. */
  get(name: string): string | undefined {
    const value = this.#find(name)?.value
    return typeof value === 'object' ? value.join(', ') : value
  }

  /** Reports whether a header is set. */
  has(name: string): boolean {
    return this.#find(name) !== undefined
  }

  /** Removes a header. Reports whether it was set. */
  delete(name: string): boolean {
    const field = this.#find(name)
    if (field !== undefined) this.#fields.splice(this.#fields.indexOf(field), 1)
    return field !== undefined
  }

  /** Iterates over names and values, in the order of the first `set()`. A name has the case of its last `set()`. */
  *[Symbol.iterator](): IterableIterator<[name: string, value: string | readonly string[]]> {
    // Copies a list, because ResponseCookies adds to that of `Set-Cookie`.
    for (const { name, value } of this.#fields)
      yield [name, typeof value === 'string' ? value : [...value]]
  }

  #put(field: Field): this {
    const before = this.#find(field.name)
    if (before === undefined) this.#fields.push(field)
    else Object.assign(before, field)
    return this
  }

  #find(name: string): Field | undefined {
    for (const field of this.#fields) if (isSameName(field.name, name)) return field
    return undefined
  }
}

interface Field {
  name: string
  value: string | readonly string[]
}

/** Adds the name of a request header to `Vary`, unless it is there. Throws a TypeError if it is not a name. */
export function varyBy(headers: ResponseHeaders, name: string): void {
  validateHeaderName(name)
  const value = headers.get('Vary') ?? ''
  const names = ` ${value.toLowerCase()},`
  const has = (each: string): boolean => names.includes(` ${each},`) || names.includes(`,${each},`)
  if (has('*') || has(name.toLowerCase())) return
  headers.set('Vary', value === '' ? name : `${value}, ${name}`)
}

/** Headers that have been checked. */
export type DefaultHeaders = readonly Readonly<Field>[]

/** @throws {TypeError} If a header cannot be sent, or is `Content-Length`. */
export function checkedHeaders(headers: Readonly<Record<string, HeaderValue>>): DefaultHeaders {
  return Object.entries(headers).map(([name, value]) => {
    if (isSameName(name, 'Content-Length')) {
      throw new TypeError('The header "content-length" differs from response to response')
    }
    return checkedField(name, value)
  })
}

function checkedField(name: string, value: HeaderValue): Field {
  const values = checkHeader(name, value)
  return { name, value: Array.isArray(value) ? values : String(value) }
}

/** The name of a header that an application can set to an id. */
export const ID_HEADER: Kind = [
  'a header name such as "X-Request-Id"',
  (name) => {
    try {
      checkHeader(name as string, 'id')
      return true
    } catch {
      // The name is not a token, or only the server may set this header.
      return false
    }
  },
]

function isSameName(one: string, other: string): boolean {
  return one.length === other.length && (one === other || one.toLowerCase() === other.toLowerCase())
}

/**
 * Checks that a header can be sent.
 *
 * @param others The number of field lines that it has besides the value.
 * @returns The field lines of the value.
 * @throws {TypeError} If the header is invalid, or only the server may set it.
 */
export function checkHeader(name: string, value: HeaderValue, others = 0): readonly string[] {
  validateHeaderName(name)
  if (FRAMING.test(name)) {
    throw new TypeError(`The header "${name.toLowerCase()}" can only be set by the server`)
  }
  const values =
    typeof value === 'string'
      ? [value]
      : [value].flat().map((each) => (typeof each === 'number' ? String(each) : each))
  if (values.length === 0 || values.some((each) => typeof each !== 'string')) {
    throw new TypeError(
      `Expected the header "${name}" to be a string, a number or a list of strings`,
    )
  }
  for (const each of values) validateHeaderValue(name, each)
  // One proxy reads `0x5` as five, and another proxy reads it as zero.
  const isLength = isSameName(name, 'Content-Length')
  if (isLength && !(values.length + others === 1 && /^\d{1,15}$/.test(values[0] ?? ''))) {
    throw new TypeError('Expected the header "content-length" to be one whole number')
  }
  return values
}
