import { type Compiled, Compiler } from './expression-compiler.ts'
import { type Effort, type Program, run } from './expression-program.ts'

/** The start and the end of a match or a group, in UTF-16 code units. */
export type Span = readonly [start: number, end: number]

// They take 5 to 10 ms. A path of 8,000 characters takes 144,000 in the expression `(.+)-(.+)-(.+)\.html`, and one of 100 characters 1,800.
export const PATH_STEPS = 200_000

// To compile the expressions of 500 routes takes 30 ms.
const MAY_BE_UNLIMITED = /\\[\dBbck]|\(\?[^:]|\{|.{999}/s

// Each expression may take so many for a shorter text than this, whatever those before it have taken: most paths need fewer, also if
// there are 500 routes.
const MIN_STEPS = 2_000
export const LONG = 1_000
const SHORT = 64

/**
 * An expression of a route, from the start of a text. V8 runs it on a short text if it has at most one choice: a quantifier, a group
 * with alternatives, or a back reference. With more, a text could take minutes: the time of `(.*)-(.*)-(.*)x` grows with the cube of its
 * length, and that of `(a+)+b` doubles with each character.
 *
 * Portico itself runs the others, with the same result. No choice is tried twice at one position of the text, so the time grows with the
 * product of both lengths.
 */
export class Expression {
  readonly #regex: RegExp
  #program: Compiled | undefined

  /**
   * @param flags `i` and `u` count; `d` is needed for {@link find}.
   * @throws {SyntaxError} If it is not a regular expression.
   */
  constructor(source: string, flags: string) {
    this.#regex = new RegExp(source, flags)
  }

  /** Whether V8 has to run it, however slow it is: it has a back reference, a lookaround, `\b` or thousands of repetitions. */
  get isUnlimited(): boolean {
    return MAY_BE_UNLIMITED.test(this.#regex.source) && this.#compiled === 'unlimited'
  }

  /** Whether it takes less time to run it on a text again than to remember its result. */
  isQuick(text: string): boolean {
    return text.length < SHORT && this.#isForV8(text)
  }

  // V8 takes less time for a short text, but has no limit.
  #isForV8(text: string): boolean {
    const program = this.#compiled
    return typeof program === 'string' || (program.isLinear && text.length < LONG)
  }

  // Compiled when a path first needs it: most paths need few of 500 routes.
  get #compiled(): Compiled {
    this.#program ??= new Compiler(this.#regex).compile()
    return this.#program
  }

  /** Reports whether a text matches, see {@link find}. */
  test(text: string, effort?: Effort): boolean {
    return this.#isForV8(text) ? this.#regex.test(text) : this.find(text, effort) !== undefined
  }

  /**
   * Returns where the match and its groups are; undefined if the text does not match.
   *
   * @param effort If the steps do not suffice, the text does not match.
   */
  find(
    text: string,
    effort: Effort = { steps: PATH_STEPS },
  ): readonly (Span | undefined)[] | undefined {
    if (this.#isForV8(text)) return this.#regex.exec(text)?.indices
    const program = this.#compiled as Program
    if (text.length < LONG) effort.steps = Math.max(effort.steps, MIN_STEPS)
    const slots: number[] = Array(2 * program.groups).fill(-1)
    const length = run(program, text, slots, effort)
    if (length < 0) {
      if (effort.steps <= 0) effort.isSpent = true
      return undefined
    }
    const spans: (Span | undefined)[] = [[0, length]]
    for (let i = 0; i < slots.length; i += 2) {
      const [start = -1, end = -1] = slots.slice(i, i + 2)
      spans.push(end < 0 ? undefined : [start, end])
    }
    return spans
  }
}

const expressions = new Map<string, WeakRef<Expression>>()

/** Returns the same object for equal expressions, so that a path is tested once for those of many routes, such as one for each tenant. */
export function sharedExpression(source: string, flags: string): Expression {
  const key = flags + source
  const known = expressions.get(key)?.deref()
  const expression = known ?? new Expression(source, flags)
  if (known === undefined) expressions.set(key, new WeakRef(expression))
  return expression
}
