import { addBuckets } from './histogram.ts'
import { joinEntries } from './journal-entry.ts'
import {
  type ErrorCount,
  type Fault,
  type JournalEntry,
  labelOf,
  type MinuteCounts,
  OTHER,
  type RequestCount,
  type RouteCounts,
  type Snapshot,
} from './snapshot.ts'
import { addFacts, addNumbers } from './sum-processes.ts'

/** Maximum number of entries of `minutes`. */
export const MAX_MINUTES = 60
/** Maximum number of entries of `faults`, and one for all others. */
export const MAX_FAULTS = 100
/** Maximum number of entries of `journal`, and one for all others. */
export const MAX_ENTRIES = 200
/** Maximum number of `ids` of a fault. */
export const MAX_IDS = 5

/**
 * Adds the snapshots of several processes. The bounds of one snapshot hold for the sum too, and its totals are exact.
 *
 * @throws {TypeError} If the list is empty.
 */
export function sumSnapshots(list: readonly Snapshot[]): Snapshot {
  const [only, ...others] = list
  if (only === undefined) throw new TypeError('A sum needs at least one snapshot')
  return others.length === 0 ? only : sum(list)
}

function sum(list: readonly Snapshot[]): Snapshot {
  const all = <T>(read: (snapshot: Snapshot) => T): T[] => list.map(read)
  const faults = merged(
    all(({ faults }) => faults),
    (fault) => fault.fingerprint,
    addFaults,
  )
  const journal = sumJournal(all(({ journal }) => journal))
  return {
    startedAt: Math.min(...all(({ startedAt }) => startedAt)),
    workers: all(({ workers }) => workers).reduce((one, other) => one + other),
    routes: merged(
      all(({ routes }) => routes),
      labelOf,
      addRoutes,
    ),
    errors: sumCounts(
      all(({ errors }) => errors),
      keyOfError,
    ),
    unrouted: sumCounts(
      all(({ unrouted }) => unrouted),
      ({ kind }) => kind,
    ),
    minutes: merged(
      all(({ minutes }) => minutes),
      ({ at }) => at,
      addMinutes,
    )
      .sort((a, b) => a.at - b.at)
      .slice(-MAX_MINUTES),
    faults: boundedFaults(faults),
    journal: bounded(journal, MAX_ENTRIES, ({ path }) => path === OTHER, otherEntries),
    limits: sumCounts(
      all(({ limits }) => limits),
      ({ name }) => name,
    ),
    server: all(({ server }) => server).reduce(addNumbers),
    process: all(({ process }) => process).reduce(addFacts),
  }
}

/** Returns the text that the errors of one entry share. */
export function keyOfError({ cause, type, route }: Omit<ErrorCount, 'count'>): string {
  return `${cause} ${type} ${route}`
}

// Joins lists: entries with the same method and path are added.
function sumJournal(lists: readonly (readonly JournalEntry[])[]): JournalEntry[] {
  const groups = new Map<string, [JournalEntry, ...JournalEntry[]]>()
  for (const entry of lists.flat()) {
    const key = `${entry.method} ${entry.path}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return [...groups.values()].map(([first, ...others]) => joinEntries(first, others))
}

/** Joins lists: the counts of entries with the same key are added. */
export function sumCounts<T extends { readonly count: number }>(
  lists: readonly (readonly T[])[],
  keyOf: (entry: T) => unknown,
): T[] {
  return merged(lists, keyOf, addCounts)
}

// Joins lists: entries with the same key are added.
function merged<T>(
  lists: readonly (readonly T[])[],
  keyOf: (entry: T) => unknown,
  addTwo: (one: T, other: T) => T,
): T[] {
  const entries = new Map<unknown, T>()
  for (const entry of lists.flat() as T[]) {
    const key = keyOf(entry)
    const known = entries.get(key)
    entries.set(key, known === undefined ? entry : addTwo(known, entry))
  }
  return [...entries.values()]
}

/** Keeps the most frequent entries, and joins all others to one, which comes last. */
export function bounded<T extends { readonly count: number }>(
  entries: readonly T[],
  max: number,
  isOther: (entry: T) => boolean,
  join: (entries: readonly T[]) => T,
): T[] {
  const kept = entries.filter((entry) => !isOther(entry)).sort((a, b) => b.count - a.count)
  const others = [...kept.splice(max), ...entries.filter(isOther)]
  return others.length === 0 ? kept : [...kept, join(others)]
}

// Keeps the latest faults. Half of the places are for errors of the server, which the requests of a scanner must not hide.
function boundedFaults(all: readonly Fault[]): readonly Fault[] {
  const others = all.filter(({ fingerprint }) => fingerprint === OTHER)
  const latest = all
    .filter((fault) => !others.includes(fault))
    .sort((a, b) => b.lastAt - a.lastAt || b.count - a.count)
  const faults = latest.filter(({ status }) => status >= 500)
  const rejections = latest.filter(({ status }) => status < 500)
  const kept = faults.splice(0, MAX_FAULTS - Math.min(rejections.length, MAX_FAULTS / 2))
  kept.push(...rejections.splice(0, MAX_FAULTS - kept.length))
  others.push(...faults, ...rejections)
  return others.length === 0 ? kept : [...kept, otherFaults(others)]
}

/** Joins faults to the entry for those beyond the bound. */
export function otherFaults(faults: readonly Fault[]): Fault {
  return { ...faults.reduce(addFaults), fingerprint: OTHER, type: '', route: '' }
}

/** Joins entries of the journal to the entry for those beyond the bound. */
export function otherEntries(entries: readonly JournalEntry[]): JournalEntry {
  // Leaves out the parameters: thousands of entries have ten thousands of names.
  const { count, firstAt, lastAt } = entries.reduce(addTimed)
  return { path: OTHER, method: '', count, firstAt, lastAt, params: [] }
}

function addRoutes(one: RouteCounts, other: RouteCounts): RouteCounts {
  return {
    ...one,
    requests: addRequests(one.requests, other.requests),
    bytes: one.bytes + other.bytes,
    buckets: sumOf(one.buckets, other.buckets),
    durationSum: one.durationSum + other.durationSum,
  }
}

// The lists are short: with sumCounts(), the sum of 10,000 routes took twice the time.
function addRequests(
  ones: readonly RequestCount[],
  others: readonly RequestCount[],
): readonly RequestCount[] {
  const requests = [...ones]
  for (const other of others) {
    const index = ones.findIndex(
      ({ method, statusClass }) => method === other.method && statusClass === other.statusClass,
    )
    const one = ones[index]
    if (one === undefined) requests.push(other)
    else requests[index] = addCounts(one, other)
  }
  return requests
}

function addMinutes(one: MinuteCounts, other: MinuteCounts): MinuteCounts {
  return {
    at: one.at,
    requests: one.requests + other.requests,
    errors: one.errors + other.errors,
    buckets: sumOf(one.buckets, other.buckets),
  }
}

function addCounts<T extends { readonly count: number }>(one: T, other: T): T {
  return { ...one, count: one.count + other.count }
}

type Timed = Pick<Fault, 'count' | 'firstAt' | 'lastAt'>

// Returns the later of two entries, with the counts and times of both.
function addTimed<T extends Timed>(one: T, other: T): T {
  return {
    ...(one.lastAt < other.lastAt ? other : one),
    count: one.count + other.count,
    firstAt: Math.min(one.firstAt, other.firstAt),
  }
}

/** Adds two faults with one fingerprint. If both have the same `lastAt`, the first one counts as the later. */
export function addFaults(one: Fault, other: Fault): Fault {
  const [later, earlier] = one.lastAt < other.lastAt ? [other, one] : [one, other]
  return { ...addTimed(one, other), ids: [...later.ids, ...earlier.ids].slice(0, MAX_IDS) }
}

function sumOf(one: readonly number[], other: readonly number[]): number[] {
  const sum = [...one]
  addBuckets(sum, other)
  return sum
}
