// Measures `node dist/server.js --workers N` on all cores. The load generator uses a part of the same cores.

import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Load } from './load.js'
import { cpuNsOf, spawnBound } from './process.js'
import { workloads } from './workloads.js'

const ENTRY = fileURLToPath(new URL('../dist/server.js', import.meta.url))
const CONTROLLER = 'export const list = (_, response) => response.json({ ok: true })\n'
const { request } = workloads.W1

/** Returns the requests per second and the CPU time per request of W1, for each number of workers. */
export async function compareWorkers(numbers, ms, cores) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
    writeFileSync(join(folder, 'news.js'), CONTROLLER)
    const figures = []
    for (const workers of numbers) figures.push(await loadWorkers(workers, folder, ms, cores))
    return figures
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function loadWorkers(workers, folder, ms, cores) {
  const options = ['--workers', String(workers), '--controllers', folder, '--port', '0']
  const server = spawnBound([ENTRY, ...options], cores, ['ignore', 'pipe', 'inherit'])
  const exited = once(server, 'exit')
  try {
    const [line] = await once(createInterface({ input: server.stdout }), 'line')
    const port = Number(new URL(JSON.parse(line).url).port)
    const load = await Load.open(port, request, { connections: 32 })
    await load.runFor(ms)
    const before = cpuNsOfTree(server.pid)
    const startedAt = performance.now()
    const requests = await load.runFor(ms)
    const requestsPerSecond = (requests / (performance.now() - startedAt)) * 1_000
    const cpuNs = (cpuNsOfTree(server.pid) - before) / requests
    load.close()
    return { workers, requestsPerSecond, cpuNs }
  } finally {
    server.kill()
    await exited
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
