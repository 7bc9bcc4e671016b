import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Action, ServeOptions } from '../../lib/index.ts'
import { keepAliveBytesOf, serveActions, splitResponses } from '../support/wire.ts'

describe('service.close()', () => {
  // Sends a request with each response that arrives, until the connection is closed.
  const sendAgain = (t: TestContext, port: number, inFlight: number): Promise<string> => {
    const client = connect(port, '127.0.0.1').on('error', () => {})
    t.after(() => void client.destroy())
    const bytes = keepAliveBytesOf({ target: '/app/run' })
    client.write(bytes.repeat(inFlight))
    let received = ''
    client.setEncoding('latin1').on('data', (chunk: string) => {
      received += chunk
      client.write(bytes.repeat(splitResponses(chunk).length))
    })
    return once(client, 'close').then(() => received)
  }
  const run: Action = async (_, response) => {
    await sleep(20)
    return response.text('x')
  }
  const isLast = (response: string): boolean => /\r\nConnection: close\r\n/i.test(response)

  for (const [what, inFlight, options] of [
    ['an action responds to', 1, {}],
    ['a middleware responds to', 1, { before: [(_, out) => void out.end('x')] }],
    [
      'a slow middleware responds to',
      1,
      { before: [(_, out) => setTimeout(() => out.end('x'), 20)] },
    ],
    [
      'a middleware responds to with `Connection: keep-alive`',
      1,
      { before: [(_, out) => void out.setHeader('Connection', 'keep-alive').end('x')] },
    ],
    ...[
      { Connection: 'keep-alive', 'X-A': ['1', '2'] },
      ['connection', 'keep-alive', 'X-A', ['1', '2']],
      ['Connection', 'keep-alive', 'X-A', '1', 'X-A', '2'],
      [
        ['CONNECTION', 'keep-alive'],
        ['X-A', ['1', '2']],
      ],
    ].map((headers): [string, number, ServeOptions] => [
      `a middleware responds to with writeHead(200, 'OK', ${JSON.stringify(headers)})`,
      1,
      {
        before: [
          (_, out) => void out.writeHead(200, 'OK', headers as OutgoingHttpHeaders).end('x'),
        ],
      },
    ]),
    ['arrive while others are in flight', 2, {}],
    ['arrive while others wait for their turn', 20, {}],
  ] satisfies [string, number, ServeOptions][]) {
    it(`ends a connection whose client never stops sending requests, which ${what}`, async (t) => {
      const { port, service } = await serveActions(t, { run }, options)
      const all = Array.from({ length: 4 }, () => sendAgain(t, port, inFlight))
      await sleep(100)
      assert.deepEqual(await service.close(), { connections: 0, actions: 0 })
      for (const received of await Promise.all(all)) {
        const responses = splitResponses(received)
        assert.ok(responses.length > 1)
        assert.deepEqual(
          responses.map(isLast),
          responses.map((_, i) => i === responses.length - 1),
        )
        const [first = '', last = ''] = [responses[0], responses.at(-1)]
        assert.doesNotMatch(last, /keep-alive/i)
        assert.deepEqual(last.match(/^X-A: \d\r$/gm), first.match(/^X-A: \d\r$/gm))
      }
    })
  }

  it('lets a middleware respond to each of the requests that arrived together', async (t) => {
    const { port, service } = await serveActions(
      t,
      { run },
      { before: [(_, out) => void out.end('x')] },
    )
    const client = connect(port, '127.0.0.1')
    client.write(keepAliveBytesOf({ target: '/app/run' }))
    await once(client, 'data')
    const received = text(client)
    const closed = service.close()
    client.write(keepAliveBytesOf({ target: '/app/run' }).repeat(3))
    const responses = splitResponses(await received)
    assert.deepEqual(responses.map(isLast), [false, false, true])
    assert.deepEqual(await closed, { connections: 0, actions: 0 })
  })
})
