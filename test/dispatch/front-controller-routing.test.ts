import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HttpRequest } from '../../lib/index.ts'
import {
  expectDispatch,
  expectError,
  factsOf,
  fail,
  namesOf,
  unreachable,
  urlEncoded,
} from '../support/loop.ts'

describe('FrontController.handle() with a base path or a custom router', () => {
  it('removes the base path in whole segments', async () => {
    const basePath = '/my/app'
    const table: [string, string | undefined][] = [
      ['/my/app', '/'],
      ['/my/app/', '/'],
      ['/my/app?a=b', '/'],
      ['/my/app/news/list', '/news/list'],
      ['http://h/my/app/news', '/news'],
      ['/', undefined],
      ['/my', undefined],
      ['/my/apple', undefined],
      ['/MY/app', undefined],
      ['/news/list', undefined],
      ['//my/app/news', undefined],
    ]
    for (const [target, q] of table) {
      const [run, response] = await expectError({}, target, { basePath })
      assert.equal(response.status, 404)
      if (q !== undefined) assert.equal(run.errorRequest.q, q)
      else {
        assert.deepEqual(factsOf(run), ['EXCEPTION_NO_ROUTE', 'No route matched the request', 404])
      }
    }
  })

  it('dispatches the route target of the router', async () => {
    const router = {
      route: ({ path }: HttpRequest) => ({
        module: 'default',
        controller: 'news',
        action: 'list',
        pairs: new URLSearchParams({ path }),
      }),
    }
    const request = await expectDispatch('/any%20where?path=x', 'list', {}, { router })
    assert.deepEqual(
      [request.param('path'), request.q, ...namesOf(request)],
      ['/any%20where', '/any where', 'default', 'news', 'list'],
    )
  })

  it('fails with EXCEPTION_NO_ROUTE when the router finds nothing', async () => {
    const post = { target: '/news/list', method: 'POST', headers: urlEncoded, body: 'a=1' }
    for (const nothing of [undefined, null as never]) {
      const router = { route: () => nothing }
      const [run, response] = await expectError({ list: unreachable }, post, { router })
      assert.deepEqual(factsOf(run), ['EXCEPTION_NO_ROUTE', 'No route matched the request', 404])
      assert.equal(response.status, 404)
      assert.deepEqual([run.errorRequest.q, run.errorRequest.form.get('a')], ['/news/list', '1'])
    }
  })

  it('sends a 500 through error/error when the router returns a value that is no route', async () => {
    const route = { module: 'default', controller: 'news', action: 'list' }
    const values = [{}, { ...route, action: undefined }, Promise.resolve(route), 'news']
    const pairs = [{ id: '1' }, 7, null].map((each) => ({ ...route, pairs: each }))
    for (const wrong of [...values, ...pairs]) {
      const [run, response] = await expectError({}, '/news/list', {
        router: { route: () => wrong as never },
      })
      assert.equal(
        run.exception.message,
        'Expected the router to return a module, a controller, an action, and pairs as text or URLSearchParams',
      )
      assert.deepEqual([run.exception.name, response.status], ['TypeError', 500])
    }
  })

  it('ignores an error of the router for a request that is rejected', async () => {
    const router = { route: fail }
    for (const [target, status] of [
      ['/%ff', 400],
      ['/%00', 400],
      [`/${'x'.repeat(9_000)}`, 414],
    ] as const) {
      const [, response] = await expectError({}, target, { router })
      assert.equal(response.status, status, target)
    }
  })

  it('sends a 414 for a target past its limit', async () => {
    const limits = { maxTargetBytes: 20 }
    await expectDispatch(`/news/list?a=${'x'.repeat(7)}`, 'list', {}, { limits })
    const [run, response] = await expectError({}, `/news/list?a=${'x'.repeat(8)}`, { limits })
    assert.equal(response.status, 414)
    assert.deepEqual(namesOf(run.request), ['default', 'news', 'list'])
  })

  it('sends a 500 through error/error when the router throws', async () => {
    const [run, response] = await expectError({}, '/news/list', { router: { route: fail } })
    assert.deepEqual([run.exception.message, response.status], ['raised', 500])
  })
})
