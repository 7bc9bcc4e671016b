import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stopTimeoutMs } from '../../lib/process/child.ts'

describe('stopTimeoutMs()', () => {
  it('adds the delay, the timeout and 3 seconds, up to the longest timer of Node', () => {
    assert.equal(stopTimeoutMs({ drainDelayMs: 2_000, closeTimeoutMs: 10_000 }), 15_000)
    assert.equal(stopTimeoutMs({ drainDelayMs: 0, closeTimeoutMs: 2 ** 31 - 1 }), 2 ** 31 - 1)
  })
})
