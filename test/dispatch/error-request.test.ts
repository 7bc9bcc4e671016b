import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { describe, it } from 'node:test'
import { toErrorRequest } from '../../lib/dispatch/error-request.ts'
import { NoControllerError } from '../../lib/http/errors.ts'
import { HttpRequest, withState } from '../../lib/http/request.ts'

describe('toErrorRequest()', () => {
  it('returns a request for error/error, which has the original one unchanged', () => {
    const message = new HttpRequest({ target: '/news/list/a/1?b=2', method: 'PUT' })
    const route = { module: 'admin', controller: 'news', action: 'list', pairs: 'a/1' }
    const original = withState(message, {
      path: '/p',
      q: '/q',
      route,
      settings: { maxBodyBytes: 9, trusted: new BlockList() },
    })
    const exception = new NoControllerError('news')

    const request = toErrorRequest(original, exception)

    assert.deepEqual(
      [request.module, request.controller, request.action],
      ['default', 'error', 'error'],
    )
    assert.deepEqual(request.param('error_handler'), {
      exception,
      type: 'EXCEPTION_NO_CONTROLLER',
      request: original,
    })
    assert.equal(request.errorHandler?.request, original)
    assert.deepEqual(
      [original.module, original.controller, original.action, original.errorHandler],
      ['admin', 'news', 'list', undefined],
    )
    assert.deepEqual(
      [request.method, request.path, request.q, request.param('a'), request.param('b')],
      ['PUT', '/p', '/q', '1', '2'],
    )
  })
})
