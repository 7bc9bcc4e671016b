import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Part, PathTree, VARYING } from '../../lib/observe/path-tree.ts'

const createTree = (maxNodes = 1_000): PathTree<number> =>
  new PathTree(maxNodes, { join: (one, other) => one + other, totalsOf: (leaf) => leaf })
const partsOf = (path: string): readonly Part[] =>
  path.split('/').map((part) => (part === '*' ? VARYING : part))
const listOf = (tree: PathTree<number>): Record<string, number> => Object.fromEntries(tree.list())

function treeOf(...paths: readonly string[]): PathTree<number> {
  const tree = createTree()
  for (const path of paths) tree.add(partsOf(path), 1)
  return tree
}

describe('PathTree', () => {
  it('keeps each path with what belongs to it', () => {
    const tree = treeOf('a/b', 'a/b', 'a', 'c')
    tree.add([], 5)
    assert.deepEqual(listOf(tree), { '/': 5, '/a': 1, '/a/b': 2, '/c': 1 })
  })

  it('shows a part that varies by its position', () => {
    assert.deepEqual(listOf(treeOf('a/*', 'a/*/b', '*')), { '/a/<2>': 1, '/a/<2>/b': 1, '/<1>': 1 })
  })

  it('makes one of the rarest names if there are too many, and keeps the frequent ones', () => {
    const tree = createTree()
    const add = (name: string): void => tree.add(['signin', name], 1)
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
    for (let i = 0; i < 48 * 20; i++) tree.add([`old${i % 48}`], 1)
    for (let i = 0; i < 20_000; i++) tree.add([i % 10 === 0 ? 'broken-link' : `scan${i}`], 1)
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
      tree.add([`user${i}`, 'edit'], 1)
      tree.add([`user${i}`, 'show'], 1)
    }
    assert.equal(listOf(tree)['/<1>/edit'], 12)
    assert.equal(listOf(tree)['/<1>/show'], 12)
  })

  it('keeps of many paths below a name that makes room only their totals', () => {
    let joins = 0
    const tree = new PathTree<{ count: number; isTotal: boolean }>(1_000, {
      join: (one, other) => {
        if (!other.isTotal) joins++
        return { count: one.count + other.count, isTotal: one.isTotal && other.isTotal }
      },
      totalsOf: ({ count }) => ({ count, isTotal: true }),
    })
    const add = (...path: readonly string[]): void => tree.add(path, { count: 1, isTotal: false })
    // Each of 47 names is requested more often than the one with many paths.
    for (let i = 0; i < 47 * 150; i++) add(`often${i % 47}`)
    for (let i = 0; i < 144; i++) add('big', `a${i % 12}`, `b${Math.floor(i / 12)}`)
    joins = 0
    add('new')
    // They keep nothing else, so that a request takes a short time.
    assert.ok(joins <= 16, `${joins}`)
    const listed = new Map(tree.list())
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
    for (let i = 0; i < 100; i++) tree.add(['a', `b${i}`, `c${i}`, `d${i}`, VARYING], 1)
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
      tree.add(
        Array.from({ length: 1 + random(8) }, () => `n${random(100)}`),
        1,
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
