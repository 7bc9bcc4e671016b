import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { createErrorController } from '../../lib/controllers/error-controller.ts'
import { HttpError, HttpRequest, type HttpResponse, type Plugin } from '../../lib/index.ts'
import { createFront } from '../support/front.ts'
import {
  assertFixed,
  assertStandsFor,
  expectError,
  factsOf,
  fail,
  fillIn,
  handleWith,
  namesOf,
  restricted,
} from '../support/loop.ts'
import { pluginHooks } from '../support/plugin-hooks.ts'
import { thrownValues, waysToFail } from '../support/thrown-values.ts'

const errorController = createErrorController()

describe('FrontController.handle() when something is thrown', () => {
  for (const [way, actionFor] of Object.entries(waysToFail)) {
    for (const [what, value] of Object.entries(thrownValues)) {
      it(`passes it to error/error: ${what}, ${way}`, async () => {
        const [run, response] = await expectError({ list: actionFor(value) }, '/news/list/a/1')
        assertStandsFor(run.exception, value)
        assert.equal(run.type, 'EXCEPTION_OTHER')
        assert.deepEqual(namesOf(run.request), ['default', 'news', 'list'])
        assert.equal(run.request.param('a'), '1')
        assert.equal(response.status, what === 'frozen HttpError' ? 418 : 500)
      })

      it(`sends the fixed 500 when the error action fails: ${what}, ${way}`, async () => {
        const first = new Error('first')
        const error = (_: HttpRequest, response: HttpResponse): unknown => {
          fillIn(response)
          return actionFor(value)()
        }
        const response = await handleWith({ list: waysToFail.thrown?.(first) }, { error })
        assertFixed(response)
        assert.equal(response.exceptions.length, 2)
        assert.equal(response.exceptions[0], first)
        assertStandsFor(response.exceptions[1], value)
      })
    }
  }

  for (const hook of pluginHooks) {
    it(`passes it to error/error: in ${hook}`, async () => {
      for (const actionFor of Object.values(waysToFail)) {
        for (const value of Object.values(thrownValues)) {
          const plugin = { [hook]: actionFor(value) } as Plugin
          const list = (_: HttpRequest, response: HttpResponse): void => fillIn(response)
          const [run] = await expectError({ list }, '/news/list', { plugins: [plugin] })
          assertStandsFor(run.exception, value)
          assert.equal(run.request.target, '/news/list')
        }
      }
    })
  }

  it('gives the requested names for every hook that fails after routing', async () => {
    for (const hook of pluginHooks.slice(1)) {
      const plugins = [{ [hook]: fail }]
      const [run] = await expectError({ list() {} }, '/news/list', { plugins })
      assert.deepEqual(namesOf(run.request), ['default', 'news', 'list'], hook)
    }
  })

  it('keeps type, code and cause of the thrown value', async () => {
    const cause = new Error('cause')
    const table: [Error, unknown[], number][] = [
      [new Error('x', { cause }), ['EXCEPTION_OTHER', 'x', undefined], 500],
      [
        Object.assign(new Error('x', { cause }), { code: 'ENOENT' }),
        ['EXCEPTION_OTHER', 'x', 'ENOENT'],
        500,
      ],
      [new HttpError(403, 'x', { cause }), ['EXCEPTION_OTHER', 'x', 403], 403],
      [new HttpError(503, 'x', { cause, code: 7 }), ['EXCEPTION_OTHER', 'x', 7], 503],
    ]
    for (const [error, facts, status] of table) {
      const [run, response] = await expectError({ list: waysToFail.thrown?.(error) }, '/news/list')
      assert.deepEqual(factsOf(run), facts)
      assert.equal(run.exception.cause, cause)
      assert.equal(response.status, status)
    }
  })

  it('discards everything that the failed action had set', async () => {
    const body = new Readable({ read() {} })
    const list = (_: HttpRequest, response: HttpResponse): void => {
      fillIn(response)
      response.redirect('/elsewhere', 301)
      response.body = body
      throw new Error('x')
    }
    const [, response] = await expectError({ list }, '/news/list')
    assert.equal(response.status, 500)
    for (const name of ['Set-Cookie', 'Location', 'X-Half']) {
      assert.equal(response.headers.has(name), false, name)
    }
    assert.ok(body.destroyed)
  })

  it('runs the error action for every method', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      const runs: unknown[] = []
      const error = restricted(
        ({ errorHandler }: HttpRequest) => void runs.push(errorHandler),
        'PATCH',
      )
      const front = createFront({ error: { error } })
      const { exceptions } = await front.handle(new HttpRequest({ target: '/nope', method }))
      assert.deepEqual([runs.length, exceptions.length], [1, 1], method)
    }
  })

  it('lets the error action forward, and treats an error after that as the second error', async () => {
    const error = (request: HttpRequest): HttpRequest =>
      request.forward({ controller: 'news', action: 'sorry' })
    const sorry = ({ errorHandler }: HttpRequest, response: HttpResponse): HttpResponse =>
      response.text(`sorry: ${errorHandler?.exception.message}`)
    const response = await handleWith({ list: fail, sorry }, { error })
    assert.deepEqual([response.body, response.exceptions.length], ['sorry: raised', 1])

    const circle = await handleWith(
      { list: fail },
      { error: (request: HttpRequest) => request.forward({ action: 'error' }) },
    )
    assertFixed(circle)
    assert.equal(circle.exceptions.length, 2)
  })

  it('sends the fixed 500 when the error action is missing or returns a wrong value', async () => {
    for (const error of [undefined, () => null, async () => 'x']) {
      const response = await handleWith({ list: fail }, { error })
      assertFixed(response)
      assert.equal(response.exceptions.length, 2)
    }
  })

  it('sends the fixed 500 when a plugin fails before or after the error action', async () => {
    for (const hook of ['preDispatch', 'postDispatch', 'dispatchLoopShutdown'] as const) {
      const plugin: Plugin = {
        [hook]: ({ errorHandler }: HttpRequest) => errorHandler && fail(),
      }
      const response = await handleWith({ list: fail }, errorController, { plugins: [plugin] })
      assertFixed(response)
      assert.equal(response.exceptions.length, 2)
    }
  })
})
