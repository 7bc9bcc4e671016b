// Compares the CPU time per request of several servers with that of one of them. measure.js uses it for every workload.

import { setTimeout as delay } from 'node:timers/promises'
import { Load } from './load.js'
import { ServerProcess } from './process.js'
import { checkResponse } from './same-bytes.js'
import { median, summary } from './statistics.js'
import { requestOf } from './workloads.js'

const CONNECTIONS = 64
// A server gets its first load in short parts, in turn with the others, so that none is idle for long. After 8 idle seconds V8
// collects garbage and shrinks the heap, and bare node:http then stays up to 20 % slower.
const WARM_PARTS = 5
// Time for the work that a server does after its last response.
const SETTLE_MS = 2

/**
 * Compares servers with the first one. All run and are warm at the same time, on the same core, and get load in turn.
 * Each round uses fresh processes, because the memory layout and the compiled code differ between processes.
 *
 * @param subjects Adapters with a workload, such as `{ adapter: 'bare', workload: 'W1' }`. One that starts slowly is last.
 * @param plan `rounds`, `slices` of each server per round, `sliceMs`, `warmRequests` and `warmMs`.
 * @param core The core for all servers; undefined for no binding.
 * @returns For each other subject its `ratio` to the first one, `one` for its own figures and `other` for the first one's.
 */
export async function compare(subjects, plan, core) {
  const turns = []
  for (let round = 0; round < plan.rounds; round++) {
    turns.push(...(await compareWithRetry(subjects, plan, core)))
  }
  const base = turns.map(([first]) => first)
  return subjects.slice(1).map((_, i) => {
    const own = turns.map((turn) => turn[i + 1])
    const ratio = summary(own.map(({ cpuNs }, turn) => cpuNs / base[turn].cpuNs))
    return { ratio, one: mediansOf(own), other: mediansOf(base) }
  })
}

// Repeats a round after a broken connection, but not after a wrong response.
async function compareWithRetry(subjects, plan, core) {
  try {
    return await compareOnce(subjects, plan, core)
  } catch (error) {
    if (error.code === 'ERR_ASSERTION') throw error
    process.stderr.write(`Repeating ${subjects[0].workload}: ${error.message}\n`)
    return compareOnce(subjects, plan, core)
  }
}

async function compareOnce(subjects, plan, core) {
  const servers = []
  try {
    for (const subject of subjects.toReversed()) servers.unshift(await Subject.open(subject, core))
    for (let part = 0; part < WARM_PARTS; part++) {
      for (const server of servers) await server.warm(plan)
    }
    return await takeTurns(servers, plan)
  } finally {
    await Promise.all(servers.map((server) => server.close()))
  }
}

// Every second turn has the reverse order, so that no server has an advantage from its position.
async function takeTurns(servers, { slices }) {
  const turns = []
  for (let turn = 0; turn < slices; turn++) {
    const order = [...servers.keys()]
    if (turn % 2 === 1) order.reverse()
    const figures = []
    for (const i of order) figures[i] = await servers[i].slice()
    turns.push(figures)
  }
  return turns
}

/** A server under load. */
class Subject {
  #server
  #load
  #requestsPerSlice = 1

  static async open({ adapter, workload, controllers }, core) {
    const subject = new Subject()
    subject.#server = await ServerProcess.start(adapter, workload, { core, controllers })
    const { port } = subject.#server
    try {
      await checkResponse(adapter, workload, port)
      subject.#load = await Load.open(port, await requestOf(workload), { connections: CONNECTIONS })
    } catch (error) {
      await subject.#server.stop()
      throw error
    }
    return subject
  }

  /** Sends a part of the requests that V8 needs to compile the code, and computes the number of requests per slice. */
  async warm({ warmMs, warmRequests, sliceMs }) {
    const startedAt = performance.now()
    const requests = await this.#load.runFor(warmMs / WARM_PARTS, warmRequests / WARM_PARTS)
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
