import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import {
  ErrorCounts,
  FaultBudget,
  type NoiseBudget,
  RejectionBudget,
} from '../../lib/reporting/noise-budget.ts'

const HOUR_MS = 3_600_000

/** Returns how many of these errors are logged in each detail. */
function spendAll(budget: NoiseBudget, fingerprints: Iterable<string>): Record<string, number> {
  const admitted = { full: 0, short: 0, count: 0 }
  for (const fingerprint of fingerprints) admitted[budget.spend(fingerprint)]++
  return admitted
}

function* random(count: number, from = 0): Generator<string> {
  for (let i = from; i < from + count; i++) yield `kind ${i}`
}

function mockClock(t: TestContext): { advance(ms: number): void } {
  let now = 1_000
  t.mock.method(performance, 'now', () => now)
  return {
    advance(ms) {
      now += ms
    },
  }
}

describe('RejectionBudget', () => {
  it('admits the first of each kind in full, and counts those after it', () => {
    const budget = new RejectionBudget()
    assert.deepEqual(
      ['a', 'b', 'a', 'a', '__proto__', '__proto__'].map((kind) => budget.spend(kind)),
      ['full', 'full', 'count', 'count', 'full', 'count'],
    )
    budget.renew()
    assert.equal(budget.spend('a'), 'count')
  })

  it('admits the first of a kind again after an hour', (t) => {
    const clock = mockClock(t)
    const budget = new RejectionBudget()
    assert.equal(budget.spend('a'), 'full')
    clock.advance(HOUR_MS - 1)
    assert.equal(budget.spend('a'), 'count')
    assert.equal(budget.spend('b'), 'full')
    clock.advance(1)
    assert.deepEqual(spendAll(budget, ['a', 'a', 'b']), { full: 1, short: 0, count: 2 })
    clock.advance(HOUR_MS - 1)
    assert.deepEqual(spendAll(budget, ['a', 'b']), { full: 1, short: 0, count: 1 })
  })

  it('admits 80 a minute, however many kinds there are', () => {
    const budget = new RejectionBudget()
    assert.deepEqual(spendAll(budget, random(100)), { full: 80, short: 0, count: 20 })
    budget.renew()
    // The kinds for which there was no room.
    assert.deepEqual(spendAll(budget, random(100)), { full: 20, short: 0, count: 80 })
    assert.equal(spendAll(budget, random(100, 100)).full, 60)
    budget.renew()
    assert.equal(spendAll(budget, random(100, 200)).full, 80)
  })

  it('forgets the kinds after a minute when it is full, so that a scanner hides nothing for long', () => {
    const budget = new RejectionBudget()
    for (let from = 0; from < 1_000; from += 80) {
      budget.renew()
      spendAll(budget, random(80, from))
    }
    assert.equal(budget.spend('new'), 'count')
    budget.renew()
    assert.deepEqual([budget.spend('new'), budget.spend('new')], ['full', 'count'])
  })
})

describe('FaultBudget', () => {
  it('admits the first of each fingerprint in a minute in full, and the others short', () => {
    const budget = new FaultBudget()
    for (let minute = 0; minute < 3; minute++) {
      assert.deepEqual(
        ['a', 'a', 'b', 'a', 'b'].map((fingerprint) => budget.spend(fingerprint)),
        ['full', 'short', 'full', 'short', 'short'],
      )
      budget.renew()
    }
  })

  it('admits 600 a minute, and further ones only if they are the first of a fingerprint', () => {
    const budget = new FaultBudget()
    assert.deepEqual(spendAll(budget, Array(10_000).fill('a')), {
      full: 1,
      short: 599,
      count: 9_400,
    })
    assert.deepEqual(spendAll(budget, ['b', 'b', 'a']), { full: 1, short: 0, count: 2 })
    budget.renew()
    assert.deepEqual(spendAll(budget, Array(601).fill('a')), { full: 1, short: 599, count: 1 })
  })

  it('admits 80 fingerprints a minute in full, and bounds the lines of all', () => {
    const budget = new FaultBudget()
    const named = [...random(10_000)]
      .map((name) => name.replace(' ', '-'))
      .map((name) => `x ${name} news/${name}`)
    assert.deepEqual(spendAll(budget, named), { full: 80, short: 520, count: 9_400 })
    budget.renew()
    spendAll(budget, Array(700).fill('a'))
    assert.deepEqual(spendAll(budget, named), { full: 79, short: 0, count: 9_921 })
  })

  it('admits another bug in full, whatever names a client has used up the budget with', () => {
    const budget = new FaultBudget()
    const bug = (place: string, i: number): string => `X Error ${place}:1:1 news/${i}`
    // Without a request, the frame stands last.
    const outside = (place: string): string => `X Error ${place}:1:1`
    for (let i = 0; i < 1_000; i++) budget.spend(bug('plugin.js', i))
    assert.deepEqual(
      [1, 1, 2].map((i) => budget.spend(bug('news.js', i))),
      ['full', 'count', 'count'],
    )
    assert.deepEqual(
      [outside('a.js'), outside('b.js')].map((each) => budget.spend(each)),
      ['full', 'full'],
    )
    const places = Array.from({ length: 1_000 }, (_, i) => bug(`place-${i}.js`, i))
    assert.deepEqual(spendAll(budget, places), { full: 76, short: 0, count: 924 })
  })

  it('admits another bug in full, whatever frames a client has forged', () => {
    const budget = new FaultBudget()
    const forged = (action: string): string[] =>
      Array.from({ length: 1_000 }, (_, i) => `X Error forged-${i}.js:${i}:1 ${action}`)
    assert.deepEqual(spendAll(budget, forged('news/save')), { full: 20, short: 580, count: 400 })
    const bugs = ['X Error a.js:1:1 news/list', 'X Error a.js:2:1 news/list', 'X TypeError x/y']
    assert.deepEqual(spendAll(budget, bugs), { full: 3, short: 0, count: 0 })
    assert.equal(budget.spend('X Error list.js:1:1 news/view'), 'full')
  })

  it('admits another bug in full, whatever names a client has given to its exceptions', () => {
    const budget = new FaultBudget()
    const named = Array.from({ length: 1_000 }, (_, i) => `X Error${i} client.js:1:1 client/save`)
    assert.deepEqual(spendAll(budget, named), { full: 20, short: 580, count: 400 })
    const more = Array.from({ length: 10 }, (_, action) =>
      named.map((fault) => `${fault}-${action}`),
    )
    spendAll(budget, more.flat())
    assert.equal(budget.spend('X Error9 news.js:1:1 news/list'), 'full')
  })

  it('admits at most 840 a minute, whatever a client sends', () => {
    const budget = new FaultBudget()
    const lines = { full: 0, short: 0, count: 0 }
    for (let action = 0; action < 200; action++) {
      const faults = Array.from({ length: 30 }, (_, i) => {
        const frame = `${i % 2 ? action : 'file'}-${i}.js:${i}:1`
        return `X Error ${frame} news/${i % 3 ? action : i}`
      })
      const spent = spendAll(budget, [...faults, ...faults])
      for (const detail of ['full', 'short', 'count'] as const) lines[detail] += spent[detail] ?? 0
    }
    assert.ok(lines.full + lines.short <= 840, JSON.stringify(lines))
    assert.ok(lines.full > 80 && lines.count > 1_000, JSON.stringify(lines))
  })
})

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
