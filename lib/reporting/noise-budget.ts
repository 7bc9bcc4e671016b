/** How many errors of which kind went unreported since the last summary. */
export interface Summary {
  /** All of them, exactly. */
  readonly total: number
  /** The most frequent kinds, by the name of the kind; the rest is the difference to the total. */
  readonly kinds: Readonly<Record<string, number>>
}

// So many kinds are told apart; those of further kinds are one more, `other`.
const MAX_KINDS = 1_000
// Between two summaries so many errors are told in full, however many kinds begin.
const MAX_IN_FULL = 80
const KINDS_IN_SUMMARY = 12

/**
 * Decides which errors are told in full: the first of each kind, within a budget; a kind that the budget
 * left no room for is told when there is room again. All others are counted, none is lost.
 */
export class NoiseBudget {
  readonly #told = new Set<string>()
  #counts = new Map<string, number>()
  #inFull = 0

  /** Whether an error of the kind is told in full; else it is counted. */
  admits(kind: string): boolean {
    const isFirst = !this.#told.has(kind) && this.#told.size < MAX_KINDS
    if (isFirst && this.#inFull < MAX_IN_FULL) {
      this.#told.add(kind)
      this.#inFull++
      return true
    }
    const name = this.#counts.has(kind) || this.#counts.size < MAX_KINDS ? kind : 'other'
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    return false
  }

  /** What was counted since the last one, which begins anew. */
  takeSummary(): Summary {
    const counts = [...this.#counts].sort(([, one], [, other]) => other - one)
    this.#counts = new Map()
    this.#inFull = 0
    // A scanner has filled it: what was told is told in full once again.
    if (this.#told.size >= MAX_KINDS) this.#told.clear()
    return {
      total: counts.reduce((total, [, count]) => total + count, 0),
      kinds: Object.fromEntries(counts.slice(0, KINDS_IN_SUMMARY)),
    }
  }
}
