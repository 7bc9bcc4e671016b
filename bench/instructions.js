// Counts the instructions of a server for one request, without those of the kernel, after npm run build && npm run bundle:
//
//   node bench/instructions.js [--node 20,24,26] [--workload W1] [--requests 3000] [--warm 80000] [--caches] ADAPTER...
//
// With --caches, also the misses of the first-level caches (32 KiB for code, 32 KiB for data) and the branches that a simple predictor
// does not foresee.
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
const CACHES = ['--cache-sim=yes', '--branch-sim=yes', '--I1=32768,8,64', '--D1=32768,8,64']
const COLUMNS = ['instructions', 'misses of code', 'misses of data', 'wrong branches']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    node: { type: 'string', default: process.versions.node.split('.')[0] },
    workload: { type: 'string', default: 'W1' },
    requests: { type: 'string', default: '3000' },
    // Fewer requests leave functions to V8's slower compilers.
    warm: { type: 'string', default: '80000' },
    caches: { type: 'boolean', default: false },
  },
})
const [requests, warm] = [values.requests, values.warm].map(Number)
for (const version of values.node.split(',')) {
  for (const adapter of positionals) {
    const counts = await countEvents(pathOfNode(version), adapter)
    const figures = counts.map((count, i) => `${Math.round(count / requests)} ${COLUMNS[i]}`)
    console.log(`Node ${version}  ${values.workload}  ${adapter}  ${figures.join(', ')}`)
  }
}
process.exit()

// Returns one count for each of COLUMNS; only the first one without --caches.
async function countEvents(node, adapter) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'))
  const simulated = values.caches ? CACHES : []
  const valgrind = [
    '--tool=callgrind',
    '--smc-check=all-non-file',
    '--instr-atstart=no',
    ...simulated,
  ]
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
    // callgrind writes a file for each thread, and one more at the end.
    const totals = readdirSync(folder).map((file) => totalsOf(join(folder, file)))
    return countsOf(totals.reduce((most, each) => (each[0] > most[0] ? each : most)))
  } finally {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}

function totalsOf(file) {
  const [, totals = '0'] = /^totals: ([\d ]+)/m.exec(readFileSync(file, 'utf8')) ?? []
  return totals.trim().split(' ').map(Number)
}

// Ir, Dr, Dw, I1mr, D1mr, D1mw, ILmr, DLmr, DLmw, Bc, Bcm, Bi, Bim: the names of the columns in callgrind's manual.
function countsOf(totals) {
  const [instructions, , , code, read, written, , , , , conditional, , indirect] = totals
  return values.caches
    ? [instructions, code, read + written, conditional + indirect]
    : [instructions]
}
