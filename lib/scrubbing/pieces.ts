import { lazyPattern } from './printable.ts'
import { WINDOW } from './run-index.ts'
import { foldCost } from './text-forms.ts'

// Masking every `1` and every `no` would make texts unreadable. Three characters protect no secret: they are guessed at once.
const MIN_VALUE_LENGTH = 4
const YEAR = /^(?:19|20)\d\d$/
// Matches text that begins with a number, such as an amount of money.
const NUMERIC = /^[^a-z\d]{0,4}\d/i
const MAX_NUMBER = 40

/** Reports whether a value is too short to be searched for. Folding may make it longer: three Korean letters become eight. */
export function isShort(value: string): boolean {
  return value.length < MIN_VALUE_LENGTH && foldCost(value) === 0
}

// Match what stands between separators, but nothing that is certainly short: a value may have thousands of such parts.
const PIECES = between('\\s+?&#;,|"\'()[\\]{}<>')
const PARTS = between('=')
const INNER_PARTS = between('=:@./\\\\!-')

function between(separators: string): RegExp {
  const any = `[^${separators}]`
  const pattern = `${any}{${MIN_VALUE_LENGTH},}|${any}*[^\\0-\\x7f${separators}]${any}*`
  return new RegExp(pattern, 'g')
}

/** Returns the parts of a value with a meaning of their own: values of a nested query, items of a list. */
export function* piecesOf(value: string, repeats: boolean): Generator<string> {
  const pieces = value.match(PIECES) ?? []
  for (const piece of repeats ? pieces : new Set(pieces)) {
    if (isShort(piece)) continue
    for (const part of splitPiece(piece)) {
      if (part !== value && isPiece(part)) yield part
    }
    if (/[:@./\\!-]/.test(piece) && /\d/.test(piece)) yield* innerPiecesOf(piece)
  }
}

// Returns a piece, and its parts: those before and behind its first `=`, and those between two. The first one is a name, which is
// only searched for if it has a digit.
function splitPiece(piece: string): Iterable<string> {
  const equals = piece.indexOf('=')
  if (equals < 0) return [piece]
  const name = piece.slice(0, equals)
  const rest = piece.slice(equals + 1)
  return new Set([piece, /\d/.test(name) ? name : '', rest, ...(rest.match(PARTS) ?? [])])
}

// Words without a digit are parts of every URL and host name.
function* innerPiecesOf(piece: string): Generator<string> {
  for (const part of piece.match(INNER_PARTS) ?? []) {
    if (isPiece(part) && /\d/.test(part) && !YEAR.test(part)) yield part
  }
}

// A longer part is found without being a piece: each run of 8 of its folded characters is a run of the value too.
function isPiece(part: string): boolean {
  if (isShort(part)) return false
  return !isLongWhenFolded(part) || part.includes('%') || NUMERIC.test(part)
}

// Folding removes marks, and may make one letter of two surrogates.
const longText = lazyPattern(`^(?:[\\p{M}\\uff9e\\uff9f]*[^\\p{M}\\uff9e\\uff9f]){${WINDOW}}`, 'u')

// Reports whether a text certainly has a run when it is folded. Folding it would take ten times as long.
function isLongWhenFolded(text: string): boolean {
  return longText().test(text)
}

/** Returns the numbers that an application may read in a value: 42999 in `0042999` and `$42,999`, 17500 in `1.75e4`. */
export function numbersIn(value: string): readonly string[] {
  // Full-width digits become ASCII.
  const text = value.length > MAX_NUMBER ? '' : value.normalize('NFKC')
  if (!NUMERIC.test(text)) return []
  // A plus between digits is a space.
  const digits = text.replace(/^[^\w.+-]+|[\s,_']|(?<=\d)\+(?=\d)/g, '')
  const { abs, ceil, floor } = Math
  const number = abs(Number(digits))
  const numbers = [number, floor(number), ceil(number), abs(Number.parseFloat(digits))]
  return [...new Set(numbers.map(String))].filter((text) => text !== value)
}
