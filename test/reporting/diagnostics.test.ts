import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { channels, type DispatchMessage, HttpRequest } from '../../lib/index.ts'
import { publish } from '../../lib/reporting/diagnostics.ts'
import { channelNames, collectMessages } from '../support/collectors.ts'

// test/system/observers.test.ts tests the messages of the loop.
describe('channels', () => {
  it('have the documented names', () => {
    assert.deepEqual(
      Object.fromEntries(Object.entries(channels).map(([key, { name }]) => [key, name])),
      channelNames,
    )
  })
})

describe('publish()', () => {
  it('creates no message without a subscriber', () => {
    const request = new Proxy({} as HttpRequest, { get: () => assert.fail('read') })
    for (const channel of Object.values(channels)) publish(channel, request)
  })

  it('publishes id, names, status and type of a request', (t) => {
    const messages = collectMessages(t)
    const request = new HttpRequest({ target: '/x', method: 'PUT' })
    publish(channels.end, request, 204)
    const message: DispatchMessage = {
      id: request.id,
      method: 'PUT',
      module: '',
      controller: '',
      action: '',
      route: null,
      status: 204,
      type: undefined,
    }
    assert.deepEqual(messages, [['end', message]])
  })
})
