import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nearestName } from '../../lib/routing/nearest-name.ts'

describe('nearestName()', () => {
  const names = ['news/list', 'news/view', 'index/index', 'admin/report/daily']

  it('returns the candidate with the smallest edit distance', () => {
    const table: [string, string | undefined][] = [
      ['news/list', 'news/list'],
      ['news/lst', 'news/list'],
      ['nwes/list', 'news/list'],
      ['news/views', 'news/view'],
      ['nets/viex', 'news/view'],
      ['admin/daily', 'admin/report/daily'],
      ['News/VIEW', 'news/view'],
    ]
    for (const [name, expected] of table) assert.equal(nearestName(name, names), expected, name)
  })

  it('returns undefined if more than half of every candidate would have to change', () => {
    assert.equal(nearestName('abxx', ['abcd']), 'abcd')
    assert.equal(nearestName('axxx', ['abcd']), undefined)
    assert.equal(nearestName('', ['ab']), undefined)
    assert.equal(nearestName('signin/v2', names), undefined)
    assert.equal(nearestName('news', []), undefined)
  })

  it('returns the first of equally near candidates', () => {
    assert.equal(nearestName('news/xxxx', ['news/aaaa', 'news/bbbb']), 'news/aaaa')
    assert.equal(nearestName('abcd', ['abxd', 'abcd', 'axcd']), 'abcd')
  })

  it('compares only the first 64 characters of a name', () => {
    assert.equal(nearestName(`${'a'.repeat(64)}zzz`, ['a'.repeat(64)]), 'a'.repeat(64))
    assert.equal(nearestName('a'.repeat(100_000), ['b']), undefined)
  })
})
