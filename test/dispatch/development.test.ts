import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createDetails } from '../../lib/dispatch/development.ts'
import { Dispatcher } from '../../lib/dispatch/dispatcher.ts'
import { NoControllerError } from '../../lib/http/errors.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import { nameKeys } from '../../lib/routing/name-rules.ts'

const controllers = new Map([['news', { list() {}, view() {} }]])
const dispatcher = new Dispatcher([['default', controllers]], nameKeys.exact)

function develop(controller: string, action: string, exception: Error) {
  const options = { logParams: new Set<string>(), hasController: () => false }
  const request = new HttpRequest({ target: '/?dsh=c4n4ry' }).forward({ controller, action })
  return createDetails(options, () => dispatcher)(request, exception)
}

describe('createDetails()', () => {
  it('returns the report, the registered actions, and the nearest one to the requested names', () => {
    const { report, registered, nearest } = develop('nwes', 'list', new NoControllerError('nwes'))
    assert.deepEqual([report.status, report.type], [404, 'EXCEPTION_NO_CONTROLLER'])
    assert.equal(report.message, 'Invalid controller specified (nwes)')
    assert.deepEqual(registered, ['news/list', 'news/view'])
    assert.equal(nearest, 'news/list')
  })

  it('names no nearest action when the name is registered, or no name is similar', () => {
    assert.equal(develop('news', 'list', new Error('x')).nearest, undefined)
    assert.equal(develop('signin', 'v2', new Error('x')).nearest, undefined)
  })

  it('returns a scrubbed report, with the stack of a server error', () => {
    const { report } = develop('news', 'list', new Error('no c4n4ry'))
    assert.deepEqual([report.status, report.message], [500, 'no [dsh]'])
    assert.match(report.stack?.[0] ?? '', /development\.test\.js/)
  })
})
