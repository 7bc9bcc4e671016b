import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineController, type Members } from '../../lib/controllers/define-controller.ts'
import { get } from '../../lib/controllers/methods.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import { createFront } from '../support/front.ts'

describe('defineController()', () => {
  it('returns the given controller', () => {
    const news = { title: 'News', list() {} }
    assert.equal(defineController(news), news)
  })

  it('lets the actions share state', async () => {
    const counter = defineController({
      count: 0,
      increment(_request, response) {
        this.count++
        response.json(this.count)
      },
      read: get(function (this: { count: number }, _request, response) {
        response.json(this.count)
      }),
    })
    const front = createFront({ counter })
    const bodyOf = async (target: string) => (await front.handle(new HttpRequest({ target }))).body
    assert.equal(await bodyOf('/counter/increment'), '1')
    assert.equal(await bodyOf('/counter/read'), '1')
    assert.match(String(await bodyOf('/counter/count')), /Action \\"count\\" does not exist/)
  })

  it('rejects a value that is not a controller, and a member that is a class', () => {
    for (const value of [undefined, null, 'news', () => {}]) {
      assert.throws(() => defineController(value as unknown as Members), {
        name: 'TypeError',
        message: 'Expected a controller to be an object of functions',
      })
    }
    assert.throws(() => defineController({ View: class {} } as unknown as Members), {
      name: 'TypeError',
      message: 'Expected "View" to be an action, got a class',
    })
  })
})
