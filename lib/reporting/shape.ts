import { letterPairScore } from './letter-pairs.ts'

// The shape of a form field of 1 MB must not take longer than that of a short one.
const MAX_EXAMINED = 1_024
const MAX_ITEMS = 10_000

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
 * | `list(n)`   | n words, URLs or tokens, with spaces or commas between; n <= 10,000 |
 * | `token(n)`  | n visible ASCII characters without white space                    |
 * | `text(n)`   | anything else, n characters                                       |
 *
 * @param length The length of the whole value, if `value` is only its beginning: no `list(n)` then.
 */
export function shapeOf(value: string, length: number = value.length): string {
  const text = value.length > MAX_EXAMINED ? value.slice(0, MAX_EXAMINED) : value
  if (length === 0) return 'empty'
  if (/^[0-9]+$/.test(text)) return `digits(${length})`
  if (length <= 32 && /^[A-Za-z]+(?:[-_.][A-Za-z]+)*$/.test(text)) return `word(${length})`
  if (/^[a-z][a-z0-9+.-]*:\/\/[\x21-\x7e]*$/i.test(text)) return text.includes('?') ? 'url?' : 'url'
  if (value.length === length && /^[\w:/?#.~+%&=-]+(?:[ ,]+[\w:/?#.~+%&=-]+)+$/.test(text)) {
    return `list(${value.split(/[ ,]+/, MAX_ITEMS).length})`
  }
  return /^[\x21-\x7e]+$/.test(text) ? `token(${length})` : `text(${length})`
}

/**
 * Returns a name from a request if it looks like a name, else its shape. A secret may stand where a
 * name is expected (`/4/0AfJohXkq...`), so a long mixture of letters and digits is not a name.
 */
export function safeName(name: string): string {
  return name === '' || isName(name) ? name : shapeOf(name)
}

/** Returns whether text looks like a name: `[A-Za-z0-9._-]`, up to 64 characters, not a token. */
export function isName(text: string): boolean {
  return hasNameCharacters(text) && !isToken(text)
}

/** Returns whether text is `[A-Za-z0-9._-]`, up to 64 characters. */
export function hasNameCharacters(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,64}$/.test(text)
}

// The end of the name of a file, which is no word.
const EXTENSION = /\.[A-Za-z]{1,4}$/

// Names consist of words. In doubt, a text counts as a token: a shape in place of a name is a
// nuisance, but a secret in place of a name is a leak.
function isToken(text: string): boolean {
  if (text.length < 8) return false
  if (text.length > 8 && isMixture(text)) return true
  // A row of x is not a secret.
  const isDiverse = new Set(text.toLowerCase()).size >= 6
  return (
    isDiverse && (/[a-z]{24}|[A-Z]{24}/.test(text) || wordScore(text.replace(EXTENSION, '')) < 0)
  )
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
