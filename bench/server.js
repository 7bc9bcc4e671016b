// Runs the server of one adapter. process.js starts this file as a child process, with the arguments
//
//   <adapter> <workload> [controllers]
//
// The child sends its port when it listens. Then it sends one measurement for each message.

import { workloads } from './workloads.js'

const [adapter, id, controllers] = process.argv.slice(2)
const workload = workloads[id]
const { start } = await import(`./adapters/${adapter}.js`)
const server = await start({
  ...workload,
  controllers: Number(controllers ?? workload.controllers),
})

const measurements = {
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
