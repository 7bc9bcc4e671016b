/** The characters that an expression can match, and whether it needs one. */
interface Piece {
  readonly chars: string
  readonly isNeeded: boolean
  /** Whether it can take any number of characters. */
  readonly isOpen: boolean
}

const TOKEN =
  /\\u\{[^}]*\}|\\[pPk](?:\{[^}]*\}|<[^>]*>)|\\x..|\\u....|\\.|\[(?:\\.|[^\]\\])*\]|./gsu
const QUANTIFIER = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/
// Represents all characters that a path often has.
const CHARACTERS = `${String.fromCharCode(...Array.from({ length: 95 }, (_, i) => 32 + i))}ä`
// So many repetitions are as bad as any number.
const MANY = 10

/**
 * Reports whether an expression repeats a group in which one text can be divided in several ways, such as `(a+)+` or
 * `(\w|\d)*`: its time then doubles with each character. Other expressions can be slow too.
 */
export function canBacktrack(regex: RegExp): boolean {
  // Only a group with a quantifier can.
  return /\)[*+{]/.test(regex.source) && new Expression(regex).isAmbiguous
}

class Expression {
  isAmbiguous = false
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

  // Reads up to the end of a group.
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
    return all
  }

  // Reads one piece with its quantifier; undefined if it takes no character.
  #piece(): Piece | undefined {
    const [opening] = /^\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?/.exec(this.#rest) ?? []
    let all: Piece[][] | undefined
    let chars = ''
    if (opening !== undefined) {
      this.#at += opening.length
      all = this.#alternatives()
      this.#at++
      chars = all.flat().reduce((text, piece) => text + piece.chars, '')
    } else {
      TOKEN.lastIndex = this.#at
      const [token = ''] = TOKEN.exec(this.#source) ?? []
      this.#at += token.length || 1
      chars = this.#charsOf(token)
    }
    const [quantifier = '', from = '', to] = QUANTIFIER.exec(this.#rest) ?? []
    this.#at += quantifier.length
    const isOnce = quantifier === '' || quantifier.startsWith('?')
    const max = isOnce ? 1 : Number((to ?? from) || MANY)
    if (all !== undefined && max >= MANY && isAmbiguous(all)) this.isAmbiguous = true
    if (/^\(\?<?[=!]/.test(opening ?? '') || chars === '') return undefined
    const canBeEmpty = all?.some((pieces) => !pieces.some((piece) => piece.isNeeded)) === true
    return {
      chars,
      isNeeded: !/^[*?]|^\{0/.test(quantifier) && !canBeEmpty,
      isOpen: max >= MANY || all?.flat().some(({ isOpen }) => isOpen) === true,
    }
  }

  get #rest(): string {
    return this.#source.slice(this.#at)
  }

  // Anchors match no character.
  #charsOf(token: string): string {
    if (/^(?:[\^$]|\\[bB])$/.test(token)) return ''
    if (/^\\(?:\d|k)/.test(token)) return CHARACTERS
    try {
      const regex = new RegExp(`^(?:${token})$`, this.#flags)
      return [...CHARACTERS].filter((char) => regex.test(char)).join('')
    } catch {
      // A part of a token that the parser does not know.
      return CHARACTERS
    }
  }
}

// Whether two ways divide a text of a repeated group: an open piece beside which nothing else is needed, or two alternatives.
function isAmbiguous(alternatives: readonly (readonly Piece[])[]): boolean {
  return alternatives.some(
    (pieces, i) =>
      pieces.some(
        (open) => open.isOpen && pieces.every((each) => each === open || !parts(each, open)),
      ) || alternatives.slice(i + 1).some((others) => isSameText(pieces, others)),
  )
}

// Whether a piece is necessary between two repetitions of an open one, and is none of its characters.
function parts(piece: Piece, open: Piece): boolean {
  return piece.isNeeded && !overlaps(piece, open)
}

function isSameText(one: readonly Piece[], other: readonly Piece[]): boolean {
  const [first, second] = [one[0], other[0]]
  if (first === undefined || second === undefined) return false
  return one.length === 1 && other.length === 1 && overlaps(first, second)
}

function overlaps(one: Piece, other: Piece): boolean {
  return [...one.chars].some((char) => other.chars.includes(char))
}
