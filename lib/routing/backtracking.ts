/** A part of an expression: a token or a group, with its quantifier. */
interface Piece {
  /** The characters that it can match. */
  readonly chars: string
  /** Whether it matches at least one character. */
  readonly isNeeded: boolean
  /** Whether it can match any number of characters. */
  readonly isOpen: boolean
}

const OPENING = /^\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?/
const LOOKAROUND = /^\(\?<?[=!]/
const TOKEN =
  /\\u\{[^}]*\}|\\[pPk](?:\{[^}]*\}|<[^>]*>)|\\x..|\\u....|\\.|\[(?:\\.|[^\]\\])*\]|./gsu
const QUANTIFIER = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/
// The characters that are tried for each token: those of ASCII, and one that stands for all others.
const CHARACTERS = `${String.fromCharCode(...Array.from({ length: 95 }, (_, i) => 32 + i))}ä`
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

// The time for 8,000 characters would be 0.1 s for two open pieces, and a minute for three.
const MAX_DIVIDED = 1_024
// Whether each expression that a long text has reached can divide it.
const divided = new WeakMap<RegExp, boolean>()

/**
 * Reports whether an expression may run on a text. One with two open pieces that can share a text, such as `(.*)-(.*)`, takes time that
 * grows with the square of its length, or faster: it runs on at most 1,024 characters.
 */
export function mayRun(regex: RegExp, text: string): boolean {
  if (text.length <= MAX_DIVIDED) return true
  const isDivided = divided.get(regex) ?? new Expression(regex).isDivided
  divided.set(regex, isDivided)
  return !isDivided
}

class Expression {
  isAmbiguous = false
  isDivided = false
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
    this.isDivided ||= all.some(sharesText)
    return all
  }

  // Reads one piece; undefined if it matches no character, as an anchor or a lookaround.
  #piece(): Piece | undefined {
    const [opening = ''] = OPENING.exec(this.#rest) ?? []
    // The alternatives of a group; none for a token.
    const group = opening === '' ? [] : this.#group(opening)
    const inner = group.flat()
    const chars = opening === '' ? this.#token() : inner.map((piece) => piece.chars).join('')
    const [quantifier = '', from = '', to] = QUANTIFIER.exec(this.#rest) ?? []
    this.#at += quantifier.length
    const isOnce = quantifier === '' || quantifier.startsWith('?')
    const max = isOnce ? 1 : Number((to ?? from) || MANY)
    if (max >= MANY && isAmbiguous(group)) this.isAmbiguous = true
    if (LOOKAROUND.test(opening) || chars === '') return undefined
    const canBeEmpty = group.some((pieces) => !pieces.some(({ isNeeded }) => isNeeded))
    return {
      chars,
      isNeeded: !/^[*?]|^\{0/.test(quantifier) && !canBeEmpty,
      isOpen: max >= MANY || inner.some(({ isOpen }) => isOpen),
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
      return [...CHARACTERS].filter((char) => regex.test(char)).join('')
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
        (open) => open.isOpen && pieces.every((each) => each === open || !separates(each, open)),
      ) || alternatives.slice(i + 1).some((others) => isSameText(pieces, others)),
  )
}

// Reports whether an open piece and a later one can match the same characters, and nothing separates them.
function sharesText(pieces: readonly Piece[]): boolean {
  return pieces.some((open, i) => {
    const end = pieces.findIndex((each, j) => j > i && separates(each, open))
    const next = pieces.slice(i + 1, end < 0 ? undefined : end)
    return open.isOpen && next.some((each) => each.isOpen && overlaps(each, open))
  })
}

// Reports whether a piece stands between two repetitions of an open one, and can match none of its characters.
function separates(piece: Piece, open: Piece): boolean {
  return piece.isNeeded && !overlaps(piece, open)
}

// Reports whether two alternatives are one piece each, and both can match the same character.
function isSameText(one: readonly Piece[], other: readonly Piece[]): boolean {
  return one.length === 1 && other.length === 1 && overlaps(one[0] as Piece, other[0] as Piece)
}

function overlaps(one: Piece, other: Piece): boolean {
  return [...one.chars].some((char) => other.chars.includes(char))
}
