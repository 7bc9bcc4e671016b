import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { FrontController, serve } from '../../lib/index.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'
import { bytesOf, parse } from '../support/http.ts'
import { portOf } from '../support/serving.ts'
import { keepAliveBytesOf } from '../support/wire.ts'

describe('drain()', () => {
  it('waits for the response to a request in flight, which has Connection: close', async () => {
    const started = deferred()
    const finish = deferred()
    const service = await serve(createSlowFront(started.resolve, finish.promise), { port: 0 })
    const socket = connect(portOf(service.url), '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.write(keepAliveBytesOf({ target: '/slow' }))
    await started.promise
    const closed = service.close()
    finish.resolve()
    await once(socket, 'close')
    assert.equal(await closed, 0)
    const { status, headers, body } = parse(received)
    assert.deepEqual([status, headers.connection, body], [200, 'close', 'done'])
  })

  it('closes connections that are idle, or have never sent a byte', async () => {
    const service = await serve(new FrontController(), { port: 0 })
    const port = portOf(service.url)
    const silent = connect(port, '127.0.0.1')
    const idle = connect(port, '127.0.0.1')
    silent.resume()
    idle.write(keepAliveBytesOf({ target: '/' }))
    await once(idle, 'data')
    const closed = Promise.all([once(silent, 'close'), once(idle, 'close')])
    assert.equal(await service.close(), 0)
    await closed
  })

  it('leaves a busy connection open while it closes idle ones', async () => {
    const started = deferred()
    const finish = deferred()
    const service = await serve(createSlowFront(started.resolve, finish.promise), { port: 0 })
    const port = portOf(service.url)
    const [silent, idle, busy] = [1, 2, 3].map(() => connect(port, '127.0.0.1'))
    assert.ok(silent && idle && busy)
    silent.resume()
    idle.write(keepAliveBytesOf({ target: '/' }))
    await once(idle, 'data')
    busy.write(keepAliveBytesOf({ target: '/slow' }))
    await started.promise

    const closed = service.close()
    // By then one sweep has looked at all of them.
    await Promise.all([once(silent, 'close'), once(idle.resume(), 'close')])
    const late = connect(port, '127.0.0.1')
    await assert.rejects(once(late, 'connect'), { code: 'ECONNREFUSED' })
    assert.equal(busy.readyState, 'open')
    let received = ''
    busy.on('data', (chunk) => {
      received += chunk
    })
    finish.resolve()
    await once(busy, 'close')
    assert.equal(await closed, 0)
    const { status, headers, body } = parse(received)
    assert.deepEqual([status, headers.connection, body], [200, 'close', 'done'])
  })

  it('responds to a request that arrives on an idle connection after the stop', async () => {
    const service = await serve(new FrontController(), { port: 0 })
    const socket = connect(portOf(service.url), '127.0.0.1')
    const request = keepAliveBytesOf({ target: '/' })
    socket.write(request)
    await once(socket, 'data')
    const closed = service.close()
    socket.write(request)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    await once(socket, 'close')
    assert.equal(await closed, 0)
    assert.deepEqual([parse(received).status, parse(received).headers.connection], [200, 'close'])
  })

  it('keeps an idle connection open for 600 ms, for a request that is on its way', async (t) => {
    const service = await serve(new FrontController(), { port: 0 })
    const [[accepted], client] = await Promise.all([
      once(service.server, 'connection'),
      connect(portOf(service.url), '127.0.0.1').resume(),
    ])
    client.write(keepAliveBytesOf({ target: '/' }))
    await once(client, 'data')

    // A whole number: with a fraction, startedAt + 600 - startedAt could be less than 600.
    const startedAt = Math.round(performance.now())
    const clock = t.mock.method(performance, 'now', () => startedAt)
    t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
    const closed = service.close()
    for (const [elapsedMs, destroyed] of [
      [0, false],
      [599, false],
      [600, true],
    ] as const) {
      clock.mock.mockImplementation(() => startedAt + elapsedMs)
      t.mock.timers.tick(100)
      assert.equal(accepted.destroyed, destroyed, `${elapsedMs} ms`)
    }
    assert.equal(await closed, 0)
  })

  it('destroys the connections that are left at the deadline, and returns their number', async () => {
    const started = deferred()
    const finish = deferred()
    const front = createSlowFront(started.resolve, finish.promise)
    const service = await serve(front, { port: 0, closeTimeoutMs: 20 })
    const socket = connect(portOf(service.url), '127.0.0.1')
    socket.on('error', () => {}).write(bytesOf({ target: '/slow' }))
    await started.promise
    assert.equal(await service.close(), 1)
    finish.resolve()
  })
})

function createSlowFront(started: () => void, finish: Promise<void>): FrontController {
  const slow = {
    async index(_: unknown, response: { text(text: string): void }): Promise<void> {
      started()
      await finish
      response.text('done')
    },
  }
  return createFront({ slow })
}
