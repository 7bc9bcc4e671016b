// The workloads with Portico and a plugin that opens the sealed session of each request. bench/server.js starts this server.

import { createServer } from 'node:http'
import { createRequestListener } from '../../dist/lib/index.js'
import { listen } from '../listen.js'
import { session } from '../sealed-session.js'
import { createFront } from './portico.js'

export const packages = ['portico', 'jose']

const plugin = {
  async preDispatch(request) {
    request.state.session = await session.read(request)
  },
}

export function start(workload) {
  const front = createFront(workload, { plugins: [plugin] })
  return listen(createServer(createRequestListener(front)))
}
