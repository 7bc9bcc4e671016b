import { copyOf } from '../http/params.ts'
import { type JournalEntry, type JournalParam, OTHER } from './snapshot.ts'

/** Maximum number of `params` of an entry of the journal, and one for all others. */
export const MAX_PARAMS = 24

// The length in `token(21)`, and the lengths in `token(21-34)`.
const LENGTHS = /\((\d+)(?:-(\d+))?\)/

/** The shapes of one kind, such as `token(21)` and `token(34)`. */
interface Shapes {
  count: number
  lowest: number
  highest: number
}

interface Param {
  count: number
  /** By the shape without its length, such as `token()`: there are 8 kinds. */
  readonly kinds: Map<string, Shapes>
}

/** The counts of an entry of the journal, to which others are added. Bounded: a join takes at most some 50 µs. */
export class EntryCounts {
  #count = 1
  #firstAt: number
  #lastAt: number
  #hint: string | undefined
  readonly #params = new Map<string, Param>()

  /** Creates the counts of one request. */
  constructor(at: number, hint: string | undefined) {
    this.#firstAt = at
    this.#lastAt = at
    this.#hint = hint
  }

  /** Returns the counts that an entry shows. */
  static of({ count, firstAt, lastAt, hint, params }: JournalEntry): EntryCounts {
    const counts = new EntryCounts(lastAt, hint)
    counts.#count = count
    counts.#firstAt = firstAt
    for (const { name, count: sent, shapes } of params) {
      counts.#addParam(name, { count: sent, kinds: new Map() })
      for (const { shape, count: times } of shapes) {
        counts.#addParam(name, { count: 0, kinds: new Map([kindOf(shape, times)]) })
      }
    }
    return counts
  }

  /** Adds others to these. */
  add(others: EntryCounts): this {
    const [later, earlier] = this.#lastAt > others.#lastAt ? [this, others] : [others, this]
    this.#hint = later.#hint ?? earlier.#hint
    this.#count += others.#count
    this.#firstAt = Math.min(this.#firstAt, others.#firstAt)
    this.#lastAt = later.#lastAt
    for (const [name, param] of others.#params) this.#addParam(name, param)
    return this
  }

  /** Removes the parameters. */
  toTotals(): this {
    this.#params.clear()
    return this
  }

  /** Adds a parameter of the request. */
  addParam(name: string, shape: string): void {
    this.#addParam(name, { count: 1, kinds: new Map([kindOf(shape, 1)]) })
  }

  /** Returns what the journal shows, with all parameters or with others. */
  toJournalEntry(
    method: string,
    path: string,
    params: Iterable<readonly [string, Param]> = this.#params,
  ): JournalEntry {
    return {
      path,
      method,
      count: this.#count,
      firstAt: this.#firstAt,
      lastAt: this.#lastAt,
      ...(this.#hint !== undefined && { hint: this.#hint }),
      params: Array.from(params, ([name, { count, kinds }]): JournalParam => {
        const shapes = Array.from(kinds, ([kind, each]) => ({
          shape: shapeText(kind, each),
          count: each.count,
        }))
        return { name, count, shapes }
      }),
    }
  }

  #addParam(name: string, { count, kinds }: Param): void {
    const key = this.#params.has(name) || this.#params.size < MAX_PARAMS ? name : OTHER
    const param = this.#params.get(key) ?? this.#newParam(key)
    param.count += count
    for (const [kind, added] of kinds) {
      const known = param.kinds.get(kind)
      if (known === undefined) param.kinds.set(kind, { ...added })
      else {
        known.count += added.count
        known.lowest = Math.min(known.lowest, added.lowest)
        known.highest = Math.max(known.highest, added.highest)
      }
    }
  }

  #newParam(name: string): Param {
    const param = { count: 0, kinds: new Map<string, Shapes>() }
    this.#params.set(copyOf(name), param)
    return param
  }
}

/** Joins entries of the journal with one method and path. */
export function joinEntries(first: JournalEntry, others: readonly JournalEntry[]): JournalEntry {
  if (others.length === 0) return first
  const counts = EntryCounts.of(first)
  for (const other of others) counts.add(EntryCounts.of(other))
  return counts.toJournalEntry(first.method, first.path)
}

// Returns `token()` and the lengths of `token(21)` or `token(21-34)`.
function kindOf(shape: string, count: number): [kind: string, shapes: Shapes] {
  const [text, lowest = '0', highest = lowest] = LENGTHS.exec(shape) ?? []
  const kind = text === undefined ? shape : shape.replace(text, '()')
  return [kind, { count, lowest: Number(lowest), highest: Number(highest) }]
}

function shapeText(kind: string, { lowest, highest }: Shapes): string {
  return kind.replace('()', `(${lowest === highest ? lowest : `${lowest}-${highest}`})`)
}
