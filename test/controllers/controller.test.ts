import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkReturned, functionsOf } from '../../lib/controllers/controller.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import { HttpResponse } from '../../lib/http/response.ts'

const request = new HttpRequest({ target: '/' })
const response = new HttpResponse()
const received = { request, response }

describe('functionsOf()', () => {
  it('has methods of any name, and no classes', () => {
    const controller = { class() {}, classic() {}, Class: class {}, Named: class A extends Map {} }
    assert.deepEqual([...functionsOf(controller).keys()], ['class', 'classic'])
  })
})

describe('checkReturned()', () => {
  it('returns the request, the response, or undefined for nothing', () => {
    for (const returned of [undefined, response, request, request.forward({ action: 'list' })]) {
      assert.equal(checkReturned(returned, 'The action', received), returned)
    }
  })

  it('rejects anything else, with the name of the function', () => {
    for (const wrong of [null, 0, '', true, {}, [], () => {}, { target: '/' }, Symbol('s'), 1n]) {
      assert.throws(() => checkReturned(wrong, 'preDispatch', received), {
        name: 'TypeError',
        message: /^preDispatch returned .*expected nothing, the response, or a request/,
      })
    }
  })

  it('rejects a request of another message, and another response', () => {
    const other = new HttpRequest({ target: '/' })
    assert.throws(() => checkReturned(other, 'The action', received), {
      name: 'TypeError',
      message: /^The action returned a new HttpRequest; expected .* request\.forward\(/,
    })
    assert.throws(() => checkReturned(new HttpResponse(), 'The action', received), {
      message: /^The action returned another response; expected/,
    })
  })
})
