// The workloads with Portico behind serve(), and with a folder of public files in front. bench/server.js starts this server.

import { serve, withPublicFiles } from '../../dist/lib/index.js'
import { publicFolder } from '../public-folder.js'
import { createFront } from './portico.js'

export const packages = ['portico']

export async function start(workload) {
  const handler = withPublicFiles(createFront(workload), publicFolder())
  const { server } = await serve(handler, { port: 0 })
  return server
}
