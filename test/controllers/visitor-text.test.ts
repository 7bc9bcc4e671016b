import assert from 'node:assert/strict'
import { STATUS_CODES } from 'node:http'
import { describe, it } from 'node:test'
import { visitorText } from '../../lib/controllers/visitor-text.ts'

describe('visitorText()', () => {
  it('has a heading and whole sentences for every status of an error', () => {
    for (let status = 400; status <= 599; status++) {
      const [heading, advice] = visitorText(status)
      assert.match(heading, /^[A-Z][a-z ]+[a-z]$/, `${status}`)
      assert.match(advice, /^[A-Z].*\.$/, `${status}`)
    }
  })

  it('uses none of the terms of HTTP, which a visitor does not know', () => {
    for (const status of [400, 403, 404, 405, 413, 415, 500, 503]) {
      const [heading, advice] = visitorText(status)
      assert.notEqual(heading, STATUS_CODES[status])
      assert.doesNotMatch(`${heading} ${advice}`, /HTTP|controller|method|payload|internal/i)
    }
  })

  it('has a text for each common status, and one for the others of its class', () => {
    assert.equal(visitorText(404)[0], 'Page not found')
    assert.equal(visitorText(418)[0], visitorText(499)[0])
    assert.equal(visitorText(500)[0], 'Something went wrong')
    assert.equal(visitorText(599)[0], 'Something went wrong')
  })
})
