// Starts the server of an adapter.

import { once } from 'node:events'

/** Makes a server listen on a free port of the loopback address, and returns it. */
export async function listen(server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
