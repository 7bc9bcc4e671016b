// Runs the server of one adapter. process.js starts this file as a child process, with the arguments
//
//   <adapter> <workload> [controllers]
//
// The child sends its port when it listens. Then it sends one measurement for each message.

import { constants, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics } from 'node:v8'
import { workloads } from './workloads.js'

const IDLE_MS = 600_000

const [adapter, id, controllers] = process.argv.slice(2)
const workload = workloads[id]
const { start } = await import(`./adapters/${adapter}.js`)
const server = await start({
  ...workload,
  controllers: Number(controllers ?? workload.controllers),
})

let scavenges = 0

const measurements = {
  // The same timeouts for all servers: none closes an idle connection during a measurement.
  keepOpen: () => {
    server.keepAliveTimeout = IDLE_MS
    server.timeout = IDLE_MS
    return true
  },
  // The observer takes time, so it exists only in the processes that count.
  countScavenges: () => {
    const minor = ({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MINOR
    new PerformanceObserver((list) => {
      scavenges += list.getEntries().filter(minor).length
    }).observe({ entryTypes: ['gc'] })
    return true
  },
  collections: () => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    return { scavenges, youngBytes: young.space_size }
  },
  cpuNs: () => {
    const { user, system } = process.cpuUsage()
    return (user + system) * 1_000
  },
  memory: () => {
    // A second collection frees objects that the first one only made unreachable (weak references, finalizers).
    globalThis.gc?.()
    globalThis.gc?.()
    return process.memoryUsage()
  },
}

process.on('message', (name) => process.send(measurements[name]()))
process.on('disconnect', () => process.exit())
process.send(server.address().port)
