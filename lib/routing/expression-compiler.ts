import type { CharacterTest, Program } from './expression-program.ts'
import * as Op from './expression-program.ts'

// A bounded repetition has all its repetitions in the program.
const MAX_CODE = 30_000
// From this number on, the repetitions of a character take time too.
const MANY = 10
const OPENING = /\((?:\?(?::|<?[=!]|<[^>]*>)|(?!\?))/y
const QUANTIFIER = /([*+?]|\{(\d+)(?:(,)(\d*))?\})(\??)/y
const TOKEN = /\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|c.)|\[(?:\\.|[^\]\\])*\]|\\?./sy
// With the flag `u`, each escape is complete. Two may be one character.
const UNICODE_TOKEN =
  /\\(?:ud[89ab]..\\ud[c-f]..|[pu]\{.*?\}|x..|u....|c.)|\[(?:\\.|[^\]\\])*\]|\\?./isuy
// A word boundary, a back reference or an octal number, and a group of another kind.
const FOREIGN = /\\(?:[Bb1-9k]|0\d|c(?![A-Za-z]))|\(\?/y

/** A part of the expression. A part that is repeated is written several times. */
interface Part {
  readonly write: () => void
  readonly canBeEmpty: boolean
  /** The character that it matches, in lower case; undefined for others. */
  readonly letter?: string | undefined
  /** Text that each match contains, in lower case. */
  readonly needed?: string
}

/**
 * A program; or the time of an expression that V8 has to run, because it has what a program can't have, or too many instructions: it is
 * `linear` if there is at most one choice in the expression.
 */
export type Compiled = Program | 'linear' | 'unlimited'

/** Compiles one expression. It runs only from the start of a text, so it should begin with `^`. */
export class Compiler {
  readonly #source: string
  readonly #flags: string
  readonly #token: RegExp
  readonly #code: number[] = []
  readonly #tests: CharacterTest[] = []
  #groups = 0
  // The quantifiers, the groups with alternatives, and the back references. The quantifier of a group counts twice.
  #choices = 0
  // Only the repetitions that surround a place need a mark each.
  #marks = 0
  #maxMarks = 0
  #isForeign = false
  #at = 0

  constructor({ source, flags }: RegExp) {
    this.#source = source
    this.#flags = flags.replace(/[^iu]/g, '')
    this.#token = flags.includes('u') ? UNICODE_TOKEN : TOKEN
  }

  compile(): Compiled {
    const whole = this.#alternatives()
    if (this.#at < this.#source.length) return 'unlimited'
    const isLinear = this.#choices < 2
    whole.write()
    this.#write(Op.accept)
    if (this.#isForeign) return isLinear ? 'linear' : 'unlimited'
    return {
      code: this.#code,
      // With the flags `i` and `u`, some letters match others than their capitals.
      needed: (this.#flags !== 'iu' && whole.needed) || '',
      tests: this.#tests,
      groups: this.#groups,
      states: 2 ** this.#maxMarks,
      isUnicode: this.#flags.includes('u'),
      isLinear,
    }
  }

  // Reads the alternatives of a group, up to its end.
  #alternatives(): Part {
    let parts: Part[] = []
    const all = [parts]
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#source[this.#at] === '|') {
        this.#at++
        parts = []
        all.push(parts)
      } else parts.push(this.#part())
    }
    if (all.length > 1) this.#choices++
    const canBeEmpty = all.some((each) => each.every((part) => part.canBeEmpty))
    const needed = all.length > 1 ? '' : neededIn(parts)
    return { canBeEmpty, needed, write: () => this.#writeAlternatives(all) }
  }

  #writeAlternatives(all: readonly Part[][]): void {
    const jumps: number[] = []
    for (const [i, parts] of all.entries()) {
      const isLast = i === all.length - 1
      const split = isLast ? -1 : this.#write(Op.split, this.#code.length + 3)
      for (const { write } of parts) write()
      if (isLast) break
      jumps.push(this.#write(Op.jump))
      this.#code[split + 2] = this.#code.length
    }
    for (const jump of jumps) this.#code[jump + 1] = this.#code.length
  }

  // Reads a character, an anchor or a group, and its quantifier.
  #part(): Part {
    const before = this.#groups
    const opening = this.#read(OPENING)
    const part = opening === undefined ? this.#atom() : this.#group(opening[0])
    const [quantifier, sign, from, comma, to, lazy] = this.#read(QUANTIFIER) ?? []
    if (quantifier === undefined) return part
    const unlimited = Number.POSITIVE_INFINITY
    const least = Number(from ?? (sign === '+' ? 1 : 0))
    const most = sign === '?' ? 1 : Number(from === undefined || comma ? to || unlimited : from)
    if (opening !== undefined) this.#choices += 2
    else if (least < most || most >= MANY) this.#choices++
    const groups = this.#groups
    const write = (): void => {
      // As in JavaScript, a repetition forgets the groups of the one before it.
      if (before < groups) this.#write(Op.forget, 2 * before, 2 * groups)
      part.write()
    }
    const { canBeEmpty } = part
    return {
      canBeEmpty: canBeEmpty || least === 0,
      write: () => this.#writeRepetitions({ write, canBeEmpty }, least, most, lazy !== ''),
    }
  }

  #writeRepetitions(part: Part, least: number, most: number, isLazy: boolean): void {
    let last = 0
    // Only empty repetitions do not fill the room.
    for (let i = 0; i < Math.min(least, MAX_CODE) && this.#hasRoom(); i++) {
      last = this.#code.length
      part.write()
    }
    const isUnlimited = most === Number.POSITIVE_INFINITY
    // The last of the least number also repeats. With a copy of it, each nested repetition would double the program.
    const isShared = isUnlimited && least > 0 && !part.canBeEmpty
    const splits: number[] = []
    for (let i = least; i < (isUnlimited ? least + 1 : most) && this.#hasRoom(); i++) {
      splits.push(this.#write(Op.split))
      if (isShared) break
      if (part.canBeEmpty) this.#writeWithMark(part)
      else part.write()
      if (isUnlimited) this.#write(Op.jump, splits[0])
    }
    for (const split of splits) {
      this.#code[split + (isLazy ? 2 : 1)] = isShared ? last : split + 3
      this.#code[split + (isLazy ? 1 : 2)] = this.#code.length
    }
  }

  // As in JavaScript, a repetition fails if it is empty, unless it is one of the least number.
  #writeWithMark(part: Part): void {
    const mark = 2 ** this.#marks++
    this.#maxMarks = Math.max(this.#maxMarks, this.#marks)
    this.#write(Op.begin, mark)
    part.write()
    this.#write(Op.advance, mark)
    this.#marks--
  }

  #hasRoom(): boolean {
    if (this.#code.length > MAX_CODE) this.#isForeign = true
    return !this.#isForeign
  }

  #group(opening: string): Part {
    if (/[=!]$/.test(opening)) this.#isForeign = true
    const slot = /[:=!]$/.test(opening) ? -1 : 2 * this.#groups++
    const inner = this.#alternatives()
    this.#at++
    if (slot < 0) return inner
    return {
      ...inner,
      write: () => {
        this.#write(Op.save, slot)
        inner.write()
        this.#write(Op.save, slot + 1)
      },
    }
  }

  #atom(): Part {
    const foreign = this.#read(FOREIGN)?.[0]
    if (foreign !== undefined) {
      this.#isForeign = true
      // V8 compares the text of the group for each of its lengths.
      if (/[1-9k]/.test(foreign)) this.#choices++
      return empty(() => {})
    }
    const [token] = this.#read(this.#token) ?? ['']
    if (token === '^') return empty(() => this.#write(Op.start))
    if (token === '$') return empty(() => this.#write(Op.end))
    const test = this.#tests.push(testOf(token, this.#flags)) - 1
    const letter = /^[\w/-]$/.test(token) ? token.toLowerCase() : undefined
    return { canBeEmpty: false, letter, write: () => this.#write(Op.character, test) }
  }

  #read(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source) ?? undefined
    this.#at += found?.[0].length ?? 0
    return found
  }

  // Returns where the instruction is.
  #write(op: number, first = 0, second = 0): number {
    return this.#code.push(op, first, second) - 3
  }
}

// Returns the longest text that each match contains: consecutive letters, or the text of a group.
function neededIn(parts: readonly Part[]): string {
  let [longest, run] = ['', '']
  for (const { letter, needed = '' } of parts) {
    run = letter === undefined ? '' : run + letter
    for (const each of [run, needed]) if (each.length > longest.length) longest = each
  }
  return longest
}

function empty(write: () => void): Part {
  return { canBeEmpty: true, write }
}

// The tests of all expressions: they have few different tokens.
const tests = new Map<string, CharacterTest>()

function testOf(token: string, flags: string): CharacterTest {
  const key = flags + token
  let test = tests.get(key)
  if (test === undefined) {
    const regex = new RegExp(`^(?:${token})$`, flags)
    // The results for the characters of ASCII, of which most texts consist.
    const known: boolean[] = []
    test = (code) => {
      const result = known[code] ?? regex.test(String.fromCodePoint(code))
      if (code < 0x80) known[code] = result
      return result
    }
    tests.set(key, test)
  }
  return test
}
