// Measures everything of a plan with the version of Node that runs this file. run.js starts it once for each version, with its own
// arguments, and gets the figures as a message.

import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { compare } from './compare.js'
import { timeInProcess } from './in-process.js'
import { describeMachine, divideCores } from './machine.js'
import { readPlan } from './plan.js'
import { messageOf } from './process.js'
import { timePrograms } from './program.js'
import {
  heapOfIdleConnections,
  installedSize,
  memoryUnderLoad,
  packedSize,
  residentAfterLoad,
  timeStarts,
} from './resources.js'
import { compareTails } from './tails.js'
import { compareWorkers } from './workers.js'

const OWN = ['bare', 'portico', 'portico-serve']

const plan = readPlan(process.argv.slice(2))
const machine = describeMachine()
const cores = divideCores()
// A quick run is not exact, and on two cores two servers start sooner.
const serverCore = plan.quick ? cores?.all : cores?.server
const results = {
  date: new Date().toISOString().slice(0, 10),
  machine: { ...machine, pinned: cores !== undefined && !plan.quick },
  versions: frameworkVersions(),
  cpu: await measureCpu(),
  ...(plan.whole ? await measureRest() : {}),
}
process.send(results, () => process.disconnect())

async function measureCpu() {
  const cpu = {}
  for (const { id, adapters, length } of plan.groups) {
    const subjects = ['bare', ...adapters].map((adapter) => subject(adapter, id))
    const compared = await compare(subjects, plan[length], serverCore)
    cpu[id] = { ...cpu[id] }
    for (const [i, adapter] of adapters.entries()) {
      cpu[id][adapter] = compared[i]
      const { ratio, one } = compared[i]
      logProgress(
        `${id} ${adapter}: ${ratio.median.toFixed(3)} of bare, ${Math.round(one.cpuNs)} ns`,
      )
    }
  }
  return cpu
}

async function measureRest() {
  logProgress('W5 against W1')
  const sizes = [subject('portico', 'W1'), subject('portico', 'W5')]
  const [scaleRatio] = await compare(sizes, plan.fine, serverCore)
  logProgress('Latencies at a fixed rate')
  const tails = await compareTails([...OWN, 'fastify'], plan.tails, serverCore)
  logProgress('Time to the first response')
  const programs = await timePrograms(plan.starts, serverCore)
  const adapters = plan.quick ? OWN : plan.adapters
  const starts = await timeStarts(adapters, plan.starts, serverCore)
  logProgress('Memory')
  const memory = {}
  const disk = {}
  for (const adapter of adapters) {
    memory[adapter] = await residentAfterLoad(adapter, plan.memory, serverCore)
    disk[adapter] = await diskSizeOf(adapter)
  }
  const idle = await measureIdle(adapters)
  const busy = {}
  for (const adapter of OWN) busy[adapter] = await memoryUnderLoad(adapter, plan.busy, serverCore)
  logProgress('Scale')
  const inChild = await measureScaleInChild()
  const workers = await compareWorkers([1, 2], plan.workerMs, cores?.all)
  const inProcess = await timeInProcess(plan.inProcess)
  const memories = { memory, idle, busy, disk }
  return { scaleRatio, tails, programs, starts, ...memories, ...inChild, workers, inProcess }
}

// The heap bytes of one idle connection, by adapter and number of connections. Frameworks only have the smallest number.
async function measureIdle(adapters) {
  const idle = {}
  for (const adapter of adapters) {
    const counts = OWN.includes(adapter) ? plan.idleConnections : plan.idleConnections.slice(0, 1)
    idle[adapter] = {}
    for (const count of counts) {
      idle[adapter][count] = await heapOfIdleConnections(adapter, count, serverCore)
    }
  }
  return idle
}

async function diskSizeOf(adapter) {
  const { packages } = await import(`./adapters/${adapter}.js`)
  return packages.includes('portico') ? packedSize() : installedSize(packages)
}

// In a child process, because --expose-gc must be set at the start of a process.
function measureScaleInChild() {
  const entry = fileURLToPath(new URL('scale.js', import.meta.url))
  return messageOf(fork(entry, plan.quick ? ['--quick'] : [], { execArgv: ['--expose-gc'] }))
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

function logProgress(text) {
  process.stderr.write(`${process.version} ${text}\n`)
}
