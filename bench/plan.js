import { parseArgs } from 'node:util'
import { workloads } from './workloads.js'

export const ADAPTERS = [
  'portico',
  'portico-serve',
  'fastify',
  'express',
  'koa',
  'polka',
  'hono',
  'h3',
]

const WARM = { warmMs: 1_500, warmRequests: 20_000 }

// The project and the control are measured longer than the peers: their goals are finer.
const FULL = {
  // Luck stays with a process, so many processes say more than many slices.
  fine: { rounds: 15, slices: 6, sliceMs: 120, ...WARM },
  coarse: { rounds: 3, slices: 5, sliceMs: 100, ...WARM },
  // Of W5: its own number.
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
  // Some peers need ten seconds to register 50,000 routes.
  controllers: 200,
  starts: 1,
  memory: { requests: 500, processes: 1 },
  idleConnections: 100,
  workerMs: 200,
  inProcess: { rounds: 3, requests: 10_000 },
}

/** What is to be done, by the arguments: `--quick`, `--write`, `--only a,b`, `--workloads W1,W4`. */
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
  const adapters = chosen(values.only, ['bare', ...ADAPTERS])
  const ids = chosen(values.workloads, Object.keys(workloads))
  // A part of it can't reach every goal.
  const whole = values.only === undefined && values.workloads === undefined
  if (values.write && (values.quick || !whole)) {
    throw new RangeError('Expected --write alone: only a whole run is published')
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

function chosen(list, all) {
  if (list === undefined) return all
  const names = list.split(',')
  const unknown = names.find((name) => !all.includes(name))
  if (unknown !== undefined) throw new RangeError(`Expected one of ${all}, got "${unknown}"`)
  return all.filter((name) => names.includes(name))
}
