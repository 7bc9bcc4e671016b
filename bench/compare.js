import { setTimeout as delay } from 'node:timers/promises'
import { Load } from './load.js'
import { ServerProcess } from './process.js'
import { checkBytes } from './same-bytes.js'
import { median, summary } from './statistics.js'
import { workloads } from './workloads.js'

// Who needs seconds for a slice is known well enough after three pairs.
const LONGEST_MS = 6_000
const LEAST_SLICES = 3
// For what a server still does when its last answer is out.
const SETTLE_MS = 2

/**
 * Measures two servers against each other: both live and warm at the same moment, on the same core,
 * loaded in slices that alternate. Each round has fresh processes, since luck with memory and with the
 * compiler stays with a process.
 *
 * @param one An adapter and a workload, such as `{ adapter: 'portico', workload: 'W1' }`; the one that
 *   takes longer to start.
 * @param plan `rounds`, `slices` of each per round, `sliceMs`, `warmRequests` and `warmMs`.
 */
export async function compare(one, other, plan, core) {
  const slices = []
  for (let round = 0; round < plan.rounds; round++) {
    slices.push(...(await compareTwice(one, other, plan, core)))
  }
  return {
    ratio: summary(slices.map(([a, b]) => a.cpuNs / b.cpuNs)),
    one: figuresOf(slices.map(([a]) => a)),
    other: figuresOf(slices.map(([, b]) => b)),
  }
}

// Once more where a connection broke; not where the answer was a wrong one.
async function compareTwice(...args) {
  try {
    return await compareOnce(...args)
  } catch (error) {
    if (error.code === 'ERR_ASSERTION') throw error
    process.stderr.write(`${args[0].adapter} ${args[0].workload} once more: ${error.message}\n`)
    return compareOnce(...args)
  }
}

async function compareOnce(one, other, plan, core) {
  const open = []
  try {
    // The one with the longer start first, so that none waits idle: after 8 such seconds V8 collects and shrinks
    // the heap, and bare node:http is up to 20 % slower for good (fastify takes as long for 50,000 routes).
    for (const subject of [one, other]) open.push(await Subject.open(subject, core))
    const [a, b] = open
    await a.warm(plan)
    await b.warm(plan)
    return await alternate(a, b, plan)
  } finally {
    await Promise.all(open.map((subject) => subject.close()))
  }
}

// A B, B A, A B, ...: so that neither gains by its place.
async function alternate(a, b, { slices }) {
  const pairs = []
  const until = performance.now() + LONGEST_MS
  for (let i = 0; i < slices; i++) {
    if (i >= LEAST_SLICES && performance.now() > until) break
    if (i % 2 === 0) {
      const first = await a.slice()
      pairs.push([first, await b.slice()])
    } else {
      const first = await b.slice()
      pairs.push([await a.slice(), first])
    }
  }
  return pairs
}

/** A server under load. */
class Subject {
  #server
  #load
  #requests = 1

  static async open({ adapter, workload, controllers }, core) {
    const subject = new Subject()
    subject.#server = await ServerProcess.start(adapter, workload, { core, controllers })
    try {
      await checkBytes(adapter, workload, subject.#server.port)
      subject.#load = await Load.open(subject.#server.port, workloads[workload].request)
    } catch (error) {
      await subject.#server.stop()
      throw error
    }
    return subject
  }

  /** Until the code is compiled; then finds how many requests a slice has. */
  async warm({ warmMs, warmRequests, sliceMs }) {
    await this.#load.runFor(warmMs, warmRequests)
    const startedAt = performance.now()
    const requests = await this.#load.runFor(sliceMs)
    const perMs = requests / (performance.now() - startedAt)
    this.#requests = Math.max(1, Math.round(perMs * sliceMs))
  }

  async slice() {
    const before = await this.#server.cpuNs()
    const ms = await this.#load.run(this.#requests)
    await delay(SETTLE_MS)
    const after = await this.#server.cpuNs()
    return {
      cpuNs: (after - before) / this.#requests,
      requestsPerSecond: (this.#requests / ms) * 1_000,
    }
  }

  async close() {
    this.#load.close()
    await this.#server.stop()
  }
}

function figuresOf(slices) {
  return {
    cpuNs: median(slices.map(({ cpuNs }) => cpuNs)),
    requestsPerSecond: median(slices.map(({ requestsPerSecond }) => requestsPerSecond)),
  }
}
