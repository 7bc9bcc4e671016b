/** The kinds of instructions, with what their two operands are. */
export const Op = {
  /** Matches one character: the index of its test. */
  character: 0,
  /** Tries two places, the first one first. */
  split: 1,
  jump: 2,
  /** Records the position in a slot. */
  save: 3,
  /** Forgets the slots from the first to before the second. */
  forget: 4,
  /** Begins a repetition that may be empty: clears a flag, which each character sets. */
  begin: 5,
  /** Fails if the repetition of a flag is empty. */
  advance: 6,
  start: 7,
  end: 8,
  accept: 9,
} as const

/** Reports whether a character matches a token of the expression. The character is given by its code. */
export type CharacterTest = (code: number) => boolean

/** An expression as instructions. Three numbers each: the kind and its operands. */
export interface Program {
  readonly code: readonly number[]
  readonly tests: readonly CharacterTest[]
  readonly groups: number
  /** The number of combinations of the flags. */
  readonly combinations: number
  readonly isUnicode: boolean
}

/** The steps that the expressions of one request may still take. */
export interface Effort {
  steps: number
}

// The table of what has been tried may be large, and takes time to create.
const BYTES_PER_STEP = 16

/**
 * Runs a program on a text. As in JavaScript, the first way to match wins, in the order of the alternatives and the repetitions.
 *
 * @param slots The start and the end of each group, which this sets; -1 for none.
 * @returns The end of the match; -1 if the text does not match, or if the steps do not suffice.
 */
export function run(program: Program, text: string, slots: number[], effort: Effort): number {
  const { code, tests, combinations, isUnicode } = program
  // For the flags, the place and the position, whether a split has been tried. If it is met again, it has failed.
  let tried: Uint8Array | undefined
  const width = text.length + 1
  const size = (code.length / 3) * width
  // What is left to try: the flags, a place and a position each. A negative place is a slot that gets its former value.
  const left = [0, 0, 0]
  const set = (slot: number, value: number): void => {
    left.push(0, -1 - slot, slots[slot] as number)
    slots[slot] = value
  }
  while (left.length > 0) {
    let position = left.pop() as number
    let place = left.pop() as number
    let flags = left.pop() as number
    if (place < 0) {
      slots[-1 - place] = position
      continue
    }
    for (let isAlive = true; isAlive; ) {
      if (effort.steps-- <= 0) return -1
      const op = code[place]
      const first = code[place + 1] as number
      const second = code[place + 2] as number
      const key = flags * size + (place / 3) * width + position
      place += 3
      switch (op) {
        case Op.character: {
          const char = isUnicode ? text.codePointAt(position) : text.charCodeAt(position)
          isAlive = position < text.length && (tests[first] as CharacterTest)(char as number)
          position += (char as number) > 0xffff ? 2 : 1
          flags = combinations - 1
          break
        }
        case Op.split:
          if (tried === undefined) {
            // Limits the memory too.
            effort.steps -= (combinations * size) / BYTES_PER_STEP
            if (effort.steps <= 0) return -1
            tried = new Uint8Array(combinations * size)
          }
          isAlive = tried[key] === 0
          tried[key] = 1
          if (isAlive) left.push(flags, second, position)
          place = first
          break
        case Op.jump:
          place = first
          break
        case Op.save:
          set(first, position)
          break
        case Op.forget:
          for (let slot = first; slot < second; slot++) if (slots[slot] !== -1) set(slot, -1)
          break
        case Op.begin:
          flags &= ~first
          break
        case Op.advance:
          isAlive = (flags & first) !== 0
          break
        case Op.start:
          isAlive = position === 0
          break
        case Op.end:
          isAlive = position === text.length
          break
        default:
          return position
      }
    }
  }
  return -1
}
