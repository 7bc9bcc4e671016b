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
// Of these, faults that differ only in their frame: values may forge frames.
const MAX_PLACES_IN_FULL = 20
// Lines for faults in a minute. Only the first fault of a kind or at a place may exceed it.
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

/**
 * The budget for faults (5xx): the first of each fingerprint in a minute in full, at most 80 of them, and
 * each further fault as a short line, up to 600 lines a minute. The first fault of a kind, and the first at a
 * place in the code, are logged in full even if other faults have used up the budget.
 */
export class FaultBudget implements NoiseBudget {
  readonly counts: ErrorCounts = new ErrorCounts()
  readonly #fingerprints = new Set<string>()
  // Fingerprints without controller and action: a client can choose these where a plugin or a router fails.
  readonly #places = new Set<string>()
  // The faults in full by the fingerprint without the place.
  readonly #kinds = new Map<string, number>()
  #lines = 0

  spend(fingerprint: string): Detail {
    // Without a request, there are no names, and the frame stands last.
    const place = fingerprint.replace(/ \S*\/\S*$/, '')
    const kind = fingerprint.replace(/ \S+:\d+:\d+/, '')
    const inFull = this.#kinds.get(kind) ?? 0
    const hasRoom = this.#lines < MAX_FAULT_LINES
    const isNewPlace =
      isNew(this.#places, place) || (hasRoom && isNew(this.#fingerprints, fingerprint))
    const isFirst = isNew(this.#kinds, kind) || (isNewPlace && inFull < MAX_PLACES_IN_FULL)
    if (!isFirst && !hasRoom) return 'count'
    this.#lines++
    if (!isFirst) return 'short'
    this.#fingerprints.add(copyOf(fingerprint))
    this.#places.add(copyOf(place))
    this.#kinds.set(copyOf(kind), inFull + 1)
    return 'full'
  }

  renew(): void {
    this.#fingerprints.clear()
    this.#places.clear()
    this.#kinds.clear()
    this.#lines = 0
  }
}

function isNew(known: Pick<ReadonlySet<string>, 'has' | 'size'>, key: string): boolean {
  return known.size < MAX_IN_FULL && !known.has(key)
}
