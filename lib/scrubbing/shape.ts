import { SPACE } from '../http/params.ts'
import { letterPairScore } from './letter-pairs.ts'

// The shape of a form field of 1 MB must not take longer than that of a short one.
const MAX_EXAMINED = 1_024
const MAX_LIST = 16_384

const COMMA = 0x2c

/** The shape of a value without its length, such as `token()`. */
export type ShapeKind =
  | 'empty'
  | 'digits()'
  | 'word()'
  | 'url'
  | 'url?'
  | 'list()'
  | 'token()'
  | 'text()'

/** The shape of a value as data. */
export interface Shape {
  readonly kind: ShapeKind
  /** Number of characters, or of the items of a list. */
  readonly length: number
}

/**
 * Returns the shape of a value: its kind and length, and nothing of its content. Every string has a
 * shape, the first one in this table that fits:
 *
 * | shape       | value                                                             |
 * |-------------|-------------------------------------------------------------------|
 * | `empty`     | the empty string                                                  |
 * | `digits(n)` | n digits                                                          |
 * | `word(n)`   | letters, parts joined by `-`, `_` or `.`; n characters, at most 32 |
 * | `url`       | an absolute URL; `url?` if it has a query string                  |
 * | `list(n)`   | n words, URLs or tokens, with spaces or commas between; at most 16 KiB |
 * | `token(n)`  | n visible ASCII characters without white space                    |
 * | `text(n)`   | anything else, n characters                                       |
 *
 * @param length The length of the whole value, if `value` is only its beginning: no `list(n)` then.
 */
export function shapeOf(value: string, length?: number): string {
  const shape = readShape(value, length)
  return shape.kind.replace('()', `(${shape.length})`)
}

/** Does the same as {@link shapeOf}, but returns data. */
export function readShape(value: string, length: number = value.length): Shape {
  const kind = kindOf(value, length)
  return { kind, length: kind === 'list()' ? countItems(value) : length }
}

// Builds no list of the items: 64 values may have 8,192 items each.
function countItems(list: string): number {
  let items = 0
  let isWithin = false
  for (let i = 0; i < list.length; i++) {
    const code = list.charCodeAt(i)
    const isSeparator = code === SPACE || code === COMMA
    if (!isSeparator && !isWithin) items++
    isWithin = !isSeparator
  }
  return items
}

function kindOf(value: string, length: number): ShapeKind {
  if (!length) return 'empty'
  const text = value.slice(0, MAX_EXAMINED)
  if (/^\d+$/.test(text)) return 'digits()'
  if (length <= 32 && /^[a-z]+(?:[-_.][a-z]+)*$/i.test(text)) return 'word()'
  const isVisible = /^[!-~]+$/.test(text)
  // Most values have no such characters, and to find that out takes less time than the patterns.
  if (isVisible && text.includes('://') && /^[a-z][a-z\d+.-]*:\/\//i.test(text)) {
    return text.includes('?') ? 'url?' : 'url'
  }
  const mayBeList =
    length <= MAX_LIST && value.length === length && (!isVisible || text.includes(','))
  // Separators, but not at the beginning or at the end.
  if (mayBeList && /^(?![ ,])[\w:/?#.~+%&= ,-]+(?<![ ,])$/.test(text)) return 'list()'
  return isVisible ? 'token()' : 'text()'
}

/**
 * Returns a name from a request if it looks like a name, else its shape. A secret may stand where a
 * name is expected (`/4/0AfJohXkq...`), so a long mixture of letters and digits is not a name.
 */
export function safeName(name: string): string {
  return name === '' || isName(name) ? name : shapeOf(name)
}

/** Returns the name of a class, which is code, as {@link safeName} does; also that of an error with an acronym: `YAMLException`. */
export function safeClassName(name: string): string {
  return /^[A-Za-z]{1,40}(?:Error|Exception)$/.test(name) ? name : safeName(name)
}

/** Reports whether text looks like a name: `[A-Za-z0-9._-]`, up to 64 characters, not a token. */
export function isName(text: string): boolean {
  return hasNameCharacters(text) && !isToken(text)
}

/** Reports whether text is `[A-Za-z0-9._-]`, up to 64 characters. */
export function hasNameCharacters(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,64}$/.test(text)
}

// The extension of a file, which is not a word.
const EXTENSION = /\.[A-Za-z]{1,4}$/

// Names consist of words. In doubt, a text counts as a token: a shape in place of a name is a
// nuisance, but a secret in place of a name is a leak.
function isToken(text: string): boolean {
  if (text.length < 8) return false
  if (text.length > 8 && isMixture(text)) return true
  if (!isDiverse(text.toLowerCase())) return false
  return /[a-z]{24}|[A-Z]{24}/.test(text) || wordScore(text.replace(EXTENSION, '')) < 0
}

// Reports whether a text has six different characters. A row of x is not a secret.
function isDiverse(text: string): boolean {
  let different = 0
  for (let i = 0; i < text.length && different < 6; i++) {
    if (text.indexOf(text.charAt(i)) === i) different++
  }
  return different === 6
}

// A change between letters and digits, and a capital that begins no word, are rare in names.
function wordScore(text: string): number {
  const isConstant = /^[A-Z0-9_.-]+$/.test(text)
  const capitals = isConstant ? 0 : count(text, /[A-Z](?![a-z])/g)
  return letterPairScore(text) - 3 * countChanges(text) - 2 * capitals
}

function isMixture(text: string): boolean {
  if (/^[a-z._-]+$/.test(text)) return false
  const digits = count(text, /[0-9]/g)
  const capitals = count(text, /[A-Z]/g)
  const isConstant = /^[A-Z]+(?:_[A-Z]+)+$/.test(text)
  return (
    digits >= (text.length < 16 ? 5 : 4) ||
    countChanges(text) >= 3 ||
    (text.length >= 12 && capitals > text.length / 3 && !isConstant)
  )
}

function countChanges(text: string): number {
  return count(text, /(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])/gi)
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
