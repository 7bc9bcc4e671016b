import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect, createServer, type Server as NetServer } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { probeHealth, serveHealth } from '../../lib/process/health.ts'
import { deferred } from '../support/deferred.ts'
import { exchange, send } from '../support/http.ts'
import { settled } from '../support/wire.ts'

describe('serveHealth()', () => {
  const table: [method: string, target: string, ready: boolean, status: number][] = [
    ['GET', '/livez', true, 200],
    ['GET', '/livez', false, 200],
    ['GET', '/readyz', true, 200],
    ['GET', '/readyz', false, 503],
    ['GET', '/readyz?verbose', true, 200],
    ['HEAD', '/readyz', false, 503],
    ['GET', '/', true, 404],
    ['GET', '/livez/', true, 404],
    ['POST', '/readyz', true, 405],
  ]
  for (const [method, target, ready, status] of table) {
    it(`responds to ${method} ${target} with ${status} when ${ready ? '' : 'not '}ready`, async (t) => {
      const response = await exchange(await probed(t, () => ready), { method, target })
      const text = status === 200 ? 'ok\n' : 'no\n'
      assert.deepEqual([response.status, response.body], [status, method === 'HEAD' ? '' : text])
      assert.equal(response.headers['content-length'], '3')
      assert.equal(response.headers['cache-control'], 'no-store')
    })
  }

  it('accepts 64 connections at a time, and closes one whose headers do not arrive', async (t) => {
    const port = await probed(t, () => true)
    const slow = Array.from({ length: 64 }, () => connect(port, '127.0.0.1'))
    t.after(() => {
      for (const socket of slow) socket.destroy()
    })
    await Promise.all(slow.map((socket) => once(socket, 'connect')))
    for (const socket of slow) socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n')
    // The server closes it at once, before a response.
    assert.equal(await send(port, ''), '')
    const [first] = slow
    assert.ok(first)
    const [head] = await once(first, 'data')
    assert.match(String(head), /^HTTP\/1\.1 408 /)
  })

  it('responds to one request of a connection, and closes it', async (t) => {
    const port = await probed(t, () => true)
    const received = await send(port, 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100))
    assert.equal(received.split('HTTP/1.1 200').length, 2)
    assert.match(received, /\r\nConnection: close\r\n/)
  })

  it('reads nothing behind the first request of a connection', async (t) => {
    const ready = deferred<boolean>()
    const server = await serveHealth(() => ready.promise, 0, '127.0.0.1')
    closing(t, server)
    let read = 0
    server.on('request', () => read++)
    const { port } = server.address() as AddressInfo
    const probe = 'GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n'
    const received = send(port, probe.repeat(40_000))
    await once(server, 'request')
    await settled(() => read)
    // The parser cannot be paused within the bytes that one read has returned.
    assert.ok(read <= Math.ceil(65_536 / probe.length), `${read} have been read`)
    ready.resolve(true)
    assert.equal((await received).split('HTTP/1.1 200').length, 2)
  })

  it('rejects when its port is in use', async (t) => {
    const port = await probed(t, () => true)
    await assert.rejects(
      serveHealth(() => true, port, '127.0.0.1'),
      { code: 'EADDRINUSE' },
    )
  })
})

describe('probeHealth()', () => {
  it('returns whether a server is ready', async (t) => {
    let ready = true
    const port = await probed(t, () => ready)
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
    closing(t, server)
    const { port } = server.address() as AddressInfo
    assert.equal(await probeHealth(port, '127.0.0.1', 20), false)
  })
})

async function probed(t: TestContext, isReady: () => boolean): Promise<number> {
  const server = await serveHealth(isReady, 0, '127.0.0.1')
  closing(t, server)
  return (server.address() as AddressInfo).port
}

function closing(t: TestContext, server: Server | NetServer): void {
  t.after(() => void server.close())
}
