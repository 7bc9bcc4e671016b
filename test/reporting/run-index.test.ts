import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RunIndex } from '../../lib/reporting/run-index.ts'

describe('RunIndex', () => {
  it('finds the first occurrence of each run that a value has', () => {
    const found: number[] = []
    new RunIndex('abcdef abcd', 4).find('xbcdeabcd', (first) => found.push(first))
    assert.deepEqual(found, [1, 0])
  })

  it('compares few runs, also of those that differ in their last character only', () => {
    const runs = Array.from({ length: 300 }, (_, i) => `aaaaaaa${String.fromCharCode(0x4e00 + i)}`)
    assert.ok(comparisons(RunIndex, runs.join('')) < 1.5)
  })

  // Of 2 ** 20 + 1, only the powers up to the 4,096th differ, and their lower bits less.
  it('compares few runs with each random base', async (t) => {
    const digits = (i: number): string => i.toString(4).padStart(8, '0')
    const runs = Array.from({ length: 1_000 }, (_, i) => digits((i * 40_503) % 65_536))
    const text = runs
      .join('')
      .replace(/\d/g, (digit) => '\u3800\u5800\u7800\u9800'[Number(digit)] ?? '')
    for (const random of [2 ** -12, 2 ** -8, 0.5, 1 - 2 ** -12]) {
      t.mock.method(Math, 'random', () => random)
      const copy: typeof import('../../lib/reporting/run-index.ts') = await import(
        `../../lib/reporting/run-index.js?random=${random}`
      )
      t.mock.restoreAll()
      const count = comparisons(copy.RunIndex, text)
      assert.ok(count < 3, `${count} comparisons of each run with ${random}`)
    }
  })
})

// Returns how many runs of an index are compared for each run of its text, while the text is indexed.
function comparisons(Index: typeof RunIndex, text: string): number {
  const { startsWith } = String.prototype
  let count = 0
  // Not a mock, which would keep each call.
  String.prototype.startsWith = function (...args): boolean {
    count++
    return startsWith.apply(this, args)
  }
  try {
    new Index(text, 8)
  } finally {
    String.prototype.startsWith = startsWith
  }
  return count / text.length
}
