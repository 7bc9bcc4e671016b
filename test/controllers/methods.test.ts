import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Action } from '../../lib/controllers/controller.ts'
import { del, get, methods, patch, post, put } from '../../lib/controllers/methods.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import { createFront } from '../support/front.ts'

describe('get(), post(), put(), patch(), del(), methods()', () => {
  it('respond to any other method with 405 and Allow', async () => {
    const ok: Action = (_request, response) => response.text('ok')
    const table: [string, Action, string][] = [
      ['GET', get(ok), 'GET, HEAD, OPTIONS'],
      ['HEAD', get(ok), 'GET, HEAD, OPTIONS'],
      ['POST', post(ok), 'POST, OPTIONS'],
      ['PUT', put(ok), 'PUT, OPTIONS'],
      ['PATCH', patch(ok), 'PATCH, OPTIONS'],
      ['DELETE', del(ok), 'DELETE, OPTIONS'],
      ['PROPFIND', methods(['POST', 'PROPFIND'], ok), 'POST, PROPFIND, OPTIONS'],
    ]
    for (const [method, action, allow] of table) {
      const front = createFront({ news: { list: action } })
      const send = (method: string) =>
        front.handle(new HttpRequest({ target: '/news/list', method }))
      assert.equal((await send(method)).status, 200, method)
      assert.equal((await send('OPTIONS')).status, 204, method)
      const rejected = await send('MKCOL')
      assert.deepEqual([rejected.status, rejected.headers.get('Allow')], [405, allow])
    }
  })

  it('leave the given action unchanged', () => {
    const list: Action = () => {}
    assert.notEqual(get(list), list)
    assert.equal(Object.hasOwn(list, 'methods'), false)
  })

  it('keep its name, its own properties, its `this` and its result', async () => {
    const list = Object.assign(
      function list(this: { title: string }, request: HttpRequest) {
        return request.forward({ action: this.title })
      },
      { role: 'editor' },
    )
    const news = { title: 'view', list: get(list) }
    assert.equal(news.list.name, 'list')
    assert.equal(Reflect.get(news.list, 'role'), 'editor')
    const returned = Reflect.apply(news.list, news, [new HttpRequest({ target: '/' })])
    assert.equal((returned as HttpRequest).action, 'view')
  })

  it('use the outermost list, and freeze it', () => {
    const action = get(post(() => {}))
    assert.deepEqual(action.methods, ['GET'])
    assert.ok(Object.isFrozen(action.methods))
  })

  it('reject an invalid action, and an invalid list of methods', () => {
    const bad = (value: unknown) => () => get(value as Action)
    assert.throws(bad(undefined), {
      name: 'TypeError',
      message: 'Expected an action, got "undefined"',
    })
    assert.throws(bad(null), { message: 'Expected an action, got "null"' })
    assert.throws(bad(class News {}), { message: 'Expected an action, got "class"' })
    for (const list of [[], ['get'], ['TRACE'], ['CONNECT'], 'GET', undefined]) {
      assert.throws(() => methods(list as string[], function save() {}), {
        name: 'TypeError',
        message:
          /^Expected the methods of the action "save" to be a list of methods, such as GET, HEAD, /,
      })
    }
  })
})
