import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, it } from 'node:test'
import { isPromiseLike, outsideRequests } from '../../lib/http/async.ts'

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
