import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RunIndex } from '../../lib/reporting/run-index.ts'

describe('RunIndex', () => {
  it('finds the first occurrence of each run that a value has', () => {
    const found: number[] = []
    new RunIndex('abcdef abcd', 4).find('xbcdeabcd', (first) => found.push(first))
    assert.deepEqual(found, [1, 0])
  })

  it('compares few runs, also of those that differ in their last character only', (t) => {
    const runs = Array.from({ length: 300 }, (_, i) => `aaaaaaa${String.fromCharCode(0x4e00 + i)}`)
    const text = runs.join('')
    const read = t.mock.method(String.prototype, 'charCodeAt')
    new RunIndex(text, 8)
    // Each character is read twice for the hash, and 16 times where its run is compared with another one.
    const reads = read.mock.callCount() / text.length
    assert.ok(reads < 8, `${reads} reads of each character`)
  })
})
