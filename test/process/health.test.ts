import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, it } from 'node:test'
import { serveOperator } from '../../lib/observe/operator-server.ts'
import { probeHealth } from '../../lib/process/health.ts'
import { snapshotWith } from '../support/snapshot.ts'

describe('probeHealth()', () => {
  it('returns nothing for a server that is ready, and the status of another', async (t) => {
    let ready = true
    const server = await serveOperator({
      port: 0,
      host: '127.0.0.1',
      isLocalOnly: true,
      isReady: () => ready,
      config: {},
      snapshot: () => snapshotWith(),
    })
    t.after(() => void server.close())
    const { port } = server.address() as AddressInfo
    assert.equal(await probeHealth(port, '127.0.0.1'), undefined)
    ready = false
    assert.equal(await probeHealth(port, '127.0.0.1'), 'the status of /readyz is 503')
  })

  it('returns the code for a port without a server', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    assert.equal(await probeHealth(port, '127.0.0.1'), `127.0.0.1, port ${port}: ECONNREFUSED`)
  })

  it('returns the time for a server that never responds', async (t) => {
    const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => void server.close())
    const { port } = server.address() as AddressInfo
    assert.equal(
      await probeHealth(port, '127.0.0.1', 20),
      `127.0.0.1, port ${port}: no response in 20 ms`,
    )
  })
})
