import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nextRequest } from '../../lib/controllers/controller.ts'
import { HttpRequest } from '../../lib/http/request.ts'

describe('nextRequest()', () => {
  it('returns the request, or undefined for nothing', () => {
    const request = new HttpRequest({ target: '/' })
    assert.equal(nextRequest(request, 'The action'), request)
    assert.equal(nextRequest(undefined, 'The action'), undefined)
  })

  it('rejects anything else, with the name of the function', () => {
    for (const wrong of [null, 0, '', true, {}, [], () => {}, { target: '/' }, Symbol('s'), 1n]) {
      assert.throws(() => nextRequest(wrong, 'preDispatch'), {
        name: 'TypeError',
        message: /^preDispatch returned .*expected nothing, or a request/,
      })
    }
  })
})
