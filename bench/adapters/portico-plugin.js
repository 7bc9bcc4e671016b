// The workloads with Portico and one plugin, which only sets a property of `request.state`. bench/server.js starts this server.

import { createServer } from 'node:http'
import { createRequestListener } from '../../dist/lib/index.js'
import { listen } from '../listen.js'
import { createFront } from './portico.js'

export const packages = ['portico']

const plugin = {
  preDispatch(request) {
    request.state.user = 'ada'
  },
}

export function start(workload) {
  const front = createFront(workload, { plugins: [plugin] })
  return listen(createServer(createRequestListener(front)))
}
