// Compares the CPU time per request of two servers. run.js uses it for every pair of adapters.

import { setTimeout as delay } from 'node:timers/promises'
import { Load } from './load.js'
import { ServerProcess } from './process.js'
import { checkResponse } from './same-bytes.js'
import { median, summary } from './statistics.js'
import { workloads } from './workloads.js'

// A slow server needs seconds for one slice; three pairs of slices are enough for it.
const MAX_ROUND_MS = 6_000
const MIN_SLICES = 3
// Time for the work that a server does after its last response.
const SETTLE_MS = 2

/**
 * Compares two servers. Both run and are warm at the same time, on the same core, and get load in alternating slices.
 * Each round uses fresh processes, because the memory layout and the compiled code differ between processes.
 *
 * @param one An adapter and a workload, such as `{ adapter: 'portico', workload: 'W1' }`. It must be the server that
 *   takes longer to start.
 * @param other The other server, in the same form.
 * @param plan `rounds`, `slices` of each server per round, `sliceMs`, `warmRequests` and `warmMs`.
 * @param core The core for both servers; undefined for no binding.
 */
export async function compare(one, other, plan, core) {
  const pairs = []
  for (let round = 0; round < plan.rounds; round++) {
    pairs.push(...(await compareWithRetry(one, other, plan, core)))
  }
  return {
    ratio: summary(pairs.map(([a, b]) => a.cpuNs / b.cpuNs)),
    one: mediansOf(pairs.map(([a]) => a)),
    other: mediansOf(pairs.map(([, b]) => b)),
  }
}

// Repeats a round after a broken connection, but not after a wrong response.
async function compareWithRetry(one, other, plan, core) {
  try {
    return await compareOnce(one, other, plan, core)
  } catch (error) {
    if (error.code === 'ERR_ASSERTION') throw error
    process.stderr.write(`Repeating ${one.adapter} ${one.workload}: ${error.message}\n`)
    return compareOnce(one, other, plan, core)
  }
}

async function compareOnce(one, other, plan, core) {
  const open = []
  try {
    // The slower start comes first, so that no server waits idle. After 8 idle seconds V8 collects garbage and shrinks the heap,
    // and bare node:http then stays up to 20 % slower. fastify takes that long for 50,000 routes.
    for (const subject of [one, other]) open.push(await Subject.open(subject, core))
    const [a, b] = open
    await a.warm(plan)
    await b.warm(plan)
    return await alternate(a, b, plan)
  } finally {
    await Promise.all(open.map((subject) => subject.close()))
  }
}

// The order is A B, B A, A B, ..., so that no server has an advantage from its position.
async function alternate(a, b, { slices }) {
  const pairs = []
  const deadline = performance.now() + MAX_ROUND_MS
  for (let i = 0; i < slices; i++) {
    if (i >= MIN_SLICES && performance.now() > deadline) break
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
  #requestsPerSlice = 1

  static async open({ adapter, workload, controllers }, core) {
    const subject = new Subject()
    subject.#server = await ServerProcess.start(adapter, workload, { core, controllers })
    try {
      await checkResponse(adapter, workload, subject.#server.port)
      subject.#load = await Load.open(subject.#server.port, workloads[workload].request)
    } catch (error) {
      await subject.#server.stop()
      throw error
    }
    return subject
  }

  /** Sends requests until V8 has compiled the code, and then computes the number of requests per slice. */
  async warm({ warmMs, warmRequests, sliceMs }) {
    await this.#load.runFor(warmMs, warmRequests)
    const startedAt = performance.now()
    const requests = await this.#load.runFor(sliceMs)
    const requestsPerMs = requests / (performance.now() - startedAt)
    this.#requestsPerSlice = Math.max(1, Math.round(requestsPerMs * sliceMs))
  }

  /** Sends the requests of one slice, and returns the CPU time per request and the requests per second. */
  async slice() {
    const before = await this.#server.cpuNs()
    const ms = await this.#load.run(this.#requestsPerSlice)
    await delay(SETTLE_MS)
    const after = await this.#server.cpuNs()
    return {
      cpuNs: (after - before) / this.#requestsPerSlice,
      requestsPerSecond: (this.#requestsPerSlice / ms) * 1_000,
    }
  }

  async close() {
    this.#load.close()
    await this.#server.stop()
  }
}

function mediansOf(slices) {
  return {
    cpuNs: median(slices.map(({ cpuNs }) => cpuNs)),
    requestsPerSecond: median(slices.map(({ requestsPerSecond }) => requestsPerSecond)),
  }
}
