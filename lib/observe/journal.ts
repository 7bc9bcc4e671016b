import { STANDARD_METHODS } from '../http/methods.ts'
import { copyOf, decodeSegment } from '../http/params.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { safeNames } from '../reporting/request-names.ts'
import { paramNameRule, SentParams } from '../reporting/sent-params.ts'
import { sentPathOf } from '../reporting/sent-values.ts'
import { shapeOf } from '../reporting/shape.ts'
import { MAX_DEPTH, type Part, PathTree, VARYING } from './path-tree.ts'
import { type JournalEntry, OTHER } from './snapshot.ts'
import { bounded, MAX_ENTRIES, MAX_PARAMS, otherEntries } from './sum-snapshots.ts'

const NUMBER = /\d+/

/** The requests of one method that failed, by the shape of their paths. Bounded, with exact counts. */
export class Journal {
  readonly #trees = new Map<string, PathTree<Entry>>()

  /** Records a request that failed. */
  record(request: HttpRequest, hint?: string): void {
    const now = Date.now()
    const entry = new Entry(now, hint)
    const isSafe = paramNameRule(request)
    const sent = new SentParams(request)
    let left = MAX_PARAMS
    for (const name of sent.names) {
      if (left-- === 0) break
      const { text = '', length } = sent.get(name) ?? {}
      entry.addParam(name === '' || isSafe(name) ? name : shapeOf(name), shapeOf(text, length))
    }
    const { method } = request
    const known = STANDARD_METHODS.includes(method) ? method : 'other'
    this.#treeOf(known).add(partsOf(request, isSafe), entry)
  }

  /** Lists the entries. */
  get entries(): JournalEntry[] {
    const all = [...this.#trees].flatMap(([method, tree]) =>
      Array.from(tree.list(), ([path, entry]) => entry.toJournalEntry(method, path)),
    )
    return bounded(all, MAX_ENTRIES, () => false, otherEntries)
  }

  #treeOf(method: string): PathTree<Entry> {
    const tree = this.#trees.get(method) ?? new PathTree<Entry>((one, other) => one.add(other))
    this.#trees.set(method, tree)
    return tree
  }
}

/** The shapes of one kind, such as `token(21)` and `token(34)`. */
interface Shapes {
  count: number
  lowest: number
  highest: number
}

class Entry {
  #count = 1
  #firstAt: number
  #lastAt: number
  #hint: string | undefined
  readonly #params = new Map<string, { count: number; readonly kinds: Map<string, Shapes> }>()

  constructor(at: number, hint: string | undefined) {
    this.#firstAt = at
    this.#lastAt = at
    this.#hint = hint
  }

  /** Adds another entry to this one. */
  add(other: Entry): this {
    this.#count += other.#count
    this.#firstAt = Math.min(this.#firstAt, other.#firstAt)
    this.#lastAt = Math.max(this.#lastAt, other.#lastAt)
    this.#hint = other.#hint ?? this.#hint
    for (const [name, { count, kinds }] of other.#params) this.#addKinds(name, count, kinds)
    return this
  }

  addParam(name: string, shape: string): void {
    const number = Number(NUMBER.exec(shape)?.[0] ?? 0)
    const shapes = { count: 1, lowest: number, highest: number }
    this.#addKinds(name, 1, new Map([[shape.replace(NUMBER, ''), shapes]]))
  }

  toJournalEntry(method: string, path: string): JournalEntry {
    return {
      path,
      method,
      count: this.#count,
      firstAt: this.#firstAt,
      lastAt: this.#lastAt,
      ...(this.#hint !== undefined && { hint: this.#hint }),
      params: Array.from(this.#params, ([name, { count, kinds }]) => ({
        name,
        count,
        shapes: Array.from(kinds, ([kind, shapes]) => ({
          shape: shapeText(kind, shapes),
          count: shapes.count,
        })),
      })),
    }
  }

  #addKinds(name: string, count: number, kinds: ReadonlyMap<string, Shapes>): void {
    const key = this.#params.has(name) || this.#params.size < MAX_PARAMS ? name : OTHER
    const param = this.#params.get(key) ?? { count: 0, kinds: new Map<string, Shapes>() }
    this.#params.set(copyOf(key), param)
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
}

function shapeText(kind: string, { lowest, highest }: Shapes): string {
  return kind.replace('()', `(${lowest === highest ? lowest : `${lowest}-${highest}`})`)
}

// Returns the parts of the path. It has only names that a report of the request also shows.
function partsOf(request: HttpRequest, isSafe: (name: string) => boolean): readonly Part[] {
  const { route, settings } = stateOf(request)
  const literals = settings.literalsOf?.(route?.name ?? '') ?? []
  const names = new Set([...Object.values(safeNames(request)), ...literals])
  const path = withoutLastSlashes(sentPathOf(request))
  const pairs = typeof route?.pairs === 'string' ? route.pairs : ''
  const head = path.endsWith(pairs) ? path.slice(0, path.length - pairs.length) : path
  const shown = segmentsOf(head).map((name) => name && (names.has(name) ? name : VARYING))
  // The values between the keys, and a key without a value, may be anything.
  const keys = segmentsOf(path.slice(head.length)).map((name, i, all) => {
    const isKey = i % 2 === 0 && i + 1 < all.length && isSafe(decodeSegment(name))
    return name && (isKey ? name : VARYING)
  })
  // An empty key or value counts as one until here: `//hunter2/id` has no name.
  return [...shown, ...keys].filter((part) => part !== '').slice(0, MAX_DEPTH + 1)
}

// One more than a tree keeps apart.
function segmentsOf(path: string): readonly string[] {
  return path.split('/', MAX_DEPTH + 2)
}

function withoutLastSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end--
  return path.slice(0, end)
}
