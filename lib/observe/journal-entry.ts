import { copyOf } from '../http/retention.ts'
import type { Shape, ShapeKind } from '../scrubbing/shape.ts'
import { type JournalEntry, type JournalParam, OTHER, type ShapeCount } from './snapshot.ts'

/** Maximum number of `params` of an entry of the journal, and one for all others. */
export const MAX_PARAMS = 24

/** The values of one kind, such as `token(21)` and `token(34)`. */
interface Values {
  readonly kind: ShapeKind
  count: number
  shortest: number
  longest: number
}

interface Param {
  count: number
  /** At most one for each of the 8 kinds. */
  readonly values: Values[]
}

/** Requests without their parameters. */
type Requests = Pick<JournalEntry, 'count' | 'firstAt' | 'lastAt'> & { hint?: string | undefined }

type Copy = (name: string) => string

/** The counts of an entry of the journal. Bounded: adding others takes at most some 50 µs. */
export class EntryCounts implements Requests {
  count = 0
  firstAt: number = Number.POSITIVE_INFINITY
  lastAt = 0
  hint: string | undefined
  readonly #params = new Map<string, Param>()

  /** Adds the counts that an entry shows. */
  addEntry(entry: JournalEntry): this {
    this.addRequests(entry)
    for (const { name, count, shapes } of entry.params) {
      this.#addParams(name, { count, values: shapes.map(valuesOf) })
    }
    return this
  }

  /** Adds requests. The hint of the latest one counts. */
  addRequests({ count, firstAt, lastAt, hint }: Requests): void {
    this.hint = this.lastAt > lastAt ? (this.hint ?? hint) : (hint ?? this.hint)
    this.count += count
    this.firstAt = Math.min(this.firstAt, firstAt)
    this.lastAt = Math.max(this.lastAt, lastAt)
  }

  /** Adds a parameter of a request. */
  addParam(name: string, { kind, length }: Shape): void {
    const values = [{ kind, count: 1, shortest: length, longest: length }]
    // A name that stays must not keep the request. The names of entries are copies already.
    this.#addParams(name, { count: 1, values }, copyOf)
  }

  /** Adds others to these. */
  add(others: EntryCounts): void {
    this.addRequests(others)
    for (const [name, param] of others.#params) this.#addParams(name, param)
  }

  /** Removes the parameters. */
  toTotals(): this {
    this.#params.clear()
    return this
  }

  /** Returns what the journal shows, with these parameters (default: all of the entry). */
  toJournalEntry(
    method: string,
    path: string,
    from: Iterable<readonly [string, Param]> = this.#params,
  ): JournalEntry {
    const { count, firstAt, lastAt, hint } = this
    const params = Array.from(from, ([name, { count: sent, values }]): JournalParam => {
      return { name, count: sent, shapes: values.map(toShapeCount) }
    })
    return { path, method, count, firstAt, lastAt, ...(hint !== undefined && { hint }), params }
  }

  #addParams(name: string, { count, values }: Param, copy: Copy = String): void {
    const param = this.#paramOf(name, copy)
    param.count += count
    for (const each of values) addValues(param.values, each)
  }

  #paramOf(name: string, copy: Copy): Param {
    const known = this.#params.get(name)
    if (known !== undefined) return known
    if (this.#params.size >= MAX_PARAMS && name !== OTHER) return this.#paramOf(OTHER, String)
    const param: Param = { count: 0, values: [] }
    this.#params.set(copy(name), param)
    return param
  }
}

/** Joins entries of the journal with one method and path. */
export function joinEntries(first: JournalEntry, others: readonly JournalEntry[]): JournalEntry {
  if (others.length === 0) return first
  const counts = new EntryCounts().addEntry(first)
  for (const other of others) counts.addEntry(other)
  return counts.toJournalEntry(first.method, first.path)
}

function addValues(all: Values[], added: Values): void {
  const known = all.find(({ kind }) => kind === added.kind)
  if (known === undefined) {
    all.push({ ...added })
    return
  }
  known.count += added.count
  known.shortest = Math.min(known.shortest, added.shortest)
  known.longest = Math.max(known.longest, added.longest)
}

// Reads what toShapeCount() has written. By hand: regular expressions and copies of names took more than half of the time of a sum.
function valuesOf({ shape, count }: ShapeCount): Values {
  const start = shape.indexOf('(') + 1
  if (start === 0) return { kind: shape as ShapeKind, count, shortest: 0, longest: 0 }
  const lengths = shape.slice(start, -1)
  const dash = lengths.indexOf('-')
  const shortest = Number(dash < 0 ? lengths : lengths.slice(0, dash))
  const longest = dash < 0 ? shortest : Number(lengths.slice(dash + 1))
  return { kind: `${shape.slice(0, start)})` as ShapeKind, count, shortest, longest }
}

function toShapeCount({ kind, count, shortest, longest }: Values): ShapeCount {
  if (!kind.endsWith(')')) return { shape: kind, count }
  const lengths = shortest === longest ? shortest : `${shortest}-${longest}`
  return { shape: `${kind.slice(0, -1)}${lengths})`, count }
}
