import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { forgetLastMatch, outsideRequests } from '../../lib/http/retention.ts'

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
  it('makes V8 forget the text of the last match at the end of the turn', async () => {
    assert.ok(/code/.test('/cb?code=s3cret'))
    assert.equal(RegExp.input, '/cb?code=s3cret')
    forgetLastMatch()
    await nextTurn()
    assert.equal(RegExp.input, '')
    assert.ok(/code/.test('/cb?code=s3cret'))
    forgetLastMatch()
    await nextTurn()
    assert.equal(RegExp.input, '')
  })
})
