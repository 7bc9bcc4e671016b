// One server, in a process of its own: node bench/server.js <adapter> <workload> [controllers]
import { workloads } from './workloads.js'

const [adapter, id, controllers] = process.argv.slice(2)
const workload = workloads[id]
const { start } = await import(`./adapters/${adapter}.js`)
const server = await start({
  ...workload,
  controllers: Number(controllers ?? workload.controllers),
})

const questions = {
  cpu: () => {
    const { user, system } = process.cpuUsage()
    return (user + system) * 1_000
  },
  memory: () => {
    globalThis.gc?.()
    globalThis.gc?.()
    return process.memoryUsage()
  },
}

process.on('message', (question) => process.send(questions[question]()))
process.on('disconnect', () => process.exit())
process.send(server.address().port)
