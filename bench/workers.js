// Measures `node dist/server.js --workers N` on all cores. The load generator uses a part of the same cores.

import { readdirSync, readFileSync } from 'node:fs'
import { Load } from './load.js'
import { cpuNsOf } from './process.js'
import { startProgram, stopProgram, withProgram } from './program.js'
import { workloads } from './workloads.js'

const { request } = workloads.W1

/** Returns the requests per second and the CPU time per request of W1, for each number of workers. */
export function compareWorkers(numbers, ms, cores) {
  return withProgram(async (args) => {
    const figures = []
    for (const workers of numbers) figures.push(await loadWorkers(workers, args, ms, cores))
    return figures
  })
}

async function loadWorkers(workers, args, ms, cores) {
  const program = await startProgram([...args, '--workers', String(workers)], cores)
  const { pid } = program.child
  try {
    const load = await Load.open(program.port, request, { connections: 32 })
    await load.runFor(ms)
    const before = cpuNsOfTree(pid)
    const startedAt = performance.now()
    const requests = await load.runFor(ms)
    const requestsPerSecond = (requests / (performance.now() - startedAt)) * 1_000
    const cpuNs = (cpuNsOfTree(pid) - before) / requests
    load.close()
    return { workers, requestsPerSecond, cpuNs }
  } finally {
    await stopProgram(program)
  }
}

// Returns NaN if the system does not report CPU times.
function cpuNsOfTree(pid) {
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + (cpuNsOf(each) ?? Number.NaN), 0)
}

function childrenOf(pid) {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`)
    const lists = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8'))
    return lists.flatMap((list) => list.trim().split(' ')).filter(Boolean)
  } catch {
    // Only Linux has /proc.
    return []
  }
}
