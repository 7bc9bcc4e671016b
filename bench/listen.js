import { once } from 'node:events'

/** Listens on a free port of this machine alone. */
export async function listen(server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
