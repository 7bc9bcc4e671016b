// Enough to tell what a value is; a form field of a megabyte must not take longer than a short one.
const LOOKED_AT = 1_024

/**
 * The shape of a value, which says what kind of thing it is and nothing of what it says. Total: any
 * string has one. The first that fits:
 *
 * | shape       | what it is                                                        |
 * |-------------|-------------------------------------------------------------------|
 * | `empty`     | nothing                                                           |
 * | `digits(n)` | n digits                                                          |
 * | `word(n)`   | letters, parts joined by `-`, `_` or `.`; n characters, at most 32 |
 * | `url`       | an absolute URL; `url?` where it has a query string               |
 * | `list(n)`   | n words, URLs or tokens, with white space or commas between       |
 * | `token(n)`  | n visible ASCII characters without white space                    |
 * | `text(n)`   | anything else, n characters                                       |
 */
export function shapeOf(value: string): string {
  const { length } = value
  const text = length > LOOKED_AT ? value.slice(0, LOOKED_AT) : value
  if (length === 0) return 'empty'
  if (/^[0-9]+$/.test(text)) return `digits(${length})`
  if (length <= 32 && /^[A-Za-z]+(?:[-_.][A-Za-z]+)*$/.test(text)) return `word(${length})`
  if (/^[a-z][a-z0-9+.-]*:\/\/[\x21-\x7e]*$/i.test(text)) return text.includes('?') ? 'url?' : 'url'
  if (/^[\w:/?#.~+%&=-]+(?:[ ,]+[\w:/?#.~+%&=-]+)+$/.test(text)) {
    return `list(${value.split(/[ ,]+/).length})`
  }
  return /^[\x21-\x7e]+$/.test(text) ? `token(${length})` : `text(${length})`
}

/**
 * A name from a request as it may be shown: itself where it looks like a name, else its shape. A
 * secret may stand where a name is due (`/4/0AfJohXkq...`): long mixtures of letters and digits are
 * no names.
 */
export function safeName(name: string): string {
  return name === '' || isName(name) ? name : shapeOf(name)
}

/** Whether text looks like a name: `[A-Za-z0-9._-]`, up to 64 characters, and not a token. */
export function isName(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,64}$/.test(text) && !isToken(text)
}

// Made to be told from a name by what a name has: words. Where in doubt it is a token: a shape in place
// of a name is a nuisance, a secret in place of a name is a leak.
function isToken(text: string): boolean {
  if (text.length < 9) return false
  // No word has so many consonants in a row, or so many letters; a row of x is no secret either.
  const isNoWord = /[bcdfghjklmnpqrstvwxz]{6}|[a-z]{24}/i.test(text)
  return isMixture(text) || (isNoWord && new Set(text.toLowerCase()).size >= 6)
}

function isMixture(text: string): boolean {
  if (/^[a-z._-]+$/.test(text)) return false
  const digits = count(text, /[0-9]/g)
  const changes = count(text, /(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])/gi)
  const capitals = count(text, /[A-Z]/g)
  const isConstant = /^[A-Z]+(?:_[A-Z]+)+$/.test(text)
  return (
    digits >= (text.length < 16 ? 5 : 4) ||
    changes >= 3 ||
    (text.length >= 12 && capitals > text.length / 3 && !isConstant)
  )
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
