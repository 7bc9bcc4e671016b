// Reads the arguments of the benchmark into a plan: the adapters, the workloads, and the length of each measurement.

import { parseArgs } from 'node:util'
import { frameworkIds } from './workloads.js'

const ADAPTERS = [
  'bare',
  'portico',
  'portico-serve',
  'portico-metrics',
  'fastify',
  'express',
  'koa',
  'polka',
  'hono',
  'h3',
]

const WARM = { warmMs: 1_500, warmRequests: 20_000 }

const FULL = {
  // For Portico and the control, whose goals need more precision. Figures differ more between processes
  // than between slices, so more processes help more than more slices.
  fine: { rounds: 15, slices: 6, sliceMs: 120, ...WARM },
  // For the frameworks.
  coarse: { rounds: 3, slices: 5, sliceMs: 100, ...WARM },
  // Controllers in W5; undefined for the number of the workload.
  controllers: undefined,
  starts: 20,
  memory: { requests: 20_000, processes: 3 },
  idleConnections: 1_000,
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
  idleConnections: 100,
  workerMs: 200,
  inProcess: { rounds: 3, requests: 10_000 },
}

/**
 * Reads the plan from the arguments `--quick`, `--write`, `--only a,b` and `--workloads W1,W4`.
 *
 * @throws {TypeError | RangeError} If an argument is unknown, or if --write is combined with another argument.
 */
export function readPlan(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      only: { type: 'string' },
      workloads: { type: 'string' },
    },
  })
  const adapters = selected(values.only, ADAPTERS)
  const ids = selected(values.workloads, frameworkIds)
  // Only a whole run measures every figure that the goals need.
  const whole = values.only === undefined && values.workloads === undefined
  if (values.write && (values.quick || !whole)) {
    throw new RangeError('Expected --write without other arguments: only a whole run is published')
  }
  return {
    ...(values.quick ? QUICK : FULL),
    quick: values.quick,
    write: values.write,
    adapters,
    ids,
    whole,
  }
}

function selected(list, all) {
  if (list === undefined) return all
  const names = list.split(',')
  const unknown = names.find((name) => !all.includes(name))
  if (unknown !== undefined) throw new RangeError(`Expected one of ${all}, got "${unknown}"`)
  return all.filter((name) => names.includes(name))
}
