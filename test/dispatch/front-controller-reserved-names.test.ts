import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HttpRequest, HttpRequestInit } from '../../lib/index.ts'
import { expectDispatch, expectError, urlEncoded } from '../support/loop.ts'

const reserved = ['module', 'controller', 'action', 'q', 'error_handler']

describe('FrontController.handle() for parameters with a reserved name', () => {
  it('ignores the values of the client', async () => {
    const search = reserved.map((name) => `${name}=forged`).join('&')
    const path = `/news/list/${reserved.map((name) => `${name}/forged`).join('/')}`
    const post = { method: 'POST', headers: urlEncoded }
    const requests: [HttpRequestInit, string][] = [
      [{ target: path }, path],
      [{ target: `/news/list?${search}` }, '/news/list'],
      [{ target: '/news/list', ...post, body: search }, '/news/list'],
      [{ target: `${path}?${search}`, ...post, body: search }, path],
    ]
    for (const [init, q] of requests) {
      const request = await expectDispatch(init)
      const routed = new Map(
        Object.entries({ module: 'default', controller: 'news', action: 'list', q }),
      )
      assert.deepEqual(new Map(request.params), routed)
      for (const name of reserved) assert.equal(request.param(name), routed.get(name))
    }
    const request = await expectDispatch({ ...post, target: `/news/list?${search}`, body: search })
    for (const name of reserved) {
      assert.deepEqual([request.query.get(name), request.form.get(name)], ['forged', 'forged'])
    }
  })

  it('ignores values in the error action and in a forward', async () => {
    const [run] = await expectError(
      {},
      '/nope/x/error_handler/1/controller/news?error_handler=1&q=1',
    )
    const { errorRequest } = run
    assert.equal(errorRequest.param('error_handler'), errorRequest.errorHandler)
    assert.equal(errorRequest.param('controller'), 'error')
    assert.equal(errorRequest.param('q'), '/nope/x/error_handler/1/controller/news')
    assert.equal(run.request.param('error_handler'), undefined)

    const params = Object.fromEntries(reserved.map((name) => [name, 'forged']))
    const list = (request: HttpRequest): HttpRequest => request.forward({ action: 'view', params })
    const request = await expectDispatch('/news/list', 'view', { list })
    assert.deepEqual(Object.fromEntries(request.params), {
      module: 'default',
      controller: 'news',
      action: 'view',
      q: '/news/list',
    })
  })
})
