// What the project has promised. CPU per request is against bare `node:http`, by the median.

const MIB = 1_048_576
const KIB = 1_024
const CPU = { W1: 1.05, W2: 1.03, W3: 1, W4: 0.6 }

/** Each goal with its figure; a goal whose figure was not measured is left out. */
export function checkGoals(results) {
  return [...cpuGoals(results), ...peerGoals(results), ...otherGoals(results)].map((goal) => ({
    ...goal,
    reached: goal.strict ? goal.figure < goal.limit : goal.figure <= goal.limit,
  }))
}

function cpuGoals({ cpu, scaleRatio }) {
  const goals = Object.entries(CPU)
    .filter(([id]) => cpu[id]?.portico !== undefined)
    .map(([id, limit]) =>
      goal(`CPU per request, ${id} / bare`, cpu[id].portico.ratio.median, limit),
    )
  const ratio = scaleRatio?.ratio.median
  return ratio === undefined ? goals : [...goals, goal('CPU per request, W5 / W1', ratio, 1.01)]
}

function peerGoals({ cpu }) {
  return Object.entries(cpu).flatMap(([id, { portico, bare, 'portico-serve': _, ...peers }]) => {
    const [best] = Object.entries(peers).sort(([, a], [, b]) => a.ratio.median - b.ratio.median)
    if (portico === undefined || best === undefined) return []
    const [name, { ratio }] = best
    const title = `CPU per request, ${id}, below the best framework (${name})`
    return [{ ...goal(title, portico.ratio.median, ratio.median), strict: true }]
  })
}

function otherGoals({ starts, memory, disk, inProcess }) {
  const over = (figures) => figures.portico - figures.bare
  const goals = []
  if (isPair(starts)) goals.push(goal('Start to first answer, over bare, ms', over(starts), 15))
  if (isPair(memory)) goals.push(goal('Memory after load, over bare, MiB', over(memory) / MIB, 8))
  if (disk.portico) {
    goals.push(goal('Packages installed', disk.portico.packages, 1))
    goals.push({ ...goal('KiB installed', disk.portico.bytes / KIB, 300), strict: true })
  }
  if (inProcess) {
    goals.push({ ...goal('W1 in process, ns', inProcess.median, 1_000), strict: true })
  }
  return goals
}

function isPair(figures) {
  return figures?.portico !== undefined && figures.bare !== undefined
}

function goal(title, figure, limit) {
  return { title, figure, limit }
}
