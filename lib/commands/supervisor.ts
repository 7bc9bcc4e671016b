import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { LISTEN_MESSAGE } from '../process/worker.ts'
import { type StopOptions, stopWorker } from './stop-worker.ts'
import { WorkerSlot } from './worker-slot.ts'

/** Options of a {@link Supervisor}. */
export interface SupervisorOptions extends StopOptions {
  /** The number of workers. */
  readonly workers: number
  /** The port of the workers; with 0, the supervisor picks a free one. */
  readonly port: number
  /** The address that the workers listen on. */
  readonly host: string
}

/**
 * Keeps workers running (`node:cluster`), each in its {@link WorkerSlot}. A reload replaces the workers one
 * by one, each as soon as its successor listens.
 */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #slots: readonly WorkerSlot[]
  #stopping = false
  #reload: Promise<void> | undefined
  #nextReload: Promise<void> | undefined

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#slots = Array.from({ length: options.workers }, () => new WorkerSlot(options))
  }

  /** Whether at least one worker accepts requests. */
  get isReady(): boolean {
    return this.#slots.some((slot) => slot.isReady)
  }

  /** Asks the workers whether their applications are ready. Reports whether at least one of them is. */
  async askReady(): Promise<boolean> {
    const asked = this.#slots.map(async (slot) => (await slot.askReady()) || Promise.reject())
    return Promise.any(asked).catch(() => false)
  }

  /**
   * Starts all workers.
   *
   * @returns The URL that they listen on; undefined if the supervisor stops before.
   * @throws {WorkerError} If a worker ends before it listens, with its exit code; the worker prints the reason.
   */
  async start(): Promise<string | undefined> {
    const { port, host } = this.#options
    if (port === 0) await holdFreePort(host)
    if (this.#stopping) return undefined
    const [first] = await Promise.all(this.#slots.map((slot) => slot.start()))
    return first
  }

  /**
   * Replaces the workers one by one. If a new worker fails, the reload ends and the remaining old ones stay.
   *
   * Calls during a reload start one more reload after it: the workers may have loaded an older version.
   */
  async reload(): Promise<void> {
    if (this.#reload !== undefined) {
      this.#nextReload ??= this.#reload.then(() => {
        this.#nextReload = undefined
        return this.reload()
      })
      return this.#nextReload
    }
    this.#reload = this.#replaceAll().finally(() => {
      this.#reload = undefined
    })
    return this.#reload
  }

  async #replaceAll(): Promise<void> {
    if (this.#stopping) return
    try {
      for (const slot of this.#slots) await slot.renew()
      if (this.#stopping) return
      this.#options.logger.info({ event: 'reload' }, 'All workers were replaced')
    } catch (error) {
      if (this.#stopping) return
      this.#options.logger.error({ event: 'reload' }, `Reload aborted: ${(error as Error).message}`)
    }
  }

  /**
   * Stops all workers.
   *
   * @returns The highest exit code of the workers that listened.
   */
  async stop(): Promise<number> {
    this.#stopping = true
    for (const slot of this.#slots) slot.stop()
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    const codes = await Promise.all(workers.map((worker) => stopWorker(worker, this.#options)))
    return Math.max(0, ...codes)
  }

  /** Kills all workers at once. */
  kill(): void {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
  }
}

// Finds a free port for all workers, and for each successor. Listens on it until the first worker is about to listen, so that no
// other program gets the port.
async function holdFreePort(host: string): Promise<void> {
  const server = createServer((socket) => socket.destroy())
    .listen(0, host)
    .unref()
  // The workers report why they can't listen on this host.
  const isListening = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (!isListening) return
  cluster.setupPrimary()
  const { port } = server.address() as AddressInfo
  cluster.setupPrimary({ args: [...(cluster.settings.args ?? []), `--port=${port}`] })
  const release = (_: Worker, message: unknown): void => {
    if (message !== LISTEN_MESSAGE) return
    server.close()
    cluster.off('message', release)
  }
  cluster.on('message', release)
}
