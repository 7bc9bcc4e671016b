import { copyOf } from '../http/retention.ts'

/** A part of a path that varies, or may be a value: it is shown by its position. */
export const VARYING: unique symbol = Symbol('varying')

/** A part of a path: a name, or one that is shown by its position. */
export type Part = string | typeof VARYING

/** The leaf of a path: counts that can be added to those of another path. */
export interface Counts<Leaf> {
  /** Adds the counts of another path, when both paths become one. */
  add(other: Leaf): void
  /** Returns the totals alone, which can be added in a short and constant time. */
  toTotals(): Leaf
}

interface Node<Leaf> {
  /** Number of paths through this node, added to the age that its parent had when this node was new. */
  weight: number
  /** The first weight of a new child. It grows when a child makes room: an old child that is no longer requested falls behind. */
  age: number
  leaf: Leaf | undefined
  /** The joined leaf of all paths below this node that have no nodes. */
  rest: Leaf | undefined
  readonly children: Map<Part, Node<Leaf>>
}

// The first part tells most about a request, and is also what scanners vary.
const MAX_NAMES = [48, 12]
/** Maximum depth of a node. The parts of a path beyond it have no nodes. */
export const MAX_DEPTH = 6
// A name stays if one of 256 new names is the same, and 100 requests are forgotten after 25,600 new names.
const AGE_STEP = 1 / 256
// Maximum nodes that are moved when names make room for a path: to join two leaves takes up to 50 µs. Of further nodes, only the
// totals are kept.
const MAX_MOVED = 16
// Stands for all parts below a path that have no nodes.
const REST = '…'

/**
 * A tree of paths with a leaf for each of them. Where a place has too many names, those that are requested least become
 * one: `/<1>`. Its size is bounded, and so is the time to add a path. Nothing that was counted is lost: where paths become
 * one, their leaves are added, and where that would take too long, the totals are.
 */
export class PathTree<Leaf extends Counts<Leaf>> {
  readonly #root: Node<Leaf> = newNode(0)
  readonly #maxNodes: number
  readonly #createLeaf: () => Leaf
  #nodes = 0
  // Number of nodes that the path that is added may still move.
  #left = 0

  /** @param maxNodes Maximum number of parts of all paths. From half of it on, a new name counts as a part that varies. */
  constructor(maxNodes: number, createLeaf: () => Leaf) {
    this.#maxNodes = maxNodes
    this.#createLeaf = createLeaf
  }

  /** Adds a path, and returns its leaf, in which the caller counts. */
  add(path: readonly Part[]): Leaf {
    this.#left = MAX_MOVED
    let node = this.#root
    let depth = 0
    for (const part of path) {
      const child = depth < MAX_DEPTH ? this.#childOf(node, part, depth) : undefined
      if (child === undefined) {
        node.rest ??= this.#createLeaf()
        return node.rest
      }
      node = child
      node.weight++
      depth++
    }
    node.leaf ??= this.#createLeaf()
    return node.leaf
  }

  /** Lists the paths, such as `/signin/v2/<3>`. */
  list(): Iterable<readonly [path: string, leaf: Leaf]> {
    return listOf(this.#root, '', 1)
  }

  // Returns the child for a part of a path; undefined if there is no room for it.
  #childOf(parent: Node<Leaf>, part: Part, depth: number): Node<Leaf> | undefined {
    const { children } = parent
    const known = children.get(part)
    if (known !== undefined) return known
    if (part !== VARYING) {
      const rarest = rarestOf(children, MAX_NAMES[depth] ?? MAX_NAMES.at(-1) ?? 0)
      if (rarest !== undefined) this.#giveUp(parent, rarest, depth)
      else if (this.#nodes >= this.#maxNodes / 2) return this.#childOf(parent, VARYING, depth)
    }
    if (this.#nodes >= this.#maxNodes) return undefined
    const child: Node<Leaf> = newNode(parent.age)
    children.set(typeof part === 'string' ? copyOf(part) : part, child)
    this.#nodes++
    return child
  }

  // Gives up the node of a name: moves it, with all nodes below it, to the part that varies.
  #giveUp(parent: Node<Leaf>, name: Part, depth: number): void {
    const node = parent.children.get(name)
    parent.children.delete(name)
    parent.age += AGE_STEP
    if (node !== undefined) this.#move(node, parent, VARYING, depth)
  }

  #move(from: Node<Leaf>, parent: Node<Leaf>, part: Part, depth: number): void {
    this.#nodes--
    const to = this.#left > 0 ? this.#childOf(parent, part, depth) : undefined
    this.#left--
    if (to === undefined) {
      this.#drop(from, parent)
      return
    }
    to.weight += from.weight
    if (from.leaf !== undefined) to.leaf = joined(to.leaf, from.leaf)
    if (from.rest !== undefined) to.rest = joined(to.rest, from.rest)
    for (const [name, child] of from.children) this.#move(child, to, name, depth + 1)
  }

  // Removes a node and all nodes below it, and adds their totals to the rest of the parent.
  #drop(from: Node<Leaf>, parent: Node<Leaf>): void {
    for (const leaf of [from.leaf, from.rest]) {
      if (leaf !== undefined) parent.rest = joined(parent.rest, leaf.toTotals())
    }
    this.#nodes -= from.children.size
    for (const child of from.children.values()) this.#drop(child, parent)
  }
}

function newNode<Leaf>(weight: number): Node<Leaf> {
  return { weight, age: 0, leaf: undefined, rest: undefined, children: new Map() }
}

function joined<Leaf extends Counts<Leaf>>(one: Leaf | undefined, other: Leaf): Leaf {
  one?.add(other)
  return one ?? other
}

// Returns the name with the lowest weight; undefined if there is room for one more. Of several, the first one.
function rarestOf<Leaf>(children: Node<Leaf>['children'], max: number): Part | undefined {
  if (children.size - Number(children.has(VARYING)) < max) return undefined
  let rarest: Part | undefined
  let lowest = Number.POSITIVE_INFINITY
  for (const [part, { weight }] of children) {
    if (part === VARYING || weight >= lowest) continue
    rarest = part
    lowest = weight
  }
  return rarest
}

function* listOf<Leaf>(
  { leaf, rest, children }: Node<Leaf>,
  path: string,
  position: number,
): Iterable<readonly [string, Leaf]> {
  if (leaf !== undefined) yield [path === '' ? '/' : path, leaf]
  for (const [part, child] of children) {
    const text = part === VARYING ? `<${position}>` : part
    yield* listOf(child, `${path}/${text}`, position + 1)
  }
  if (rest !== undefined) yield [`${path}/${REST}`, rest]
}
