// Compares the memory of Portico with the memory of bare node:http. After a build and a bundle: node bench/memory.js
//
// It prints the heap of an idle connection, and the resident memory and the garbage collections while 64 connections are busy.

import { table } from './report.js'
import { heapOfIdleConnections, memoryUnderLoad } from './resources.js'

const MIB = 1_048_576
const ADAPTERS = ['bare', 'portico', 'portico-serve']
// serve() accepts 10,000 connections; 16 more warm the server.
const IDLE = [1_000, 9_900]
const LOAD = { connections: 64, steps: [20_000, 60_000, 100_000] }

console.log(`Node ${process.version}\n`)
const idle = IDLE.map((count) => `heap of each of ${number(count)} idle connections`)
console.log(table(['', ...idle], await idleRows()))
for (const workload of ['W1', 'W3']) {
  const title = `${workload}, ${LOAD.connections} connections`
  const steps = LOAD.steps.map((count) => `resident after ${number(count)}`)
  console.log(`\n${table([title, ...steps, 'scavenges', 'young'], await loadRows(workload))}`)
}

async function idleRows() {
  const rows = []
  const bare = []
  for (const adapter of ADAPTERS) {
    const cells = []
    for (const [i, count] of IDLE.entries()) {
      const bytes = (await heapOfIdleConnections(adapter, count)) / 1_000
      bare[i] ??= bytes
      cells.push(`${number(Math.round(bytes))} bytes (${(bytes / bare[i]).toFixed(2)})`)
    }
    rows.push([adapter, ...cells])
  }
  return rows
}

async function loadRows(workload) {
  const rows = []
  for (const adapter of ADAPTERS) {
    const steps = await memoryUnderLoad(adapter, { workload, ...LOAD })
    const { scavenges, youngBytes } = steps.at(-1)
    rows.push([
      adapter,
      ...steps.map(({ bytes }) => mib(bytes)),
      String(scavenges),
      mib(youngBytes),
    ])
  }
  return rows
}

function number(count) {
  return count.toLocaleString('en')
}

function mib(bytes) {
  return `${(bytes / MIB).toFixed(1)} MiB`
}
