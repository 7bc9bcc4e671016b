import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import type { TestContext } from 'node:test'

/** Returns ports of the loopback address that were free a moment ago. */
export async function findFreePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}

/** Listens on a port of the loopback address until the test ends, and returns the port. */
export async function occupyPort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => void server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Waits until a port refuses connections. */
export async function waitUntilRefused(port: number): Promise<void> {
  while (await acceptsConnections(port));
}

/** Tries whether a port accepts a connection. */
export function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED'))
    socket.on('connect', () => socket.destroy()).on('close', () => resolve(true))
  })
}
