// The benchmark: npm run bench -- [--quick] [--write] [--only a,b] [--workloads W1,W4]
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
  installed,
  packed,
  residentAfterLoad,
  timeStarts,
} from './resources.js'
import { compareWorkers } from './workers.js'

const plan = readPlan(process.argv.slice(2))
const machine = describeMachine()
const cores = divideCores()
// A short round is not exact anyhow, and two cores start two servers sooner.
const core = plan.quick ? cores?.all : cores?.server
const results = await measure()
const goals = checkGoals(results)
report()

async function measure() {
  const cpu = {}
  for (const id of plan.ids) cpu[id] = await measureWorkload(id)
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: { ...machine, pinned: cores !== undefined && !plan.quick },
    versions: versions(),
    cpu,
    ...(plan.whole ? await measureRest() : { disk: {} }),
  }
}

async function measureWorkload(id) {
  const figures = {}
  for (const adapter of plan.adapters) {
    // A short round has no noise to be judged.
    if (plan.quick && adapter === 'bare') continue
    const depth = isFine(adapter) ? plan.fine : plan.coarse
    const [one, bare] = [subject(adapter, id), subject('bare', id)]
    figures[adapter] = await compare(one, bare, depth, core)
    const { ratio } = figures[adapter]
    tell(
      `${id} ${adapter}: ${ratio.median.toFixed(3)} of bare, ${Math.round(figures[adapter].one.cpuNs)} ns`,
    )
  }
  return figures
}

async function measureRest() {
  tell('W5 against W1')
  const [large, small] = [subject('portico', 'W5'), subject('portico', 'W1')]
  const scaleRatio = await compare(large, small, plan.fine, core)
  tell('Time to the first answer')
  const adapters = plan.quick ? ['bare', 'portico'] : plan.adapters
  const starts = await timeStarts(adapters, plan.starts, core)
  tell('Memory')
  const memory = {}
  const idle = {}
  const disk = {}
  for (const adapter of adapters) {
    memory[adapter] = await residentAfterLoad(adapter, plan.memory, core)
    idle[adapter] = await heapOfIdleConnections(adapter, plan.idleConnections, core)
    disk[adapter] = await diskOf(adapter)
  }
  tell('Scale')
  const { scale, reports } = await askScale()
  const workers = await compareWorkers([1, 2], plan.workerMs, cores?.all)
  const inProcess = await timeInProcess(plan.inProcess)
  return { scaleRatio, starts, memory, idle, disk, scale, reports, workers, inProcess }
}

async function diskOf(adapter) {
  const { packages } = await import(`./adapters/${adapter}.js`)
  return packages.includes('portico') ? packed() : installed(packages)
}

async function askScale() {
  const entry = fileURLToPath(new URL('scale.js', import.meta.url))
  const child = fork(entry, plan.quick ? ['--quick'] : [], { execArgv: ['--expose-gc'] })
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`scale.js has ended with ${code}`)
  })
  const [figures] = await Promise.race([once(child, 'message'), exited])
  exited.catch(() => {})
  return figures
}

function report() {
  // What a short round measures is noise.
  const checked = plan.quick ? [] : goals
  console.log(`\n${tables(results)}\n\n${goalTable(checked)}`)
  if (plan.write) {
    writeResults({ ...results, goals })
    writeDocs(results, goals)
  }
  process.exit(plan.whole && checked.some(({ reached }) => !reached) ? 1 : 0)
}

function versions() {
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

function isFine(adapter) {
  return adapter === 'portico' || adapter === 'bare'
}

function tell(text) {
  process.stderr.write(`${text}\n`)
}
