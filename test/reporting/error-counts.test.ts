import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ErrorCounts } from '../../lib/reporting/error-counts.ts'

function countsOf(kinds: Iterable<string>): ErrorCounts {
  const counts = new ErrorCounts()
  for (const kind of kinds) counts.add(kind)
  return counts
}

describe('ErrorCounts', () => {
  it('counts each kind, and resets the counts after a summary', () => {
    const counts = countsOf(['a', 'b', '__proto__', 'a'])
    const { total, kinds } = counts.takeSummary()
    assert.deepEqual(
      [total, Object.entries(kinds)],
      [
        4,
        [
          ['a', 2],
          ['b', 1],
          ['__proto__', 1],
        ],
      ],
    )
    assert.deepEqual(counts.takeSummary(), { total: 0, kinds: {} })
    counts.add('a')
    assert.deepEqual(counts.takeSummary(), { total: 1, kinds: { a: 1 } })
  })

  it('bounds the kinds: past 1,000 they count as "other", and no count is lost', () => {
    const kinds = Array.from({ length: 10_000 }, (_, i) => `kind ${i}`)
    const { total, kinds: counted } = countsOf([...kinds, 'new', 'kind 999']).takeSummary()
    assert.equal(total, 10_002)
    assert.deepEqual(Object.entries(counted).slice(0, 2), [
      ['other', 9_001],
      ['kind 999', 2],
    ])
  })

  it('names the 12 most frequent kinds, the most frequent first', () => {
    const kinds = Array.from({ length: 20 }, (_, i) => Array(i + 1).fill(`kind ${i + 1}`))
    const { total, kinds: counted } = countsOf(kinds.flat()).takeSummary()
    assert.equal(total, 210)
    assert.deepEqual(
      Object.entries(counted),
      Array.from({ length: 12 }, (_, i) => [`kind ${20 - i}`, 20 - i]),
    )
  })
})
