import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { deferred } from '../support/deferred.ts'
import { bytesOf, exchange, send } from '../support/http.ts'
import { serveActions } from '../support/wire.ts'

describe('The counts of a service', () => {
  it('are those of now, and since the start', async (t) => {
    const started = deferred()
    const finish = deferred()
    const { port, service } = await serveActions(t, {
      async slow(_, response) {
        started.resolve()
        await finish.promise
        response.text('ok')
      },
      quick: (_, response) => response.text('ok'),
    })
    const none = { inFlight: 0, connections: 0, droppedConnections: 0, rejections: {} }
    assert.deepEqual(service.counts, { ...none, connectionsTotal: 0 })
    await exchange(port, { target: '/app/quick' })
    const slow = send(port, bytesOf({ target: '/app/slow' }))
    await started.promise
    const { counts } = service
    assert.deepEqual([counts.inFlight, counts.connectionsTotal], [1, 2])
    finish.resolve()
    await slow
    await service.close()
    assert.deepEqual(service.counts, { ...none, connectionsTotal: 2 })
  })

  it('include each pipelined request', async (t) => {
    const finish = deferred()
    const started = deferred()
    let running = 0
    const { port, service } = await serveActions(t, {
      async slow(_, response) {
        if (++running === 3) started.resolve()
        await finish.promise
        response.text('ok')
      },
    })
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /app/slow HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3)).toString()
    await started.promise
    assert.equal(service.counts.inFlight, 3)
    finish.resolve()
    socket.destroy()
  })

  it('have the connections that were dropped', async (t) => {
    const { port, service } = await serveActions(t, {}, { limits: { maxConnections: 1 } })
    const accepted = once(service.server, 'connection')
    const socket = connect(port, '127.0.0.1')
    await accepted
    for (const dropped of [1, 2]) {
      assert.equal(await send(port, ''), '')
      const { connections, connectionsTotal, droppedConnections } = service.counts
      assert.deepEqual([connections, connectionsTotal, droppedConnections], [1, 1, dropped])
    }
    socket.destroy()
  })

  it('have the messages that were no valid request, by status', async (t) => {
    const { port, service } = await serveActions(t, {})
    for (const bytes of [
      'garbage\r\n\r\n',
      'GET / HTTP/9.9\r\nHost: a\r\n\r\n',
      'garbage\r\n\r\n',
    ]) {
      await send(port, bytes)
    }
    await send(port, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
    assert.deepEqual(service.counts.rejections, { 400: 2, 405: 1, 505: 1 })
  })
})
