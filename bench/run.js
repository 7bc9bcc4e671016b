// Runs the benchmark, after a build: npm run bench -- [--quick] [--write] [--only a,b] [--workloads W1,W4]
//
// The tables go to stdout, the progress to stderr. The exit code is 1 if a whole run misses a goal.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { compare } from './compare.js'
import { checkGoals } from './goals.js'
import { timeInProcess } from './in-process.js'
import { describeMachine, divideCores } from './machine.js'
import { readPlan } from './plan.js'
import { goalTable, tables, writeDocs, writeResults } from './report.js'
import {
  heapOfIdleConnections,
  installedSize,
  packedSize,
  residentAfterLoad,
  timeStarts,
} from './resources.js'
import { compareWorkers } from './workers.js'

const plan = readPlan(process.argv.slice(2))
const machine = describeMachine()
const cores = divideCores()
// A quick run is not exact, and on two cores two servers start sooner.
const serverCore = plan.quick ? cores?.all : cores?.server
const results = await measure()
const goals = checkGoals(results)
finish()

async function measure() {
  const cpu = {}
  for (const id of plan.ids) cpu[id] = await measureWorkload(id)
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: { ...machine, pinned: cores !== undefined && !plan.quick },
    versions: frameworkVersions(),
    cpu,
    ...(plan.whole ? await measureRest() : { disk: {} }),
  }
}

async function measureWorkload(id) {
  const figures = {}
  for (const adapter of plan.adapters) {
    // One quick round says nothing about noise, so the control is left out.
    if (plan.quick && adapter === 'bare') continue
    const length = needsPrecision(adapter) ? plan.fine : plan.coarse
    const compared = await compare(subject(adapter, id), subject('bare', id), length, serverCore)
    figures[adapter] = compared
    const { ratio, one } = compared
    logProgress(`${id} ${adapter}: ${ratio.median.toFixed(3)} of bare, ${Math.round(one.cpuNs)} ns`)
  }
  return figures
}

async function measureRest() {
  logProgress('W5 against W1')
  const [large, small] = [subject('portico', 'W5'), subject('portico', 'W1')]
  const scaleRatio = await compare(large, small, plan.fine, serverCore)
  logProgress('Time to the first response')
  const adapters = plan.quick ? ['bare', 'portico'] : plan.adapters
  const starts = await timeStarts(adapters, plan.starts, serverCore)
  logProgress('Memory')
  const memory = {}
  const idle = {}
  const disk = {}
  for (const adapter of adapters) {
    memory[adapter] = await residentAfterLoad(adapter, plan.memory, serverCore)
    idle[adapter] = await heapOfIdleConnections(adapter, plan.idleConnections, serverCore)
    disk[adapter] = await diskSizeOf(adapter)
  }
  logProgress('Scale')
  const { scale, reports } = await measureScaleInChild()
  const workers = await compareWorkers([1, 2], plan.workerMs, cores?.all)
  const inProcess = await timeInProcess(plan.inProcess)
  return { scaleRatio, starts, memory, idle, disk, scale, reports, workers, inProcess }
}

async function diskSizeOf(adapter) {
  const { packages } = await import(`./adapters/${adapter}.js`)
  return packages.includes('portico') ? packedSize() : installedSize(packages)
}

// In a child process, because --expose-gc must be set at the start of a process.
async function measureScaleInChild() {
  const entry = fileURLToPath(new URL('scale.js', import.meta.url))
  const child = fork(entry, plan.quick ? ['--quick'] : [], { execArgv: ['--expose-gc'] })
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`scale.js ended with exit code ${code} and sent no figures`)
  })
  const [figures] = await Promise.race([once(child, 'message'), failed])
  // The child also exits after its message.
  failed.catch(() => {})
  return figures
}

function finish() {
  // The figures of a quick run are noise, so it checks no goal.
  const checked = plan.quick ? [] : goals
  console.log(`\n${tables(results)}\n\n${goalTable(checked)}`)
  if (plan.write) {
    writeResults({ ...results, goals })
    writeDocs(results, goals)
  }
  process.exit(plan.whole && checked.some(({ reached }) => !reached) ? 1 : 0)
}

function frameworkVersions() {
  const lock = JSON.parse(readFileSync(new URL('package-lock.json', import.meta.url), 'utf8'))
  const names = Object.keys(lock.packages[''].dependencies)
  return Object.fromEntries(
    names.map((name) => [name, lock.packages[`node_modules/${name}`].version]),
  )
}

function subject(adapter, workload) {
  const controllers = workload === 'W5' ? plan.controllers : undefined
  return { adapter, workload, controllers }
}

// The goals of Portico and the control need more precision than the figures of the frameworks.
function needsPrecision(adapter) {
  return adapter === 'portico' || adapter === 'bare'
}

function logProgress(text) {
  process.stderr.write(`${text}\n`)
}
