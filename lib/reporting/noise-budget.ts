import { copyOf } from '../http/retention.ts'

/** The errors since the last summary that were counted but not logged. */
export interface Summary {
  /** The exact number of errors of all kinds. */
  readonly total: number
  /** The number of each of the 12 most frequent kinds, by its name. */
  readonly kinds: Readonly<Record<string, number>>
}

// Errors of further kinds count as one more kind, `other`.
const MAX_KINDS = 1_000
const KINDS_IN_SUMMARY = 12

/** Counts errors by kind, in bounded memory. No count is lost. */
export class ErrorCounts {
  #counts = new Map<string, number>()

  add(kind: string): void {
    const name = this.#counts.has(kind) ? kind : this.#newName(kind)
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  #newName(kind: string): string {
    return this.#counts.size < MAX_KINDS ? copyOf(kind) : 'other'
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

/** The form of an error in the log: a full line, a short line, or only a part of a count. */
export type Detail = 'full' | 'short' | 'count'

/** Decides how the log shows each error, and counts those that it does not show. */
export interface NoiseBudget {
  readonly counts: ErrorCounts
  /** Returns how to log an error, and spends the budget for it. */
  spend(fingerprint: string): Detail
  /** Starts a new minute. */
  renew(): void
}

// Errors that are logged in full in a minute.
const MAX_IN_FULL = 80
// Of these, faults of one action that have the same frame, or the same exception.
const MAX_ALIKE = 20
// Lines for faults in a minute. Only faults in full may exceed it.
const MAX_FAULT_LINES = 600
const HOUR_MS = 3_600_000

/**
 * The budget for rejections (4xx): the first of each kind in an hour in full, at most 80 a minute. A
 * kind for which the minute had no room is logged when there is room again.
 */
export class RejectionBudget implements NoiseBudget {
  readonly counts: ErrorCounts = new ErrorCounts()
  // The time of the last line of each kind.
  readonly #logged = new Map<string, number>()
  #inFull = 0

  spend(fingerprint: string): Detail {
    const now = performance.now()
    const loggedAt = this.#logged.get(fingerprint)
    const isKnown = loggedAt !== undefined || this.#logged.size < MAX_KINDS
    const isDue = loggedAt === undefined || now - loggedAt >= HOUR_MS
    if (!isKnown || !isDue || this.#inFull >= MAX_IN_FULL) return 'count'
    this.#logged.set(copyOf(fingerprint), now)
    this.#inFull++
    return 'full'
  }

  renew(): void {
    this.#inFull = 0
    // A scanner has filled the map. Forgets all kinds, so that new ones are logged again.
    if (this.#logged.size >= MAX_KINDS) this.#logged.clear()
  }
}

// A pair is a fingerprint without its exception, its frame or its action. The number is the maximum of faults in full that share
// the pair: one hook may fail in many actions.
const PAIRS: readonly [without: RegExp, max: number][] = [
  [/(?<=^\S+) \S+/, MAX_ALIKE],
  [/ \S+:\d+:\d+/, MAX_ALIKE],
  [/ \S*\/\S*$/, MAX_IN_FULL],
]

/**
 * The budget for faults (5xx): the first of each fingerprint in a minute in full, and each further fault as a short line,
 * up to 600 lines a minute.
 *
 * In some applications, a client can choose the exception, the frame or the action of a fault, but not the other two. So a fault is
 * in full if one of its pairs is new, for 80 pairs of each kind, even if the lines are used up.
 */
export class FaultBudget implements NoiseBudget {
  readonly counts: ErrorCounts = new ErrorCounts()
  // The numbers of faults in full of this minute, by their pairs.
  readonly #inFull = PAIRS.map(() => new Map<string, number>())
  #lines = 0

  spend(fingerprint: string): Detail {
    const pairs = PAIRS.map(([without]) => fingerprint.replace(without, ''))
    const numbers = pairs.map((pair, i) => this.#inFull[i]?.get(pair) ?? 0)
    const hasNew = this.#inFull.some(({ size }, i) => numbers[i] === 0 && size < MAX_IN_FULL)
    const isFirst = hasNew && PAIRS.every(([, max], i) => Number(numbers[i]) < max)
    if (!isFirst && this.#lines >= MAX_FAULT_LINES) return 'count'
    this.#lines++
    if (!isFirst) return 'short'
    for (const [i, pair] of pairs.entries())
      this.#inFull[i]?.set(copyOf(pair), Number(numbers[i]) + 1)
    return 'full'
  }

  renew(): void {
    for (const numbers of this.#inFull) numbers.clear()
    this.#lines = 0
  }
}
