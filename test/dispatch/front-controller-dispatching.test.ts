import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FrontController, HttpRequest, type HttpResponse } from '../../lib/index.ts'
import { createWatchedFront, restricted } from '../support/loop.ts'

describe('FrontController.handle()', () => {
  it('runs the action that the path names', async () => {
    const seen: unknown[] = []
    const view = (request: HttpRequest, response: HttpResponse): void => {
      const { module, controller, action, q } = request
      seen.push([module, controller, action, q, [...request.pairs]])
      response.text('seen')
    }
    const controllers = new Map(Object.entries({ index: { index: view }, news: { fooBar: view } }))
    const modules = new Map([['admin', new Map([['news', { index: view }]])]])
    const front = new FrontController({ controllers, modules })
    for (const target of ['/', '/news/foo-bar/id/4%202/id/5?a=b', '/admin/news', 'http://h']) {
      const { status, body, exceptions } = await front.handle(new HttpRequest({ target }))
      assert.deepEqual([status, body, exceptions], [200, 'seen', []])
    }
    assert.deepEqual(seen, [
      ['default', 'index', 'index', '/', []],
      [
        'default',
        'news',
        'foo-bar',
        '/news/foo-bar/id/4 2/id/5',
        [...new URLSearchParams('id=4+2&id=5')],
      ],
      ['admin', 'news', 'index', '/admin/news', []],
      ['default', 'index', 'index', '/', []],
    ])
  })

  it('shows the welcome page without options', async () => {
    const { status, body } = await new FrontController().handle(new HttpRequest({ target: '/' }))
    assert.equal(status, 200)
    assert.match(String(body), /Portico/)
  })

  it('throws for wrong options at construction', () => {
    assert.throws(() => new FrontController({ basePath: 'app' }), TypeError)
    assert.throws(() => new FrontController({ limits: { maxFields: 0 } }), RangeError)
  })

  it('runs the action of GET for HEAD', async () => {
    const methods: string[] = []
    const list = ({ method }: HttpRequest, response: HttpResponse): void => {
      methods.push(method)
      response.text('x')
    }
    for (const method of ['GET', 'HEAD']) {
      const { front } = createWatchedFront({ list: restricted(list, 'GET') })
      const { status } = await front.handle(new HttpRequest({ target: '/news/list', method }))
      assert.equal(status, 200)
    }
    assert.deepEqual(methods, ['GET', 'HEAD'])
  })
})
