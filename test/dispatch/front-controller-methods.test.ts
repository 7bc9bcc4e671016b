import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpRequest, type HttpResponse } from '../../lib/index.ts'
import { createWatchedFront, expectError, factsOf, namesOf, restricted } from '../support/loop.ts'

describe('FrontController.handle() for an action with methods', () => {
  const actions = {
    page: restricted(() => {}, 'GET'),
    save: restricted(() => {}, 'POST'),
    any() {},
  }

  it('sends a 405 with Allow through error/error for other methods', async () => {
    const table: [string, string, string[] | undefined][] = [
      ['POST', 'page', ['GET', 'HEAD', 'OPTIONS']],
      ['TRACE', 'page', ['GET', 'HEAD', 'OPTIONS']],
      ['GET', 'save', ['OPTIONS', 'POST']],
      ['HEAD', 'save', ['OPTIONS', 'POST']],
      ['DELETE', 'save', ['OPTIONS', 'POST']],
      ['TRACE', 'any', undefined],
    ]
    for (const [method, action, allow] of table) {
      const [run, response] = await expectError(actions, { target: `/news/${action}`, method })
      assert.equal(response.status, 405)
      assert.deepEqual(factsOf(run).toSpliced(1, 1), ['EXCEPTION_OTHER', 405])
      assert.deepEqual(namesOf(run.request), ['default', 'news', action])
      const sorted = response.headers.get('Allow')?.split(', ').sort()
      if (allow) assert.deepEqual(sorted, allow)
      assert.equal(sorted?.includes('TRACE'), false)
    }
  })

  it('responds to OPTIONS with a 204 and Allow', async () => {
    const { front, runs } = createWatchedFront(actions)
    const optionsOf = (action: string): Promise<HttpResponse> =>
      front.handle(new HttpRequest({ target: `/news/${action}`, method: 'OPTIONS' }))
    const { status, headers, body } = await optionsOf('save')
    assert.deepEqual([status, body, runs], [204, undefined, []])
    assert.deepEqual(headers.get('Allow')?.split(', ').sort(), ['OPTIONS', 'POST'])
    assert.equal((await optionsOf('any')).status, 200)
  })
})
