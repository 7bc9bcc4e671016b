/** A part of an expression: a token or a group, with its quantifier. */
interface Piece {
  /** The alternatives of a group; none for a token. */
  readonly group: readonly (readonly Piece[])[]
  /** The characters that it can match. */
  readonly chars: string
  /** Whether it matches at least one character. */
  readonly isNeeded: boolean
  /** How many of its parts can match any number of characters, and share a text; at least 1 if one can. */
  readonly opens: number
}

const OPENING = /^\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?/
const LOOKAROUND = /^\(\?<?[=!]/
const TOKEN =
  /\\u\{[^}]*\}|\\[pPk](?:\{[^}]*\}|<[^>]*>)|\\x..|\\u....|\\.|\[(?:\\.|[^\]\\])*\]|./gsu
const QUANTIFIER = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/
// Stands for all characters that are not in ASCII.
const OTHERS = 'ä'
// The characters that are tried for each token.
const CHARACTERS = `${String.fromCharCode(...Array.from({ length: 95 }, (_, i) => 32 + i))}${OTHERS}`
// From this number on, repetitions count as unlimited.
const MANY = 10

/**
 * Reports whether an expression repeats a group in which one text can be divided in several ways, such as `(a+)+` or
 * `(\w|\d)*`: its time then doubles with each character. Other expressions can be slow too.
 */
export function canBacktrack(regex: RegExp): boolean {
  // Only a group with a quantifier is repeated. Most expressions have none.
  return /\)[*+{]/.test(regex.source) && new Expression(regex).isAmbiguous
}

// Every expression runs on a text of this length.
const SHORT = 64
// The number of shared parts of each expression that a longer text has reached.
const knownParts = new WeakMap<RegExp, number>()

/**
 * Reports whether an expression may run on a text. If two open parts can share a text, as in `(.*)-(.*)`, the time grows with the square of
 * the length, and with the cube for three. So the maximum is 1,024 characters for two, 256 for three, and 64 for more. Up to four parts
 * then take about 10 ms.
 */
export function mayRun(regex: RegExp, text: string): boolean {
  if (text.length <= SHORT) return true
  const parts = knownParts.get(regex) ?? new Expression(regex).sharedParts
  knownParts.set(regex, parts)
  return parts < 2 || text.length <= 4_096 / 4 ** (parts - 1)
}

/** Reports whether an expression may run on a text, and matches it. */
export function matches(regex: RegExp, text: string): boolean {
  return mayRun(regex, text) && regex.test(text)
}

class Expression {
  isAmbiguous = false
  /** The largest number of open parts that can share a text. */
  sharedParts = 0
  readonly #flags: string
  readonly #source: string
  #at = 0

  constructor({ source, flags }: RegExp) {
    this.#flags = flags.replace(/[^iu]/g, '')
    this.#source = source
    while (this.#at < source.length) {
      this.#alternatives()
      this.#at++
    }
  }

  // Reads the alternatives of a group, up to its end.
  #alternatives(): Piece[][] {
    const all: Piece[][] = [[]]
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#source[this.#at] === '|') {
        all.push([])
        this.#at++
      } else {
        const piece = this.#piece()
        if (piece !== undefined) all.at(-1)?.push(piece)
      }
    }
    this.sharedParts = Math.max(this.sharedParts, ...all.map(sharedPartsOf))
    return all
  }

  // Reads one piece; undefined if it matches no character, as an anchor or a lookaround.
  #piece(): Piece | undefined {
    const [opening = ''] = OPENING.exec(this.#rest) ?? []
    // The alternatives of a group; none for a token.
    const group = opening === '' ? [] : this.#group(opening)
    const inner = group.flat().map((piece) => piece.chars)
    const chars = opening === '' ? this.#token() : inner.join('')
    const [quantifier = '', from = '', to] = QUANTIFIER.exec(this.#rest) ?? []
    this.#at += quantifier.length
    const isOnce = quantifier === '' || quantifier.startsWith('?')
    const max = isOnce ? 1 : Number((to ?? from) || MANY)
    if (max >= MANY && isAmbiguous(group)) this.isAmbiguous = true
    if (LOOKAROUND.test(opening) || chars === '') return undefined
    const canBeEmpty = group.some((pieces) => !pieces.some(({ isNeeded }) => isNeeded))
    const shared = Math.max(0, ...group.map(sharedPartsOf))
    // The parts of a group that can share a text with those of its next repetition.
    const repeated = isAmbiguous(group) ? shared * max : shared
    return {
      group,
      chars,
      isNeeded: !/^[*?]|^\{0/.test(quantifier) && !canBeEmpty,
      opens: max >= MANY ? Math.max(1, shared) : repeated,
    }
  }

  // Reads a group, and returns its alternatives.
  #group(opening: string): Piece[][] {
    this.#at += opening.length
    const group = this.#alternatives()
    this.#at++
    return group
  }

  // Reads a token, and returns the characters that it matches.
  #token(): string {
    TOKEN.lastIndex = this.#at
    const [token = ''] = TOKEN.exec(this.#source) ?? []
    this.#at += token.length || 1
    return this.#charsOf(token)
  }

  get #rest(): string {
    return this.#source.slice(this.#at)
  }

  // Returns the characters that a token matches; '' for an anchor.
  #charsOf(token: string): string {
    if (/^(?:[\^$]|\\[bB])$/.test(token)) return ''
    if (/^\\(?:\d|k)/.test(token)) return CHARACTERS
    try {
      const regex = new RegExp(`^(?:${token})$`, this.#flags)
      return [...CHARACTERS].filter((char) => regex.test(char)).join('') || OTHERS
    } catch {
      // The token is a part of one that TOKEN does not know.
      return CHARACTERS
    }
  }
}

// Reports whether a text of a repeated group can be divided in two ways: by an open piece that nothing separates from the next one,
// or by two alternatives that match the same text.
function isAmbiguous(alternatives: readonly (readonly Piece[])[]): boolean {
  return alternatives.some(
    (pieces, i) =>
      pieces.some(
        (open) => open.opens > 0 && pieces.every((each) => each === open || !separates(each, open)),
      ) || alternatives.slice(i + 1).some((others) => isSameText(pieces, others)),
  )
}

// Returns the largest number of open parts that can match the same characters, and that nothing separates.
function sharedPartsOf(pieces: readonly Piece[]): number {
  const numbers = pieces.map((open, i) =>
    open.opens === 0 ? 0 : open.opens + sharedWith(open, pieces.slice(i + 1)),
  )
  return Math.max(0, ...numbers)
}

// Returns how many open parts of the pieces behind an open one can match its characters, up to the first piece that separates.
function sharedWith(open: Piece, pieces: readonly Piece[]): number {
  let parts = 0
  for (const piece of pieces) {
    const inner = piece.group.map((alternative) => sharedWith(open, alternative))
    if (inner.length > 0) parts += Math.max(...inner)
    else if (overlaps(piece, open)) parts += piece.opens
    if (separates(piece, open)) break
  }
  return parts
}

// Reports whether a piece stands between two repetitions of an open one, and can match none of its characters; or each alternative of it
// has such a piece.
function separates(piece: Piece, open: Piece): boolean {
  const { isNeeded, group } = piece
  if (!isNeeded) return false
  if (group.length === 0) return !overlaps(piece, open)
  return group.every((pieces) => pieces.some((each) => separates(each, open)))
}

// Reports whether two alternatives are one piece each, and both can match the same character.
function isSameText(one: readonly Piece[], other: readonly Piece[]): boolean {
  return one.length === 1 && other.length === 1 && overlaps(one[0] as Piece, other[0] as Piece)
}

function overlaps(one: Piece, other: Piece): boolean {
  return [...one.chars].some((char) => other.chars.includes(char))
}
