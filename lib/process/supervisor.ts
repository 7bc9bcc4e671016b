import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from '../reporting/logger.ts'
import { stopChild } from './child.ts'

/** The options of a {@link Supervisor}. */
export interface SupervisorOptions {
  /** The number of workers. */
  readonly workers: number
  readonly logger: Logger
  /** Milliseconds that a worker may take to stop; then it is killed. */
  readonly stopTimeoutMs: number
}

interface Address {
  readonly address: string
  readonly port: number
}

const READY_TIMEOUT_MS = 30_000
const MIN_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 30_000
// A worker that ran for this long did not fail at its start, so the delay is short again.
const STEADY_MS = 10_000

/**
 * Keeps workers running (`node:cluster`).
 *
 * Replaces a worker that ends, after a delay that doubles with each failure in a row. A reload replaces
 * the workers one by one, each as soon as its successor listens.
 */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #ready = new Set<Worker>()
  #stopping = false
  #reloading = false
  #failures = 0

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** Whether at least one worker accepts requests. */
  get isReady(): boolean {
    return !this.#stopping && this.#ready.size > 0
  }

  /**
   * Starts all workers.
   *
   * @returns The address and the port that they listen on.
   * @throws {WorkerError} If a worker ends before it listens, with its exit code; the worker prints the reason.
   */
  async start(): Promise<Address> {
    const started = Array.from({ length: this.#options.workers }, () => this.#run(cluster.fork()))
    const [first] = await Promise.all(started)
    return first ?? { address: '', port: 0 }
  }

  /** Replaces the workers one by one. If a new worker fails, the reload ends and the remaining old ones stay. */
  async reload(): Promise<void> {
    if (this.#reloading || this.#stopping) return
    this.#reloading = true
    try {
      for (const old of [...this.#ready]) {
        // The worker ended in the meantime, and #run() replaces it.
        if (!this.#ready.has(old)) continue
        await this.#run(cluster.fork())
        await this.#retire(old)
      }
      this.#options.logger.info({ event: 'reload' }, 'All workers were replaced')
    } catch (error) {
      this.#options.logger.error({ event: 'reload' }, `Reload aborted: ${(error as Error).message}`)
    } finally {
      this.#reloading = false
    }
  }

  /**
   * Stops all workers.
   *
   * @returns The highest exit code.
   */
  async stop(): Promise<number> {
    this.#stopping = true
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    const codes = await Promise.all(workers.map((worker) => this.#retire(worker)))
    return Math.max(0, ...codes)
  }

  /** Kills all workers at once. */
  kill(): void {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
  }

  // Waits until a worker listens. From then on, it is replaced when it ends.
  async #run(worker: Worker): Promise<Address> {
    const timer = setTimeout(() => worker.process.kill('SIGKILL'), READY_TIMEOUT_MS)
    const ended = once(worker, 'exit').then(([code]) => {
      throw new WorkerError(code ?? 1)
    })
    const listening = Promise.race([once(worker, 'listening'), ended])
    const [address] = await listening.finally(() => clearTimeout(timer))
    this.#ready.add(worker)
    const startedAt = performance.now()
    worker.once('exit', (code, signal) => {
      const isRetired = !this.#ready.delete(worker)
      if (this.#stopping || isRetired) return
      this.#failures = performance.now() - startedAt > STEADY_MS ? 0 : this.#failures + 1
      this.#replaceLater(worker, code, signal)
    })
    return address
  }

  #replaceLater(worker: Worker, code: number, signal: string): void {
    const delayMs = Math.min(MIN_BACKOFF_MS * 2 ** this.#failures, MAX_BACKOFF_MS)
    const { pid } = worker.process
    this.#options.logger.error(
      { event: 'worker', pid, code, signal, delayMs },
      `Worker ${pid} ended (${signal || code}); a new worker starts in ${delayMs} ms`,
    )
    setTimeout(() => {
      if (this.#stopping) return
      const successor = cluster.fork()
      this.#run(successor).catch((error: WorkerError) => {
        this.#failures++
        this.#replaceLater(successor, error.exitCode, '')
      })
    }, delayMs)
  }

  async #retire(worker: Worker): Promise<number> {
    this.#ready.delete(worker)
    return worker.isDead() ? 0 : stopChild(worker.process, this.#options.stopTimeoutMs)
  }
}

/** The error of a worker that ended before it listened. */
export class WorkerError extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`A worker ended with exit code ${exitCode} before it listened`)
    this.exitCode = exitCode
  }
}

/** Leaves the cluster, in a worker: connections that it has not accepted yet go to another worker. */
export function leaveCluster(): Promise<void> {
  const { worker } = cluster
  return new Promise((resolve) => {
    if (worker?.isConnected() !== true) return resolve()
    worker.once('disconnect', resolve)
    worker.disconnect()
  })
}
