// The goals of the project, for each version of Node. CPU per request is the median ratio to bare `node:http` of that version.

const MIB = 1_048_576
const KIB = 1_024
const CPU_RATIOS = {
  portico: { W1: 0.95, W2: 0.95, W3: 0.88, W4p: 0.92, W4: 0.62 },
  'portico-serve': { W1: 0.97, W2: 0.97, W3: 0.92, W4p: 0.95, W4: 0.65 },
}
// Servers that add something to another one. In W1, the ratio may grow by MAX_ADDITION.
const ADDITIONS = { 'portico-metrics': 'portico-serve', 'portico-plugin': 'portico' }
const MAX_ADDITION = 0.02
// Newer versions load code from a cache that Node 20 does not have.
const START_ABOVE_BARE_MS = { 20: 10, default: 8 }

/** Returns each goal with its figure and its limit, and whether it is reached. Goals without a figure are left out. */
export function checkGoals(results) {
  const goals = [
    ...cpuGoals(results),
    ...additionGoals(results),
    ...frameworkGoals(results),
    ...(results.tails === undefined ? [] : otherGoals(results)),
  ]
  return goals.map((goal) => ({
    ...goal,
    reached: goal.strict ? goal.figure < goal.limit : goal.figure <= goal.limit,
  }))
}

function cpuGoals({ cpu }) {
  return Object.entries(CPU_RATIOS).flatMap(([adapter, limits]) =>
    Object.entries(limits)
      .filter(([id]) => cpu[id]?.[adapter] !== undefined)
      .map(([id, limit]) => goal(`${adapter}, ${id} / bare`, cpu[id][adapter].ratio.median, limit)),
  )
}

function additionGoals({ cpu: { W1 = {} } }) {
  return Object.entries(ADDITIONS)
    .filter(([adapter, base]) => W1[adapter] !== undefined && W1[base] !== undefined)
    .map(([adapter, base]) => {
      const added = W1[adapter].ratio.median - W1[base].ratio.median
      return goal(`${adapter}, W1 / bare, above ${base}`, added, MAX_ADDITION)
    })
}

function frameworkGoals({ cpu }) {
  return Object.entries(cpu).flatMap(([id, figures]) => {
    const { portico } = figures
    // The frameworks read the parameters in W4 too.
    const others = Object.entries(id === 'W4p' ? (cpu.W4 ?? {}) : figures)
    const [best] = others
      .filter(([adapter]) => adapter !== 'bare' && !adapter.startsWith('portico'))
      .sort(([, a], [, b]) => a.ratio.median - b.ratio.median)
    if (portico === undefined || best === undefined) return []
    const [name, { ratio }] = best
    const title = `portico, ${id}, below the best framework (${name})`
    return [strictGoal(title, portico.ratio.median, ratio.median)]
  })
}

function otherGoals({ machine, scaleRatio, tails, programs, memory, busy, idle, disk, inProcess }) {
  const [major] = machine.node.slice(1).split('.')
  const { bare, portico } = tails.rows
  return [
    goal('portico, W5 / W1', scaleRatio.ratio.median, 1.01),
    goal('p99 at 70 % of the capacity of bare, / bare', portico.p99 / bare.p99, 1),
    goal(
      'Start to first response, above bare, ms',
      programs.portico - programs.bare,
      START_ABOVE_BARE_MS[major] ?? START_ABOVE_BARE_MS.default,
    ),
    goal('Memory after 20,000 requests, above bare, MiB', aboveBare(memory) / MIB, 8),
    ...busy.bare.steps.map(({ requests, bytes }, i) =>
      goal(
        `Memory after ${requests} requests of 64 connections, above bare, MiB`,
        (busy['portico-serve'].steps[i].bytes - bytes) / MIB,
        8,
      ),
    ),
    ...Object.entries(idle['portico-serve']).map(([count, bytes]) =>
      goal(`Heap of each of ${count} idle connections, / bare`, bytes / idle.bare[count], 1.2),
    ),
    goal('Packages installed', disk.portico.packages, 1),
    strictGoal('KiB installed', disk.portico.bytes / KIB, 430),
    strictGoal('W1 in process, ns', inProcess.median, 1_000),
  ]
}

function aboveBare(figures) {
  return figures.portico - figures.bare
}

/** A goal whose figure may be equal to the limit. */
function goal(title, figure, limit) {
  return { title, figure, limit }
}

/** A goal whose figure must be less than the limit. */
function strictGoal(title, figure, limit) {
  return { title, figure, limit, strict: true }
}
