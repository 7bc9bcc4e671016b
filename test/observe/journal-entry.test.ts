import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EntryCounts, joinEntries, MAX_PARAMS } from '../../lib/observe/journal-entry.ts'
import { OTHER } from '../../lib/observe/snapshot.ts'
import { readShape } from '../../lib/scrubbing/shape.ts'
import { createEntry } from '../support/snapshot.ts'

const shapesOf = (...values: readonly string[]): readonly string[] => {
  const counts = new EntryCounts()
  for (const value of values) counts.addParam('a', readShape(value))
  const [param] = counts.toJournalEntry('GET', '/').params
  return (param?.shapes ?? []).map(({ shape, count }) => `${shape} ${count}×`)
}

describe('EntryCounts', () => {
  it('joins the shapes of one kind to a range of lengths', () => {
    const token = (length: number): string => '1a'.repeat(length).slice(0, length)
    const url = 'https://a.example/b'
    const shapes = shapesOf(token(21), token(34), url, `${url}?c`, token(9), `${url}/d`, '')
    assert.deepEqual(shapes, ['token(9-34) 3×', 'url 2×', 'url? 1×', 'empty 1×'])
    assert.deepEqual(shapesOf('words', 'agree'), ['word(5) 2×'])
  })

  it('counts the parameters beyond 24 as one', () => {
    const counts = new EntryCounts()
    for (let i = 0; i < 30; i++) counts.addParam(`p${i}`, readShape(''))
    const { params } = counts.toJournalEntry('GET', '/')
    assert.equal(params.length, MAX_PARAMS + 1)
    assert.deepEqual([params.at(-1)?.name, params.at(-1)?.count], [OTHER, 6])
  })

  it('copies each name of a request once', (t) => {
    const counts = new EntryCounts()
    const { mock } = t.mock.method(Buffer, 'from')
    for (let i = 0; i < 60; i++) counts.addParam(`p${i % 30}`, readShape(''))
    assert.equal(mock.callCount(), MAX_PARAMS)
  })

  it('is the same after it was read from an entry', () => {
    const params = [
      ...createEntry().params,
      { name: 'range', count: 2, shapes: [{ shape: 'list(2-7)', count: 2 }] },
    ]
    for (const hint of [{}, { hint: 'A hint' }]) {
      const entry = createEntry({ ...hint, params })
      const read = new EntryCounts().addEntry(entry).toJournalEntry('GET', entry.path)
      const [dsh, ...others] = entry.params
      assert.deepEqual(dsh?.shapes.length, 2)
      const joined = [{ ...dsh, shapes: [{ shape: 'token(21-22)', count: 31 }] }, ...others]
      assert.deepEqual(read, { ...entry, params: joined })
    }
  })

  it('has the hint of the later one, if it has one', () => {
    const of = (at: number, hint?: string): EntryCounts => {
      const counts = new EntryCounts()
      counts.addRequests({ count: 1, firstAt: at, lastAt: at, hint })
      return counts
    }
    const hintOf = (counts: EntryCounts, others: EntryCounts): string | undefined => {
      counts.add(others)
      return counts.toJournalEntry('GET', '/').hint
    }
    assert.equal(hintOf(of(1, 'early'), of(2, 'late')), 'late')
    assert.equal(hintOf(of(2, 'late'), of(1, 'early')), 'late')
    assert.equal(hintOf(of(1, 'early'), of(2)), 'early')
    assert.equal(hintOf(of(2), of(1, 'early')), 'early')
  })
})

describe('joinEntries()', () => {
  it('returns a single entry as it is, and adds several', () => {
    const entry = createEntry()
    assert.equal(joinEntries(entry, []), entry)
    const { count, params } = joinEntries(entry, [entry, createEntry({ params: [] })])
    assert.equal(count, 93)
    assert.deepEqual(
      params.map((param) => [param.name, param.count]),
      [
        ['dsh', 62],
        ['continue', 62],
      ],
    )
  })

  it('copies no name', (t) => {
    const { mock } = t.mock.method(Buffer, 'from')
    assert.equal(joinEntries(createEntry(), [createEntry()]).params.length, 2)
    assert.equal(mock.callCount(), 0)
  })
})
