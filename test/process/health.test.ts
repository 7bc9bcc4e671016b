import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, it } from 'node:test'
import { serveOperator } from '../../lib/observe/operator-server.ts'
import { probeHealth } from '../../lib/process/health.ts'
import { snapshotWith } from '../support/snapshot.ts'

describe('probeHealth()', () => {
  it('returns whether a server is ready', async (t) => {
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
    assert.equal(await probeHealth(port, '127.0.0.1'), true)
    ready = false
    assert.equal(await probeHealth(port, '127.0.0.1'), false)
  })

  it('returns false for a port without a server', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    assert.equal(await probeHealth(port, '127.0.0.1'), false)
  })

  it('returns false for a server that never responds', async (t) => {
    const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => void server.close())
    const { port } = server.address() as AddressInfo
    assert.equal(await probeHealth(port, '127.0.0.1', 20), false)
  })
})
