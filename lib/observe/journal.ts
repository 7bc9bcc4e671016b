import { decodeSegment } from '../http/params.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { STANDARD_METHODS } from '../http/request-line.ts'
import { copyOf } from '../http/retention.ts'
import { safeNames } from '../reporting/request-names.ts'
import { paramNameRule, sentParamsOf } from '../scrubbing/sent-params.ts'
import { sentPathOf } from '../scrubbing/sent-values.ts'
import { isName, readShape, shapeOf } from '../scrubbing/shape.ts'
import { EntryCounts, MAX_PARAMS } from './journal-entry.ts'
import { MAX_DEPTH, type Part, PathTree, VARYING } from './path-tree.ts'
import type { JournalEntry } from './snapshot.ts'
import { bounded, MAX_ENTRIES, otherEntries } from './sum-snapshots.ts'

// The maximum parts of all paths of a method: of GET and POST, and of any other, which a client may send.
const MAX_NODES = 1_000
const MAX_NODES_OF_OTHERS = 100

const MAX_NAMES = 1_000

/** The requests that failed, by method and shape of their paths. Bounded, with exact counts. */
export class Journal {
  readonly #trees = new Map<string, PathTree<EntryCounts>>()
  // Most requests repeat the names of others: judging them again took a fifth of the time of a failed request.
  readonly #names = new Set<string>()

  /** Records a request that failed, with its parameters. */
  record(request: HttpRequest, hint?: string): void {
    const { method } = request
    const sent = sentParamsOf(request)
    const known = STANDARD_METHODS.includes(method) ? method : 'other'
    const rule = paramNameRule(request)
    const isSafe = rule === isName ? this.#isName : rule
    const entry = this.#treeOf(known).add(partsOf(request, isSafe))
    const now = Date.now()
    entry.addRequests({ count: 1, firstAt: now, lastAt: now, hint })
    let left = MAX_PARAMS
    for (const name of sent.names) {
      if (left-- === 0) break
      const { text = '', length } = sent.get(name) ?? {}
      entry.addParam(name === '' || isSafe(name) ? name : shapeOf(name), readShape(text, length))
    }
  }

  /** Lists the entries. */
  get entries(): JournalEntry[] {
    const counts = new Map<JournalEntry, EntryCounts>()
    for (const [method, tree] of this.#trees) {
      for (const [path, each] of tree.list())
        counts.set(each.toJournalEntry(method, path, []), each)
    }
    // Lists the parameters only of the entries that are kept: those of thousands took 35 ms of each scrape.
    return bounded([...counts.keys()], MAX_ENTRIES, () => false, otherEntries).map(
      (entry) => counts.get(entry)?.toJournalEntry(entry.method, entry.path) ?? entry,
    )
  }

  readonly #isName = (text: string): boolean => {
    if (this.#names.has(text)) return true
    if (!isName(text)) return false
    if (this.#names.size === MAX_NAMES) this.#names.clear()
    this.#names.add(copyOf(text))
    return true
  }

  #treeOf(method: string): PathTree<EntryCounts> {
    const known = this.#trees.get(method)
    if (known !== undefined) return known
    const isUsual = method === 'GET' || method === 'POST'
    const maxNodes = isUsual ? MAX_NODES : MAX_NODES_OF_OTHERS
    const tree = new PathTree(maxNodes, () => new EntryCounts())
    this.#trees.set(method, tree)
    return tree
  }
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
  // Removes the empty segments only now, so that keys and values keep their positions: `//hunter2/id` has no name.
  return [...shown, ...keys].filter((part) => part !== '').slice(0, MAX_DEPTH + 1)
}

// Limits the number of segments. The first one may be empty, and a tree joins those beyond MAX_DEPTH.
function segmentsOf(path: string): readonly string[] {
  return path.split('/', MAX_DEPTH + 2)
}

function withoutLastSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end--
  return path.slice(0, end)
}
