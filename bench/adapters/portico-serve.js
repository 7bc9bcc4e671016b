import { serve } from '../../dist/lib/index.js'
import { createFront } from './portico.js'

// The same behind the server with all its limits, as `npm start` runs it.

export const packages = ['portico']

export async function start(workload) {
  const { server } = await serve(createFront(workload), { port: 0 })
  return server
}
