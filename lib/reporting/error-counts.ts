/** The errors since the last summary that were counted but not logged. */
export interface Summary {
  /** The exact number of errors of all kinds. */
  readonly total: number
  /** The number of each of the 12 most frequent kinds, by its name. */
  readonly kinds: Readonly<Record<string, number>>
}

/** Maximum number of kinds. Errors of further kinds count as one more kind, `other`. */
export const MAX_KINDS = 1_000
const KINDS_IN_SUMMARY = 12

/** Counts errors by kind, in bounded memory. No count is lost. */
export class ErrorCounts {
  #counts = new Map<string, number>()

  add(kind: string): void {
    const name = this.#counts.has(kind) || this.#counts.size < MAX_KINDS ? kind : 'other'
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** Returns the counts since the last summary, and resets them. */
  takeSummary(): Summary {
    const counts = [...this.#counts].sort(([, one], [, other]) => other - one)
    this.#counts = new Map()
    return {
      total: counts.reduce((total, [, count]) => total + count, 0),
      kinds: Object.fromEntries(counts.slice(0, KINDS_IN_SUMMARY)),
    }
  }
}
