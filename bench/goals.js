// The goals of the project. CPU per request is the median ratio to bare `node:http`. run.js checks the goals.

const MIB = 1_048_576
const KIB = 1_024
const MAX_CPU_RATIOS = { W1: 1.05, W2: 1.03, W3: 1, W4: 0.6 }

/** Returns each goal with its figure and its limit, and whether it is reached. Goals without a figure are left out. */
export function checkGoals(results) {
  return [...cpuGoals(results), ...frameworkGoals(results), ...otherGoals(results)].map((goal) => ({
    ...goal,
    reached: goal.strict ? goal.figure < goal.limit : goal.figure <= goal.limit,
  }))
}

function cpuGoals({ cpu, scaleRatio }) {
  const goals = Object.entries(MAX_CPU_RATIOS)
    .filter(([id]) => cpu[id]?.portico !== undefined)
    .map(([id, limit]) =>
      goal(`CPU per request, ${id} / bare`, cpu[id].portico.ratio.median, limit),
    )
  if (scaleRatio !== undefined) {
    goals.push(goal('CPU per request, W5 / W1', scaleRatio.ratio.median, 1.01))
  }
  return goals
}

function frameworkGoals({ cpu }) {
  return Object.entries(cpu).flatMap(([id, figures]) => {
    const { portico, bare: _, ...others } = figures
    const [best] = Object.entries(others)
      .filter(([adapter]) => !adapter.startsWith('portico-'))
      .sort(([, a], [, b]) => a.ratio.median - b.ratio.median)
    if (portico === undefined || best === undefined) return []
    const [name, { ratio }] = best
    const title = `CPU per request, ${id}, less than the best framework (${name})`
    return [strictGoal(title, portico.ratio.median, ratio.median)]
  })
}

function otherGoals({ starts, memory, disk, inProcess }) {
  const aboveBare = (figures) => figures.portico - figures.bare
  const goals = []
  if (hasBoth(starts)) {
    goals.push(goal('Start to first response, above bare, ms', aboveBare(starts), 15))
  }
  if (hasBoth(memory)) {
    goals.push(goal('Memory after load, above bare, MiB', aboveBare(memory) / MIB, 8))
  }
  if (disk.portico) {
    goals.push(goal('Packages installed', disk.portico.packages, 1))
    goals.push(strictGoal('KiB installed', disk.portico.bytes / KIB, 300))
  }
  if (inProcess) goals.push(strictGoal('W1 in process, ns', inProcess.median, 1_000))
  return goals
}

function hasBoth(figures) {
  return figures?.portico !== undefined && figures.bare !== undefined
}

/** A goal whose figure may be equal to the limit. */
function goal(title, figure, limit) {
  return { title, figure, limit }
}

/** A goal whose figure must be less than the limit. */
function strictGoal(title, figure, limit) {
  return { title, figure, limit, strict: true }
}
