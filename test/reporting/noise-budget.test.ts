import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NoiseBudget } from '../../lib/reporting/noise-budget.ts'

const none = { total: 0, kinds: {} }

function admitted(budget: NoiseBudget, kinds: Iterable<string>): number {
  return [...kinds].filter((kind) => budget.admits(kind)).length
}

function* random(count: number, from = 0): Generator<string> {
  for (let i = from; i < from + count; i++) yield `kind ${i}`
}

describe('NoiseBudget', () => {
  it('admits the first of each kind, and counts those after it', () => {
    const budget = new NoiseBudget()
    const kinds = ['a', 'b', 'a', 'a', 'b', '__proto__', '__proto__']
    assert.deepEqual(
      kinds.map((kind) => budget.admits(kind)),
      [true, true, false, false, false, true, false],
    )
    const { total, kinds: counts } = budget.takeSummary()
    assert.equal(total, 4)
    assert.deepEqual(Object.entries(counts), [
      ['a', 2],
      ['b', 1],
      ['__proto__', 1],
    ])
  })

  it('resets the counts after a summary, and keeps the kinds', () => {
    const budget = new NoiseBudget()
    assert.deepEqual(budget.takeSummary(), none)
    assert.deepEqual([budget.admits('a'), budget.admits('a')], [true, false])
    assert.deepEqual(budget.takeSummary(), { total: 1, kinds: { a: 1 } })
    assert.deepEqual(budget.takeSummary(), none)
    assert.equal(budget.admits('a'), false)
    assert.deepEqual(budget.takeSummary(), { total: 1, kinds: { a: 1 } })
  })

  it('counts 10,000 of one kind to the last one', () => {
    const budget = new NoiseBudget()
    assert.equal(admitted(budget, Array(10_000).fill('a')), 1)
    assert.deepEqual(budget.takeSummary(), { total: 9_999, kinds: { a: 9_999 } })
  })

  it('admits 80 between two summaries, however many kinds there are', () => {
    const budget = new NoiseBudget()
    assert.equal(admitted(budget, random(100)), 80)
    assert.equal(budget.takeSummary().total, 20)
    // The kinds for which there was no room.
    assert.equal(admitted(budget, random(100)), 20)
    assert.equal(budget.takeSummary().total, 80)
    assert.equal(admitted(budget, random(100, 100)), 80)
  })

  it('bounds the kinds: past 1,000 they count as "other", and no count is lost', () => {
    const budget = new NoiseBudget()
    assert.equal(admitted(budget, random(10_000)), 80)
    assert.equal(budget.admits('new'), false)
    assert.equal(budget.admits('kind 999'), false)
    const { total, kinds } = budget.takeSummary()
    assert.equal(total, 9_922)
    assert.equal(Object.keys(kinds).length, 12)
    assert.deepEqual(Object.entries(kinds).slice(0, 2), [
      ['other', 8_921],
      ['kind 999', 2],
    ])
  })

  it('forgets the kinds after a summary when it is full, so that a scanner hides nothing for long', () => {
    const budget = new NoiseBudget()
    for (let from = 0; from < 1_000; from += 80) {
      budget.takeSummary()
      admitted(budget, random(80, from))
    }
    assert.equal(budget.admits('new'), false)
    budget.takeSummary()
    assert.deepEqual([budget.admits('new'), budget.admits('new')], [true, false])
  })

  it('names the 12 most frequent kinds, the most frequent first', () => {
    const budget = new NoiseBudget()
    for (let i = 1; i <= 20; i++) admitted(budget, Array(i + 1).fill(`kind ${i}`))
    const { total, kinds } = budget.takeSummary()
    assert.equal(total, 210)
    assert.deepEqual(
      Object.entries(kinds),
      Array.from({ length: 12 }, (_, i) => [`kind ${20 - i}`, 20 - i]),
    )
  })
})
