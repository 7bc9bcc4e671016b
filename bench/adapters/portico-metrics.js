// The workloads with Portico, behind serve(), with the counts that a health port shows as metrics.
// bench/server.js starts this server.

import { serve } from '../../dist/lib/index.js'
import { createObserver, watchProcess } from '../../dist/lib/observe.js'
import { createFront } from './portico.js'

export const packages = ['portico']

export async function start(workload) {
  const observer = createObserver({ processFacts: watchProcess() })
  const { onAccess } = observer
  const service = await serve(createFront(workload), { port: 0, onAccess })
  observer.watch(service)
  return service.server
}
