import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isPromiseLike } from '../../lib/http/async.ts'

describe('isPromiseLike()', () => {
  it('recognises promises and other thenables', () => {
    // biome-ignore lint/suspicious/noThenProperty: the function looks for it.
    assert.ok(isPromiseLike({ then() {} }))
    assert.ok(isPromiseLike(Promise.resolve()))
    for (const value of [undefined, null, 1, 'then', {}, Object.fromEntries([['then', 1]])]) {
      assert.equal(isPromiseLike(value), false)
    }
  })
})
