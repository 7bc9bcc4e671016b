// Compares the memory of Portico with the memory of bare node:http. After a build and a bundle: node bench/memory.js
//
// It prints the heap of an idle connection, and the resident memory and the garbage collections while 64 connections are busy.

import { heapOfIdleConnections, memoryUnderLoad } from './resources.js'

const MIB = 1_048_576
const ADAPTERS = ['bare', 'portico', 'portico-serve']
// serve() accepts 10,000 connections; 16 more warm the server.
const IDLE = [1_000, 9_900]
const LOAD = { connections: 64, steps: [20_000, 60_000, 100_000] }

console.log(`Node ${process.version}\n`)
await printIdle()
for (const workload of ['W1', 'W3']) await printLoad(workload)

async function printIdle() {
  print([
    '',
    ...IDLE.map((count) => `heap of each of ${count.toLocaleString('en')} idle connections`),
  ])
  print(['---', ...IDLE.map(() => '---:')])
  const bare = []
  for (const adapter of ADAPTERS) {
    const cells = []
    for (const [i, count] of IDLE.entries()) {
      const bytes = (await heapOfIdleConnections(adapter, count)) / 1_000
      bare[i] ??= bytes
      cells.push(
        `${Math.round(bytes).toLocaleString('en')} bytes (${(bytes / bare[i]).toFixed(2)})`,
      )
    }
    print([adapter, ...cells])
  }
}

async function printLoad(workload) {
  const { connections, steps } = LOAD
  const title = `${workload}, ${connections} connections`
  console.log()
  print([
    title,
    ...steps.map((n) => `resident after ${n.toLocaleString('en')}`),
    'scavenges',
    'young',
  ])
  print(['---', ...steps.map(() => '---:'), '---:', '---:'])
  for (const adapter of ADAPTERS) {
    const rows = await memoryUnderLoad(adapter, { workload, ...LOAD })
    const { scavenges, youngBytes } = rows.at(-1)
    print([adapter, ...rows.map(({ bytes }) => mib(bytes)), String(scavenges), mib(youngBytes)])
  }
}

function mib(bytes) {
  return `${(bytes / MIB).toFixed(1)} MiB`
}

function print(cells) {
  console.log(`| ${cells.join(' | ')} |`)
}
