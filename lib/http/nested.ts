import { checkedLimits } from './check-options.ts'
import { rejectionWith } from './errors.ts'
import { forgetLastMatch } from './retention.ts'

/** A value of {@link nested}: a text, a list, or an object without prototype. */
export type NestedValue = string | NestedValue[] | { [name: string]: NestedValue }

/** The bounds of {@link nested}. */
export interface NestedLimits {
  /** Maximum brackets in a name (default 8). */
  readonly maxDepth: number
  /** Maximum values (default 1,000). */
  readonly maxValues: number
}

const DEFAULT_LIMITS: NestedLimits = { maxDepth: 8, maxValues: 1_000 }

// A name such as `user[name]`, `tags[]` or `rows[0][id]`.
const BRACKETS = /^([^[\]]+)((?:\[[^[\]]*\])+)$/

const INDEX = /^(?:0|[1-9]\d{0,14})$/

// The largest index of an object. Once an object has had it, V8 keeps the indexes of that object in a hash table.
const MAX_INDEX = 2 ** 32 - 2

type Child = Branch | string

// The children of a name by their keys, with the index that an empty bracket takes next.
class Branch {
  readonly children = new Map<string, Child>()
  #next = 0

  set<T extends Child>(key: string, child: T): T {
    const name = key === '' ? String(this.#next) : key
    if (INDEX.test(name)) this.#next = Math.max(this.#next, Number(name) + 1)
    this.children.set(name, child)
    return child
  }

  /** Returns the branch of a key; replaces a text by a new one. */
  branch(key: string): Branch {
    const child = this.children.get(key)
    return child instanceof Branch ? child : this.set(key, new Branch())
  }
}

/**
 * Reads parameters as PHP does: `tags[]=a&user[name]=b` becomes `{ tags: ['a'], user: { name: 'b' } }`.
 *
 * An empty bracket takes the next index. A later value replaces an earlier one of the same name, and keys 0, 1, 2, ... in
 * this order are a list. A name whose brackets do not match is ordinary.
 *
 * @throws {HttpError} 400 beyond a bound.
 */
export function nested(
  params: Iterable<readonly [name: string, value: string]>,
  limits: Partial<NestedLimits> = {},
): { [name: string]: NestedValue } {
  const { maxDepth, maxValues } = checkedLimits(DEFAULT_LIMITS, limits)
  const root = new Branch()
  let values = 0
  try {
    for (const [name, value] of params) {
      if (++values > maxValues) throw rejectionWith(400, `More than ${maxValues} values`)
      const keys = keysOf(name, maxDepth)
      if (keys.length > maxDepth + 1) throw rejectionWith(400, `More than ${maxDepth} brackets`)
      insert(root, keys, value)
    }
  } finally {
    forgetLastMatch()
  }
  return toObject(root)
}

function keysOf(name: string, maxDepth: number): readonly string[] {
  const [, start = name, brackets] = BRACKETS.exec(name) ?? []
  // One bracket beyond the maximum is enough to reject the name.
  return brackets === undefined
    ? [start]
    : [start, ...brackets.slice(1, -1).split('][', maxDepth + 1)]
}

function insert(root: Branch, [first = '', ...brackets]: readonly string[], value: string): void {
  const last = brackets.pop()
  // An empty name is an ordinary one: only an empty bracket takes an index.
  if (last === undefined) root.children.set(first, value)
  else brackets.reduce((parent, key) => parent.branch(key), root.branch(first)).set(last, value)
}

function toObject({ children }: Branch): { [name: string]: NestedValue } {
  const object: { [name: string | number]: NestedValue } = Object.create(null)
  // Without this, V8 allocates 12 KB for an object whose only key is 1000.
  object[MAX_INDEX] = ''
  delete object[MAX_INDEX]
  for (const [key, child] of children) object[key] = toValue(child)
  return object
}

function toValue(child: Child): NestedValue {
  if (typeof child === 'string') return child
  const { children } = child
  const isList = [...children.keys()].every((key, i) => key === String(i))
  return isList ? [...children.values()].map(toValue) : toObject(child)
}
