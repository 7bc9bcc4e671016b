import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { forgetLastMatch, forgetLastMatchSoon, outsideRequests } from '../../lib/http/retention.ts'

describe('outsideRequests()', () => {
  it('calls a function without the stores of the caller, and returns its result', () => {
    const storage = new AsyncLocalStorage<string>()
    storage.run('request', () => {
      assert.equal(storage.getStore(), 'request')
      assert.deepEqual(
        outsideRequests(() => [storage.getStore()]),
        [undefined],
      )
    })
  })
})

describe('forgetLastMatch()', () => {
  it('makes V8 forget the text of the last match', () => {
    assert.ok(/code/.test('/cb?code=s3cret'))
    assert.equal(RegExp.input, '/cb?code=s3cret')
    forgetLastMatch()
    assert.equal(RegExp.input, '')
  })
})

describe('forgetLastMatchSoon()', () => {
  it('does so at the end of the turn, also while a test replaces setImmediate()', async () => {
    const { setImmediate } = globalThis
    globalThis.setImmediate = assert.fail as unknown as typeof setImmediate
    try {
      for (let turn = 0; turn < 2; turn++) {
        forgetLastMatchSoon()
        assert.ok(/code/.test('/cb?code=s3cret'))
        await nextTurn()
        assert.equal(RegExp.input, '')
      }
    } finally {
      globalThis.setImmediate = setImmediate
    }
  })
})
