// Measures time and memory by the number of controllers and of named routes, and the cost of a report, in process and after a build:
//
//   node --expose-gc bench/scale.js [--quick]

import { fileURLToPath } from 'node:url'
import { FrontController, HttpRequest } from '../dist/lib/index.js'
import { timeRequests } from './in-process.js'
import { logger } from './reports.js'
import { median } from './statistics.js'
import { SIGN_IN_TARGET } from './workloads.js'

const SIZES = [10, 100, 1_000, 10_000, 100_000]
const ROUTE_COUNTS = [0, 20, 500]
// The number of URLs that are requested in turn, evenly distributed over the Map.
const MAX_URLS = 1_000
// Less than the number of kinds that are logged in full in one minute.
const KINDS = 60

/** Returns for each number of controllers: nanoseconds for one URL, for 1,000 URLs in turn, and memory. */
export async function measureScale({ sizes, requests, rounds }) {
  const figures = []
  for (const controllers of sizes) {
    const map = createControllers(controllers)
    const before = heapUsed()
    const front = new FrontController({ controllers: map })
    const bytesEach = (heapUsed() - before) / controllers
    const names = [...map.keys()]
    const step = Math.max(1, Math.floor(controllers / MAX_URLS))
    const spread = names.filter((_, i) => i % step === 0).map((name) => `/${name}/list`)
    const one = [`/${names[controllers >> 1]}/list`]
    figures.push({
      controllers,
      bytesEach,
      oneNs: await medianTime(front, one, requests, rounds),
      spreadNs: await medianTime(front, spread, requests, rounds),
    })
  }
  return figures
}

/** Returns for each number of named routes the nanoseconds of a request that none of them matches. */
export async function measureRoutes({ requests, rounds }) {
  const figures = []
  for (const count of ROUTE_COUNTS) {
    const controllers = createControllers(20)
    const front = new FrontController({ controllers, routes: createRoutes(count) })
    figures.push({ routes: count, ns: await medianTime(front, ['/c10/list'], requests, rounds) })
  }
  return figures
}

/** Returns the nanoseconds that a report adds to a request without a controller: for the first one of a kind, and for later ones. */
export async function measureReports({ rounds, warm = 5 }) {
  const firsts = []
  const laters = []
  // These rounds are not measured: V8 compiles the code first.
  for (let i = 0; i < warm; i++) await reportOnce()
  for (let i = 0; i < rounds; i++) {
    const { first, later } = await reportOnce()
    firsts.push(first)
    laters.push(later)
  }
  return { firstNs: median(firsts), laterNs: median(laters) }
}

async function reportOnce() {
  const fronts = [new FrontController(), new FrontController({ logger })]
  const kinds = Array.from({ length: KINDS }, (_, i) =>
    SIGN_IN_TARGET.replace('n', `n-${letters(i)}`),
  )
  const [silent, logged] = await timeBoth(fronts, kinds, KINDS)
  await timeErrors(fronts[1], [SIGN_IN_TARGET], 10_000)
  const [uncounted, counted] = await timeBoth(fronts, [SIGN_IN_TARGET], 2_000)
  for (const front of fronts) front.flush()
  return { first: logged - silent, later: counted - uncounted }
}

async function timeBoth([one, other], targets, requests) {
  return [await timeErrors(one, targets, requests), await timeErrors(other, targets, requests)]
}

async function timeErrors(front, targets, requests) {
  const startedAt = process.hrtime.bigint()
  for (let i = 0; i < requests; i++) {
    await front.handle(new HttpRequest({ target: targets[i % targets.length] }))
  }
  return Number(process.hrtime.bigint() - startedAt) / requests
}

async function medianTime(front, targets, requests, rounds) {
  await timeRequests(front, targets, requests)
  const ns = []
  for (let i = 0; i < rounds; i++) ns.push(await timeRequests(front, targets, requests))
  return median(ns)
}

function createControllers(count) {
  const list = (_, response) => response.json({ ok: true })
  const other = (_, response) => response.json({ ok: false })
  const create = () => ({ list, view: other, save: other, edit: other, remove: other })
  return new Map(Array.from({ length: count }, (_, i) => [`c${i}`, create()]))
}

function createRoutes(count) {
  const defaults = { controller: 'c0', action: 'view' }
  const route = (i) => ({ path: `/articles-${i}/:id`, defaults })
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`route${i}`, route(i)]))
}

function letters(i) {
  return String.fromCharCode(97 + Math.floor(i / 26), 97 + (i % 26))
}

function heapUsed() {
  // A second collection frees objects that the first one only made unreachable (weak references, finalizers).
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const quick = process.argv.includes('--quick')
  const length = quick ? { requests: 2_000, rounds: 1 } : { requests: 100_000, rounds: 5 }
  const scale = await measureScale({ ...length, sizes: quick ? [10, 10_000] : SIZES })
  const routes = await measureRoutes(length)
  const reports = await measureReports(quick ? { rounds: 1, warm: 0 } : { rounds: 15 })
  const figures = { scale, routes, reports }
  // run.js starts this file as a child process, and gets a message.
  if (process.send) process.send(figures)
  else console.log(JSON.stringify(figures, null, 2))
}
