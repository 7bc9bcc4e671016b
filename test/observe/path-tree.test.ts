import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Part, PathTree, VARYING } from '../../lib/observe/path-tree.ts'

const createTree = (): PathTree<number> => new PathTree((one, other) => one + other)
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
