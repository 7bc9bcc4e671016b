// Reads the arguments of the benchmark into a plan: the adapters, the workloads, and the length of each measurement.

import { parseArgs } from 'node:util'

/** The adapters of Portico, with the workloads of each. */
const OWN = {
  bare: ['W1', 'W2', 'W3', 'W4', 'W4p', 'W5', 'S1'],
  portico: ['W1', 'W2', 'W3', 'W4', 'W4p', 'W5', 'S1'],
  'portico-serve': ['W1', 'W2', 'W3', 'W4', 'W4p', 'W5'],
  'portico-metrics': ['W1', 'W4', 'W4p'],
  'portico-plugin': ['W1'],
  'portico-public': ['W1'],
  'portico-session': ['S1'],
}
const FRAMEWORK_WORKLOADS = ['W1', 'W2', 'W3', 'W4', 'W5']
// From the first to the last to start: comparing starts the last one first, so that no server waits idle.
const FRAMEWORKS = ['polka', 'h3', 'hono', 'express', 'koa', 'fastify']

const ADAPTERS = [...Object.keys(OWN), ...FRAMEWORKS]
const WORKLOADS = OWN.bare

// V8 still compiles for about 32,000 requests, and a server with more code for longer: after 20,000, W4p of Portico took 1.44 of
// bare node:http on Node 26, and after 40,000 between 1.2 and 1.31.
export const WARM = { warmMs: 4_000, warmRequests: 40_000 }

const FULL = {
  // For Portico and the control, whose goals need more precision. Figures differ more between processes
  // than between slices, so more processes help more than more slices.
  fine: { rounds: 6, slices: 8, sliceMs: 80, ...WARM },
  // For the frameworks.
  coarse: { rounds: 2, slices: 6, sliceMs: 80, ...WARM },
  // Controllers in W5; undefined for the number of the workload.
  controllers: undefined,
  starts: 15,
  memory: { requests: 20_000, processes: 2 },
  idleConnections: [1_000, 9_900],
  // Of 64 busy connections, the heap is read after the last number.
  busy: { connections: 64, steps: [20_000, 100_000, 1_000_000] },
  tails: { rounds: 3, turns: 4, turnMs: 1_000, share: 0.7, warmRequests: WARM.warmRequests },
  workerMs: 3_000,
  inProcess: { rounds: 15, requests: 200_000 },
}

const SHORT = { rounds: 1, slices: 1, sliceMs: 15, warmMs: 30, warmRequests: 500 }

const QUICK = {
  fine: SHORT,
  coarse: SHORT,
  // Some frameworks need ten seconds to register 50,000 routes.
  controllers: 200,
  starts: 1,
  memory: { requests: 500, processes: 1 },
  idleConnections: [100],
  busy: { connections: 64, steps: [500, 1_000] },
  tails: { rounds: 1, turns: 1, turnMs: 50, share: 0.3, warmRequests: 500 },
  workerMs: 200,
  inProcess: { rounds: 3, requests: 10_000 },
}

/**
 * Reads the plan from the arguments `--quick`, `--write`, `--only a,b`, `--workloads W1,W4` and `--node 20,24`.
 *
 * @throws {TypeError | RangeError} If an argument is unknown, or if --write is combined with a part of the benchmark.
 */
export function readPlan(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      only: { type: 'string' },
      workloads: { type: 'string' },
      node: { type: 'string' },
    },
  })
  const adapters = selected(values.only, ADAPTERS)
  const ids = selected(values.workloads, WORKLOADS)
  // Only a whole run measures every figure that the goals need.
  const whole = values.only === undefined && values.workloads === undefined
  if (values.write && (values.quick || !whole)) {
    throw new RangeError('Expected --write without other arguments: only a whole run is published')
  }
  return {
    ...(values.quick ? QUICK : FULL),
    quick: values.quick,
    write: values.write,
    nodes: versions(values.node),
    groups: ids.flatMap((id) => groupsOf(id, adapters)),
    adapters,
    whole,
  }
}

// Returns what is compared in one workload: Portico's adapters, and the frameworks, each with bare node:http.
function groupsOf(id, adapters) {
  const own = adapters.filter((adapter) => OWN[adapter]?.includes(id))
  const frameworks = FRAMEWORK_WORKLOADS.includes(id)
    ? adapters.filter((adapter) => FRAMEWORKS.includes(adapter))
    : []
  return [
    { id, adapters: own, length: 'fine' },
    { id, adapters: frameworks, length: 'coarse' },
  ].filter((group) => group.adapters.length > 0)
}

function versions(list) {
  const numbers = (list ?? process.versions.node.split('.')[0]).split(',')
  const wrong = numbers.find((number) => !/^\d+$/.test(number))
  if (wrong !== undefined) throw new RangeError(`Expected --node 20,24,26, got "${wrong}"`)
  return numbers
}

function selected(list, all) {
  if (list === undefined) return all
  const names = list.split(',')
  const unknown = names.find((name) => !all.includes(name))
  if (unknown !== undefined) throw new RangeError(`Expected one of ${all}, got "${unknown}"`)
  return all.filter((name) => names.includes(name))
}
