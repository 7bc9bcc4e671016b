// Measures latencies under an open-loop load: requests are sent at fixed times, whether or not the server has responded to the
// earlier ones. A latency begins at the time at which its request was due, so a server that stalls cannot hide it.

import { Load } from './load.js'
import { ServerProcess } from './process.js'
import { median, quantile } from './statistics.js'
import { workloads } from './workloads.js'

const CONNECTIONS = 64
const SHARES = { p50: 0.5, p99: 0.99, p999: 0.999 }
const { request } = workloads.W1

/**
 * Returns for each adapter the latencies of W1 in milliseconds (`p50`, `p99`, `p999`), and the garbage collections of the young
 * generation per 100,000 requests (`scavenges`). All servers get load in turn, at the same `rate` per second: a share of the
 * capacity of the first one.
 *
 * @param plan `rounds` of fresh processes, `turns` of each server per round, `turnMs`, `share` and `warmRequests`.
 */
export async function compareTails(adapters, plan, core) {
  const rate = plan.share * (await capacityOf(adapters[0], plan, core))
  const measured = new Map(adapters.map((adapter) => [adapter, { latencies: [], scavenges: [] }]))
  for (let round = 0; round < plan.rounds; round++) {
    for (const { adapter, latencies, scavenges } of await measureRound(
      adapters,
      plan,
      rate,
      core,
    )) {
      const all = measured.get(adapter)
      all.latencies = all.latencies.concat(latencies)
      all.scavenges.push((scavenges / latencies.length) * 100_000)
    }
  }
  return { rate, rows: Object.fromEntries([...measured].map(summarize)) }
}

async function capacityOf(adapter, { turnMs, warmRequests }, core) {
  const subject = await Subject.open(adapter, warmRequests, core)
  try {
    const startedAt = performance.now()
    const requests = await subject.load.runFor(turnMs)
    return (requests / (performance.now() - startedAt)) * 1_000
  } finally {
    await subject.close()
  }
}

async function measureRound(adapters, { turns, turnMs, warmRequests }, rate, core) {
  const subjects = []
  try {
    for (const adapter of adapters) subjects.push(await Subject.open(adapter, warmRequests, core))
    for (let turn = 0; turn < turns; turn++) {
      for (const subject of subjects) await subject.run(rate, turnMs)
    }
    return await Promise.all(subjects.map((subject) => subject.figures()))
  } finally {
    for (const subject of subjects) await subject.close()
  }
}

/** A server that is warm, and counts its garbage collections. */
class Subject {
  #adapter
  #server
  #scavenges
  #latencies = []
  load

  static async open(adapter, warmRequests, core) {
    const subject = new Subject()
    subject.#adapter = adapter
    subject.#server = await ServerProcess.start(adapter, 'W1', { core })
    subject.load = await Load.open(subject.#server.port, request, { connections: CONNECTIONS })
    await subject.load.run(warmRequests)
    await subject.#server.measure('countScavenges')
    subject.#scavenges = await subject.#collections()
    return subject
  }

  async run(rate, ms) {
    this.#latencies = this.#latencies.concat(await this.load.runAtRate(rate, ms))
  }

  async figures() {
    const scavenges = (await this.#collections()) - this.#scavenges
    return { adapter: this.#adapter, latencies: this.#latencies, scavenges }
  }

  async close() {
    this.load.close()
    await this.#server.stop()
  }

  async #collections() {
    return (await this.#server.measure('collections')).scavenges
  }
}

function summarize([adapter, { latencies, scavenges }]) {
  const quantiles = Object.entries(SHARES).map(([name, share]) => [
    name,
    quantile(latencies, share),
  ])
  return [adapter, { ...Object.fromEntries(quantiles), scavenges: median(scavenges) }]
}
