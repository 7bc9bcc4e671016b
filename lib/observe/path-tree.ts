import { copyOf } from '../http/params.ts'

/** A part of a path that varies, or may be a value: it is shown by its position. */
export const VARYING: unique symbol = Symbol('varying')

/** A part of a path: a name, or one that is shown by its position. */
export type Part = string | typeof VARYING

interface Node<Leaf> {
  /** Number of paths that have passed, and the age of its place when it was new. */
  weight: number
  /** Grows when a name makes room here: one that is no longer requested falls behind. */
  age: number
  leaf: Leaf | undefined
  readonly children: Map<Part, Node<Leaf>>
}

// The first part tells most about a request, and is also what scanners vary.
const MAX_NAMES = [48, 12]
/** Further parts of a path are one. */
export const MAX_DEPTH = 6
// Beyond it, a new name counts as a part that varies.
const MAX_NODES = 500
// A name stays if one of 256 new names is the same, and 100 requests are forgotten after 25,600 new names.
const AGE_STEP = 1 / 256
// Stands for all parts that are too deep.
const REST = '…'

/**
 * A tree of paths with something for each of them. Where a place has too many names, those that are requested least become
 * one: `/<1>`. Its size is bounded, and nothing that was added is lost.
 */
export class PathTree<Leaf> {
  readonly #root: Node<Leaf> = newNode(0)
  readonly #join: (one: Leaf, other: Leaf) => Leaf
  #nodes = 0

  /** @param join Joins what belongs to two paths that have become one. */
  constructor(join: (one: Leaf, other: Leaf) => Leaf) {
    this.#join = join
  }

  /** Adds what belongs to a path, with the number of requests that it stands for. */
  add(path: readonly Part[], leaf: Leaf, count = 1): void {
    let node = this.#root
    for (const [depth, part] of toDepth(path).entries()) {
      node = this.#childOf(node, part, depth)
      node.weight += count
    }
    this.#put(node, leaf)
  }

  /** Lists the paths, such as `/signin/v2/<3>`. */
  *list(): Iterable<readonly [path: string, leaf: Leaf]> {
    yield* listOf(this.#root, '', 1)
  }

  #childOf(parent: Node<Leaf>, part: Part, depth: number): Node<Leaf> {
    const { children } = parent
    const known = children.get(part)
    if (known !== undefined) return known
    if (part !== VARYING) {
      const rarest = rarestOf(children, MAX_NAMES[depth] ?? MAX_NAMES.at(-1) ?? 0)
      if (rarest !== undefined) this.#giveUp(parent, rarest, depth)
      else if (this.#nodes >= MAX_NODES) return this.#childOf(parent, VARYING, depth)
    }
    const child: Node<Leaf> = newNode(parent.age)
    children.set(typeof part === 'string' ? copyOf(part) : part, child)
    this.#nodes++
    return child
  }

  // From now on, a name is a part that varies.
  #giveUp(parent: Node<Leaf>, name: Part, depth: number): void {
    const node = parent.children.get(name)
    parent.children.delete(name)
    parent.age += AGE_STEP
    if (node !== undefined) this.#move(node, this.#childOf(parent, VARYING, depth), depth + 1)
  }

  #move(from: Node<Leaf>, to: Node<Leaf>, depth: number): void {
    this.#nodes--
    to.weight += from.weight
    if (from.leaf !== undefined) this.#put(to, from.leaf)
    for (const [part, child] of from.children)
      this.#move(child, this.#childOf(to, part, depth), depth + 1)
  }

  #put(node: Node<Leaf>, leaf: Leaf): void {
    node.leaf = node.leaf === undefined ? leaf : this.#join(node.leaf, leaf)
  }
}

function newNode<Leaf>(weight: number): Node<Leaf> {
  return { weight, age: 0, leaf: undefined, children: new Map() }
}

function toDepth(path: readonly Part[]): readonly Part[] {
  return path.length > MAX_DEPTH ? [...path.slice(0, MAX_DEPTH), REST] : path
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
  { leaf, children }: Node<Leaf>,
  path: string,
  position: number,
): Iterable<readonly [string, Leaf]> {
  if (leaf !== undefined) yield [path === '' ? '/' : path, leaf]
  for (const [part, child] of children) {
    const text = part === VARYING ? `<${position}>` : part
    yield* listOf(child, `${path}/${text}`, position + 1)
  }
}
