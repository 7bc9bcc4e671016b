// Counts the instructions of a server for one request, without those of the kernel, after npm run build && npm run bundle:
//
//   node bench/instructions.js [--node 20,24,26] [--workload W1] [--requests 3000] [--warm 80000] ADAPTER...
//
// Needs valgrind. Unlike times, the counts do not depend on what else the machine does: two runs differ by 1 %, because V8
// does not inline the same functions each time.

import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Load, probe } from './load.js'
import { pathOfNode } from './nodes.js'
import { messageOf } from './process.js'
import { requestOf } from './workloads.js'

const SERVER = fileURLToPath(new URL('server.js', import.meta.url))
const CONNECTIONS = 16
const BATCH = 2_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    node: { type: 'string', default: process.versions.node.split('.')[0] },
    workload: { type: 'string', default: 'W1' },
    requests: { type: 'string', default: '3000' },
    // Fewer requests leave functions to V8's slower compilers.
    warm: { type: 'string', default: '80000' },
  },
})
const [requests, warm] = [values.requests, values.warm].map(Number)
for (const version of values.node.split(',')) {
  for (const adapter of positionals) {
    const count = await countInstructions(pathOfNode(version), adapter)
    console.log(`Node ${version}  ${values.workload}  ${adapter}  ${Math.round(count / requests)}`)
  }
}
process.exit()

async function countInstructions(node, adapter) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'))
  const valgrind = ['--tool=callgrind', '--smc-check=all-non-file', '--instr-atstart=no']
  const output = `--callgrind-out-file=${join(folder, 'out')}`
  // Without threads, the garbage collector and the compilers are counted too.
  const program = [node, '--single-threaded', SERVER, adapter, values.workload]
  const child = spawn('valgrind', [...valgrind, output, ...program], {
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
  })
  try {
    const port = await messageOf(child)
    const control = (...args) =>
      execFileSync('callgrind_control', [...args, String(child.pid)], { stdio: 'ignore' })
    const request = await requestOf(values.workload)
    // The first error of a kind has another response than the next ones.
    await probe(port, request)
    await probe(port, request)
    const load = await Load.open(port, request, { connections: CONNECTIONS })
    for (let sent = 0; sent < warm; sent += BATCH) await load.run(BATCH)
    control('-i', 'on')
    await load.run(requests)
    control('-i', 'off')
    control('-d')
    load.close()
    return Math.max(...readdirSync(folder).map((file) => totalOf(join(folder, file))))
  } finally {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}

function totalOf(file) {
  const [, total = '0'] = /^totals: (\d+)/m.exec(readFileSync(file, 'utf8')) ?? []
  return Number(total)
}
