import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nextRequest } from '../../lib/controllers/controller.ts'
import { HttpRequest } from '../../lib/http/request.ts'

const request = new HttpRequest({ target: '/' })

describe('nextRequest()', () => {
  it('returns the request, or undefined for nothing', () => {
    for (const next of [undefined, request, request.forward({ action: 'list' })]) {
      assert.equal(nextRequest(next, 'The action', request), next)
    }
  })

  it('rejects anything else, with the name of the function', () => {
    for (const wrong of [null, 0, '', true, {}, [], () => {}, { target: '/' }, Symbol('s'), 1n]) {
      assert.throws(() => nextRequest(wrong, 'preDispatch', request), {
        name: 'TypeError',
        message: /^preDispatch returned .*expected nothing, or a request/,
      })
    }
  })

  it('rejects a request of another message', () => {
    const other = new HttpRequest({ target: '/' })
    assert.throws(() => nextRequest(other, 'The action', request), {
      name: 'TypeError',
      message: /^The action returned a new HttpRequest; expected .* request\.forward\(/,
    })
  })
})
