/** The errors since the last summary that were counted but not logged. */
export interface Summary {
  /** The exact number of errors of all kinds. */
  readonly total: number
  /** The number of each of the 12 most frequent kinds, by its name. */
  readonly kinds: Readonly<Record<string, number>>
}

// Errors of further kinds count as one more kind, `other`.
const MAX_KINDS = 1_000
// Errors that are logged in full between two summaries.
const MAX_IN_FULL = 80
const KINDS_IN_SUMMARY = 12

/**
 * Decides which errors are logged in full: the first of each kind, within a budget. A kind for
 * which the budget had no room is logged when there is room again. All other errors are counted; no
 * count is lost.
 */
export class NoiseBudget {
  readonly #logged = new Set<string>()
  #counts = new Map<string, number>()
  #inFull = 0

  /** Returns whether to log an error of a kind in full; else counts it. */
  admits(kind: string): boolean {
    const isFirst = !this.#logged.has(kind) && this.#logged.size < MAX_KINDS
    if (isFirst && this.#inFull < MAX_IN_FULL) {
      this.#logged.add(kind)
      this.#inFull++
      return true
    }
    const name = this.#counts.has(kind) || this.#counts.size < MAX_KINDS ? kind : 'other'
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    return false
  }

  /** Returns the counts since the last summary, and resets them. */
  takeSummary(): Summary {
    const counts = [...this.#counts].sort(([, one], [, other]) => other - one)
    this.#counts = new Map()
    this.#inFull = 0
    // A scanner has filled the set. Forgets all kinds, so that new ones are logged again.
    if (this.#logged.size >= MAX_KINDS) this.#logged.clear()
    return {
      total: counts.reduce((total, [, count]) => total + count, 0),
      kinds: Object.fromEntries(counts.slice(0, KINDS_IN_SUMMARY)),
    }
  }
}
