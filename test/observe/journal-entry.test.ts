import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EntryCounts, joinEntries, MAX_PARAMS } from '../../lib/observe/journal-entry.ts'
import { OTHER } from '../../lib/observe/snapshot.ts'
import { createEntry } from '../support/snapshot.ts'

const shapesOf = (...shapes: readonly string[]): readonly string[] => {
  const counts = new EntryCounts(0, undefined)
  for (const shape of shapes) counts.addParam('a', shape)
  const [param] = counts.toJournalEntry('GET', '/').params
  return (param?.shapes ?? []).map(({ shape, count }) => `${shape} ${count}×`)
}

describe('EntryCounts', () => {
  it('joins the shapes of one kind to a range of lengths', () => {
    const shapes = shapesOf('token(21)', 'token(34)', 'url', 'url?', 'token(9)', 'url', 'empty')
    assert.deepEqual(shapes, ['token(9-34) 3×', 'url 2×', 'url? 1×', 'empty 1×'])
    assert.deepEqual(shapesOf('word(5)', 'word(5)'), ['word(5) 2×'])
  })

  it('counts the parameters beyond 24 as one', () => {
    const counts = new EntryCounts(0, undefined)
    for (let i = 0; i < 30; i++) counts.addParam(`p${i}`, 'empty')
    const { params } = counts.toJournalEntry('GET', '/')
    assert.equal(params.length, MAX_PARAMS + 1)
    assert.deepEqual([params.at(-1)?.name, params.at(-1)?.count], [OTHER, 6])
  })

  it('is the same after it was read from an entry', () => {
    const params = [
      ...createEntry().params,
      { name: 'range', count: 2, shapes: [{ shape: 'list(2-7)', count: 2 }] },
    ]
    for (const hint of [{}, { hint: 'A hint' }]) {
      const entry = createEntry({ ...hint, params })
      const read = EntryCounts.of(entry).toJournalEntry('GET', entry.path)
      const [dsh, ...others] = entry.params
      assert.deepEqual(dsh?.shapes.length, 2)
      const joined = [{ ...dsh, shapes: [{ shape: 'token(21-22)', count: 31 }] }, ...others]
      assert.deepEqual(read, { ...entry, params: joined })
    }
  })

  it('has the hint of the later one, if it has one', () => {
    const of = (at: number, hint?: string) => new EntryCounts(at, hint)
    const hintOf = (counts: EntryCounts) => counts.toJournalEntry('GET', '/').hint
    assert.equal(hintOf(of(1, 'early').add(of(2, 'late'))), 'late')
    assert.equal(hintOf(of(2, 'late').add(of(1, 'early'))), 'late')
    assert.equal(hintOf(of(1, 'early').add(of(2))), 'early')
    assert.equal(hintOf(of(2).add(of(1, 'early'))), 'early')
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
})
