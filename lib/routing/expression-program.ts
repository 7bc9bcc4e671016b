// The kinds of instructions, with what their two operands are.

/** Matches one character: the index of its test. */
export const character = 0
/** Tries two places, the first one first. */
export const split = 1
export const jump = 2
/** Records the position in a slot. */
export const save = 3
/** Forgets the slots from the first to before the second. */
export const forget = 4
/** Begins a repetition that may be empty: clears a mark, which each character sets. */
export const begin = 5
/** Fails if the repetition of a mark is empty. */
export const advance = 6
export const start = 7
export const end = 8
export const accept = 9

/** Reports whether a character matches a token of the expression. The character is given by its code. */
export type CharacterTest = (code: number) => boolean

/** An expression as instructions. Three numbers each: the kind and its operands. */
export interface Program {
  readonly code: readonly number[]
  readonly tests: readonly CharacterTest[]
  /** Text that each match contains in lower case: most routes make no choice for a path. */
  readonly needed: string
  readonly groups: number
  /** The number of combinations of the marks. */
  readonly states: number
  readonly isUnicode: boolean
  /** Whether there is at most one choice in it. */
  readonly isLinear: boolean
}

/** The steps that the expressions may still take for one path or URL. */
export interface Effort {
  steps: number
  /** Whether an expression had too few of them. */
  isSpent?: boolean
  /** The last text, and the same in lower case: for some letters, V8 takes 0.1 ms. */
  text?: string
  lower?: string
}

// The time to search the needed text and to clear the table of what has been tried, in steps.
const STEPS_PER_WORD = 1 / 8
// The time to test a character that is not ASCII.
const STEPS_PER_OTHER = 8

/**
 * Runs a program on a text. As in JavaScript, the first way to match wins, in the order of the alternatives and the repetitions.
 *
 * @param slots The start and the end of each group, which this sets; -1 for none.
 * @returns The end of the match; -1 if the text does not match, or if the steps do not suffice.
 */
export function run(program: Program, text: string, slots: number[], effort: Effort): number {
  const { code, tests, needed, states, isUnicode } = program
  // For the marks, the place and the position, whether a split has been tried. If it is met again, it has failed.
  let tried: Int32Array | undefined
  const width = text.length + 1
  const size = (code.length / 3) * width
  // The ways that are left to try, of three numbers each: the marks, the place and the position. A negative place stands for a slot, and
  // the third number is the former value of this slot.
  const left = [0, 0, 0]
  const set = (slot: number, value: number): void => {
    left.push(0, -1 - slot, slots[slot] as number)
    slots[slot] = value
  }
  while (left.length > 0) {
    let position = left.pop() as number
    let place = left.pop() as number
    let marks = left.pop() as number
    if (place < 0) {
      slots[-1 - place] = position
      continue
    }
    for (let isAlive = true; isAlive; ) {
      if (effort.steps-- <= 0) return -1
      const op = code[place]
      const first = code[place + 1] as number
      const second = code[place + 2] as number
      const key = marks * size + (place / 3) * width + position
      place += 3
      switch (op) {
        case character: {
          const char = isUnicode ? text.codePointAt(position) : text.charCodeAt(position)
          isAlive = position < text.length && (tests[first] as CharacterTest)(char as number)
          if ((char as number) >= 0x80) effort.steps -= STEPS_PER_OTHER
          position += (char as number) > 0xffff ? 2 : 1
          marks = states - 1
          break
        }
        case split:
          if (tried === undefined) {
            const words = Math.ceil((states * size) / 32)
            // Limits the memory too.
            effort.steps -= words * STEPS_PER_WORD
            if (effort.text !== text) Object.assign(effort, { text, lower: text.toLowerCase() })
            if (effort.steps <= 0 || !(effort.lower as string).includes(needed)) return -1
            tried = new Int32Array(words)
          }
          isAlive = ((tried[key >> 5] as number) & (1 << key)) === 0
          tried[key >> 5] = (tried[key >> 5] as number) | (1 << key)
          if (isAlive) left.push(marks, second, position)
          place = first
          break
        case jump:
          place = first
          break
        case save:
          set(first, position)
          break
        case forget:
          for (let slot = first; slot < second; slot++) if (slots[slot] !== -1) set(slot, -1)
          break
        case begin:
          marks &= ~first
          break
        case advance:
          isAlive = (marks & first) !== 0
          break
        case start:
          isAlive = position === 0
          break
        case end:
          isAlive = position === text.length
          break
        default:
          return position
      }
    }
  }
  return -1
}
