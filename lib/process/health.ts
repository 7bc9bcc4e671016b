import cluster, { type Worker } from 'node:cluster'
import { get, type Server } from 'node:http'
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises'
import { createObserver, type Observer } from '../observe/observer.ts'
import { serveOperator } from '../observe/operator-server.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { type SnapshotPart, SnapshotPool, splitSnapshot } from '../observe/snapshot-pool.ts'
import { contentOf, sendToParent } from './child.ts'
import { failToListen } from './listen.ts'
import { watchProcess } from './process-facts.ts'
import { type Config, settings } from './settings.ts'
import { version } from './version.ts'
import { ask, isSupervised } from './worker.ts'

// The program loads this file only with --health-port: without it, no request is counted.

type IsReady = () => boolean | Promise<boolean>

const ASK_MESSAGE = 'portico:snapshot'
const PART_MESSAGE = 'portico:part'
const ASK_INTERVAL_MS = 1_000
// Less than a scraper waits.
const ASK_TIMEOUT_MS = 2_000

/** Counts what this process does, and shows it on the health port. A worker sends its counts to the supervisor instead. */
export class Health {
  readonly observer: Observer
  readonly #config: Config
  #server: Server | undefined
  // The parts of two snapshots must not mix.
  #sent: Promise<void> = Promise.resolve()

  constructor(config: Config) {
    this.#config = config
    this.observer = createObserver({ processFacts: watchProcess(version()) })
    if (!isSupervised) return
    process.on('message', (message) => {
      if (message === ASK_MESSAGE) this.#send()
    })
  }

  /** Listens on the health port, but not in a worker; ends the process if that fails. */
  async listen(
    isReady: IsReady,
    snapshot: () => Snapshot | Promise<Snapshot> = this.observer.snapshot,
  ): Promise<void> {
    if (isSupervised) return
    const { healthPort: port = 0, healthHost, host: mainHost } = this.#config
    const host = healthHost ?? mainHost
    const isLocalOnly = healthHost === undefined
    const config = textsOf(this.#config)
    const options = { port, host, isLocalOnly, isReady, config, snapshot }
    this.#server = await serveOperator(options).catch((error) =>
      failToListen(host, port, '--health-port', error),
    )
  }

  /** Listens on the health port in a supervisor, whose workers count. */
  listenForWorkers(isReady: IsReady): Promise<void> {
    const counts = new WorkerCounts(this.observer.snapshot)
    return this.listen(isReady, () => counts.collect())
  }

  /** Sends the last counts of a worker to the supervisor, after its last response. */
  async reportLast(): Promise<void> {
    // The connections that the server has destroyed close after it.
    await immediate()
    if (isSupervised && process.connected) await this.#send()
  }

  close(): void {
    this.#server?.close()
  }

  #send(): Promise<void> {
    this.#sent = this.#sent.then(async () => {
      for (const part of splitSnapshot(this.observer.snapshot())) {
        await sendToParent({ [PART_MESSAGE]: part, [ASK_MESSAGE]: part.rest && true })
        await immediate()
      }
    })
    return this.#sent
  }
}

// Returns the settings that have a value, by their flags.
function textsOf(config: Config): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {}
  for (const [name, { flag }] of Object.entries(settings)) {
    const text = [config[name as keyof Config] ?? []].flat().join(', ')
    if (text !== '') texts[flag] = text
  }
  return texts
}

/** The counts of all workers, also of those that have ended, and the facts of the supervisor. */
class WorkerCounts {
  readonly #own: () => Snapshot
  readonly #pool = new SnapshotPool()
  // The workers that have sent a message: a worker that is starting would not answer.
  readonly #started = new Set<Worker>()
  #askedAt = Number.NEGATIVE_INFINITY
  #next: Promise<Snapshot> | undefined

  constructor(own: () => Snapshot) {
    this.#own = own
    cluster.on('message', (worker, message) => {
      this.#started.add(worker)
      const part = contentOf(message, PART_MESSAGE)
      if (part !== undefined) this.#pool.keep(worker.id, part as SnapshotPart)
    })
    cluster.on('disconnect', (worker) => this.#started.delete(worker))
  }

  /** Asks the workers, at most once a second: until then, a caller waits. */
  collect(): Promise<Snapshot> {
    this.#next ??= this.#collect()
    return this.#next
  }

  async #collect(): Promise<Snapshot> {
    await delay(Math.max(0, this.#askedAt + ASK_INTERVAL_MS - performance.now()))
    this.#next = undefined
    this.#askedAt = performance.now()
    const workers = [...this.#started]
    await Promise.all(workers.map((worker) => ask(worker, ASK_MESSAGE, ASK_TIMEOUT_MS)))
    // node:cluster removes a worker when it has ended and its last message has arrived.
    return this.#pool.sum(this.#own(), (id) => cluster.workers?.[id] !== undefined)
  }
}

/**
 * Requests `/readyz` of a server, and returns why it is not ready; undefined if it is.
 *
 * @param host The address that the server listens on; for all addresses, such as `0.0.0.0`, `localhost` is used.
 */
export function probeHealth(
  port: number,
  host: string,
  timeoutMs = 3_000,
): Promise<string | undefined> {
  const address = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  const options = { port, host: address, path: '/readyz', timeout: timeoutMs, agent: false }
  return new Promise((resolve) => {
    const request = get(options, (response) => {
      response.resume()
      const { statusCode } = response
      resolve(statusCode === 200 ? undefined : `the status of /readyz is ${statusCode}`)
    })
    request.on('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(`${address}, port ${port}: ${code ?? `no response in ${timeoutMs} ms`}`)
    })
    request.on('timeout', () => request.destroy(new Error()))
  })
}
