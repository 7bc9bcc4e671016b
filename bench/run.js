// Runs the benchmark, after a build: npm run bench -- [--quick] [--write] [--only a,b] [--workloads W1,W4] [--node 20,24,26]
//
// The tables go to stdout, the progress to stderr. The exit code is 1 if a whole run misses a goal.

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { checkGoals } from './goals.js'
import { pathOfNode } from './nodes.js'
import { readPlan } from './plan.js'
import { messageOf } from './process.js'
import { report, writeReport } from './report.js'

const MEASURE = fileURLToPath(new URL('measure.js', import.meta.url))

const args = process.argv.slice(2)
const plan = readPlan(args)
const runs = []
for (const version of plan.nodes) runs.push(await measureOn(pathOfNode(version)))
console.log(`\n${report(runs)}`)
if (plan.write) writeReport(runs)
if (plan.whole && runs.some(({ goals }) => goals.some(({ reached }) => !reached))) {
  process.exitCode = 1
}

async function measureOn(execPath) {
  const results = await messageOf(fork(MEASURE, args, { execPath, execArgv: [] }))
  // The figures of a quick run are noise, so it checks no goal.
  return { ...results, goals: plan.quick ? [] : checkGoals(results) }
}
