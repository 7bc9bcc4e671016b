// The workloads with Portico, behind serve(): with all limits, as `npm start` runs it.
// bench/server.js starts this server.

import { serve } from '../../dist/lib/index.js'
import { createFront } from './portico.js'

export const packages = ['portico']

export async function start(workload) {
  const { server } = await serve(createFront(workload), { port: 0 })
  return server
}
