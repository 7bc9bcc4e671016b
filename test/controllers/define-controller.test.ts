import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineController, type Members } from '../../lib/controllers/define-controller.ts'
import { get } from '../../lib/controllers/methods.ts'
import { FrontController } from '../../lib/dispatch/front-controller.ts'
import { HttpRequest } from '../../lib/http/request.ts'

describe('defineController()', () => {
  it('gives back the controller that it was given', () => {
    const news = { title: 'News', list() {} }
    assert.equal(defineController(news), news)
  })

  it('is served, its state shared by its actions', async () => {
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
    const front = new FrontController({ controllers: new Map([['counter', counter]]) })
    const ask = async (target: string) => (await front.handle(new HttpRequest({ target }))).body
    assert.equal(await ask('/counter/increment'), '1')
    assert.equal(await ask('/counter/read'), '1')
    assert.match(String(await ask('/counter/count')), /Action \\"count\\" does not exist/)
  })

  it('refuses what is no controller, and a class where an action is due', () => {
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
