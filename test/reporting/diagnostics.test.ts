import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { channels, type DispatchMessage, HttpRequest, HttpResponse } from '../../lib/index.ts'
import { traced } from '../../lib/reporting/diagnostics.ts'
import { collectMessages, collectReports } from '../support/collectors.ts'
import { createFront } from '../support/front.ts'

// test/system/observers.test.ts tests the messages of the loop.
describe('channels', () => {
  it('have no subscribers at first, and then no message is made', async () => {
    const { dispatch, report } = channels
    assert.deepEqual([dispatch.hasSubscribers, report.hasSubscribers], [false, false])
    const list = (request: HttpRequest): void => {
      Object.defineProperty(request, 'route', { get: () => assert.fail('read') })
    }
    const front = createFront({ news: { list } })
    const { status } = await front.handle(new HttpRequest({ target: '/news/list' }))
    assert.equal(status, 200)
  })

  for (const name of ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const) {
    it(`have a subscriber as soon as ${name} of a dispatch has one, and then it is published`, async () => {
      const subscriber = (): void => {
        received++
      }
      let received = 0
      const list = name === 'error' ? () => Promise.reject(new Error('x')) : async () => {}
      const front = createFront({ news: { list } })
      channels.dispatch[name].subscribe(subscriber)
      assert.equal(channels.dispatch.hasSubscribers, true)
      await front.handle(new HttpRequest({ target: '/news/list' }))
      channels.dispatch[name].unsubscribe(subscriber)
      assert.equal(channels.dispatch.hasSubscribers, false)
      // More than one, because the error action has events too.
      assert.ok(received >= 1)
    })
  }
})

describe('traced()', () => {
  it('publishes id, names and status of a request, and returns what the call returns', async (t) => {
    const messages = collectMessages(t)
    const request = new HttpRequest({ target: '/x', method: 'PUT' })
    const response = new HttpResponse()
    response.status = 204
    assert.equal(
      traced(request, response, () => 42),
      42,
    )
    const message: DispatchMessage = {
      id: request.id,
      method: 'PUT',
      module: '',
      controller: '',
      action: '',
      route: null,
    }
    const ended = { ...message, status: 204 }
    assert.deepEqual(messages, [
      ['start', message],
      ['end', ended],
    ])
    assert.equal(await traced(request, response, async () => 43), 43)
    assert.deepEqual(messages.slice(2), [
      ['start', message],
      ['end', message],
      ['asyncStart', ended],
      ['asyncEnd', ended],
    ])
  })

  it('throws the exception that the call throws, and makes an Error of any other value', async () => {
    const request = new HttpRequest({ target: '/x' })
    const error = new TypeError('broken')
    const run = (call: () => unknown): unknown => traced(request, new HttpResponse(), call)
    const fail = (): never => {
      throw error
    }
    assert.throws(
      () => run(fail),
      (thrown) => thrown === error,
    )
    await assert.rejects(
      async () => run(async () => fail()),
      (thrown) => thrown === error,
    )
    await assert.rejects(async () => run(() => Promise.reject('text')), {
      name: 'ThrownValueError',
      value: 'text',
    })
  })

  it('keeps the cookies of the response out of the report of an exception', async (t) => {
    collectMessages(t)
    const { reports, onReport } = collectReports()
    const begin = async (_: HttpRequest, { cookies, headers }: HttpResponse): Promise<never> => {
      cookies.set('sid', 'k7Qx9ZpLm2vB')
      throw new Error(`Not sent: ${headers.get('Set-Cookie')}`)
    }
    await createFront({ news: { begin } }, { onReport }).handle(
      new HttpRequest({ target: '/news/begin' }),
    )
    const [{ message } = { message: '' }] = reports
    assert.equal(message, 'Not sent: sid=[secret]; Path=/; HttpOnly; SameSite=Lax')
  })
})
