import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Part, PathTree, VARYING } from '../../lib/observe/path-tree.ts'

class Counter {
  count = 0
  isTotal = false
  joins = 0

  add({ count, isTotal, joins }: Counter): void {
    this.count += count
    this.joins += joins + (isTotal ? 0 : 1)
  }

  toTotals(): this {
    this.isTotal = true
    return this
  }
}

const createTree = (maxNodes = 1_000): PathTree<Counter> =>
  new PathTree(maxNodes, () => new Counter())
const count = (tree: PathTree<Counter>, path: readonly Part[], times = 1): void => {
  tree.add(path).count += times
}
const partsOf = (path: string): readonly Part[] =>
  path.split('/').map((part) => (part === '*' ? VARYING : part))
const listOf = (tree: PathTree<Counter>): Record<string, number> =>
  Object.fromEntries(Array.from(tree.list(), ([path, { count: times }]) => [path, times]))

function treeOf(...paths: readonly string[]): PathTree<Counter> {
  const tree = createTree()
  for (const path of paths) count(tree, partsOf(path))
  return tree
}

describe('PathTree', () => {
  it('keeps each path with what belongs to it', () => {
    const tree = treeOf('a/b', 'a/b', 'a', 'c')
    count(tree, [], 5)
    assert.deepEqual(listOf(tree), { '/': 5, '/a': 1, '/a/b': 2, '/c': 1 })
  })

  it('shows a part that varies by its position', () => {
    assert.deepEqual(listOf(treeOf('a/*', 'a/*/b', '*')), { '/a/<2>': 1, '/a/<2>/b': 1, '/<1>': 1 })
  })

  it('makes one of the rarest names if there are too many, and keeps the frequent ones', () => {
    const tree = createTree()
    const add = (name: string): void => count(tree, ['signin', name])
    for (let i = 0; i < 5; i++) add('often')
    for (let i = 0; i < 1_000; i++) add(`page${i}`)
    const { '/signin/<2>': varying, '/signin/often': often, ...others } = listOf(tree)
    assert.deepEqual([varying, often], [989, 5])
    // 12 names in all, and the latest is one of them.
    assert.equal(Object.keys(others).length, 11)
    assert.equal(others['/signin/page999'], 1)
  })

  it('makes room for a name that becomes frequent while others are no longer requested', () => {
    const tree = createTree()
    for (let i = 0; i < 48 * 20; i++) count(tree, [`old${i % 48}`])
    for (let i = 0; i < 20_000; i++) count(tree, [i % 10 === 0 ? 'broken-link' : `scan${i}`])
    const listed = listOf(tree)
    assert.ok((listed['/broken-link'] ?? 0) > 1_000, `${listed['/broken-link']}`)
    assert.equal(
      Object.values(listed).reduce((sum, count) => sum + count),
      48 * 20 + 20_000,
    )
  })

  it('joins the paths below the names that have become one', () => {
    const tree = createTree()
    for (let i = 0; i < 60; i++) {
      count(tree, [`user${i}`, 'edit'])
      count(tree, [`user${i}`, 'show'])
    }
    assert.equal(listOf(tree)['/<1>/edit'], 12)
    assert.equal(listOf(tree)['/<1>/show'], 12)
  })

  it('keeps only the totals of many paths below a name that makes room', () => {
    const tree = createTree()
    const add = (...path: readonly string[]): void => count(tree, path)
    // Each of 47 names is requested more often than the one with many paths.
    for (let i = 0; i < 47 * 150; i++) add(`often${i % 47}`)
    for (let i = 0; i < 144; i++) add('big', `a${i % 12}`, `b${Math.floor(i / 12)}`)
    add('new')
    // Only the totals are kept, so that a request takes a short time.
    const listed = new Map(tree.list())
    const joins = [...listed.values()].reduce((sum, leaf) => sum + leaf.joins, 0)
    assert.ok(joins <= 16, `${joins}`)
    assert.equal(listed.get('/new')?.count, 1)
    const below = [...listed].filter(([path]) => path.startsWith('/<1>'))
    assert.equal(
      below.reduce((sum, [, { count }]) => sum + count, 0),
      144,
    )
    assert.equal(listed.get('/<1>/…')?.isTotal, true)
  })

  it('joins what has no room', () => {
    const tree = createTree(10)
    for (let i = 0; i < 100; i++) count(tree, ['a', `b${i}`, `c${i}`, `d${i}`, VARYING])
    const listed = listOf(tree)
    assert.ok(Object.keys(listed).length <= 20, `${Object.keys(listed).length}`)
    assert.equal(
      Object.values(listed).reduce((sum, count) => sum + count),
      100,
    )
  })

  it('joins all parts that are too deep', () => {
    const tree = treeOf('a/b/c/d/e/f/g', 'a/b/c/d/e/f/g/h', 'a/b/c/d/e/f/x')
    assert.deepEqual(listOf(tree), { '/a/b/c/d/e/f/…': 3 })
  })

  it('is bounded, and loses nothing', () => {
    const tree = createTree()
    let seed = 1
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((seed / 2_147_483_648) * below)
    }
    for (let i = 0; i < 50_000; i++) {
      count(
        tree,
        Array.from({ length: 1 + random(8) }, () => `n${random(100)}`),
      )
    }
    const counts = Object.values(listOf(tree))
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      50_000,
    )
    assert.ok(counts.length < 1_000, `${counts.length}`)
  })
})
