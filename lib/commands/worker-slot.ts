import type { ChildProcess } from 'node:child_process'
import cluster, { type Worker } from 'node:cluster'
import { getSystemErrorName } from 'node:util'
import { contentOf } from '../process/child.ts'
import { askReady, REPLACE_MESSAGE, SUPERVISOR_VARIABLE, URL_MESSAGE } from '../process/worker.ts'
import { keepUnblocked, untilExit } from './stop-child.ts'
import { type StopOptions, stopWorker } from './stop-worker.ts'

const LISTEN_TIMEOUT_MS = 30_000
const MIN_DELAY_MS = 100
// After a worker that listened, the delay only limits the CPU time that a crash loop costs.
const MAX_DELAY_MS = 1_000
const MAX_START_DELAY_MS = 30_000
// A worker that listened for this long did not fail because of its start.
const STEADY_MS = 10_000

/**
 * Keeps one worker running.
 *
 * The successor of a worker starts when the worker ends or asks for it. A worker that asks serves until its
 * successor listens. The delay before a start doubles with each worker in a row that ended soon.
 */
export class WorkerSlot {
  readonly #options: StopOptions
  // The latest worker that listened, until it ends.
  #worker: Worker | undefined
  // The latest worker that ended or asked for a successor.
  #lost: Worker | undefined
  #starting: Promise<string> | undefined
  // The latest worker, until it listens.
  #young: Worker | undefined
  // The question that a worker has not answered yet.
  #asked: { readonly worker: Worker; readonly answer: Promise<boolean> } | undefined
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #isStopped = false

  constructor(options: StopOptions) {
    this.#options = options
  }

  /** Whether a worker accepts requests. */
  get isReady(): boolean {
    return this.#worker !== undefined
  }

  /** Asks the application of the worker whether it is ready; false without a worker. */
  async askReady(): Promise<boolean> {
    const worker = this.#worker
    if (worker === undefined) return false
    if (this.#asked?.worker !== worker) {
      const answer = askReady(worker).finally(() => {
        if (this.#asked?.worker === worker) this.#asked = undefined
      })
      this.#asked = { worker, answer }
    }
    const isReady = await this.#asked.answer
    // An old worker that stops is not ready, but its successor may be.
    return worker === this.#worker ? isReady : this.askReady()
  }

  /**
   * Starts a worker, and waits until it listens.
   *
   * @returns The URL that it listens on.
   * @throws {WorkerError} If it ends before it listens.
   */
  start(): Promise<string> {
    clearTimeout(this.#timer)
    this.#starting = this.#start().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  /**
   * Replaces the worker by one that starts now.
   *
   * @throws {WorkerError} If the new worker ends before it listens. The old one stays.
   */
  async renew(): Promise<void> {
    // A worker that is starting may have loaded an old version of the controllers.
    await this.#starting?.catch(() => {})
    if (this.#isStopped) return
    const old = this.#worker
    await this.start().catch((error: WorkerError) => {
      this.#recover(error)
      throw error
    })
    if (old !== undefined) await untilExit(old.process)
  }

  /** Starts no more workers, and ends the one that is starting. The supervisor stops the others. */
  stop(): void {
    this.#isStopped = true
    this.#worker = undefined
    clearTimeout(this.#timer)
    // The stop message is lost until server.ts listens to it. From then on, the worker ignores the signal.
    this.#young?.process.kill('SIGTERM')
  }

  async #start(): Promise<string> {
    // An error is a failed write to a worker that has died: its exit follows.
    const worker = fork().on('error', () => {})
    keepUnblocked(worker.process)
    this.#young = worker
    const listening = new Promise<string>((resolve) => {
      let hasAsked = false
      const onMessage = (message: unknown): void => {
        // A worker that fails at once may ask before it listens.
        hasAsked ||= message === REPLACE_MESSAGE
        const url = contentOf(message, URL_MESSAGE)
        if (url === undefined) return
        worker.off('message', onMessage)
        this.#starting = undefined
        this.#young = undefined
        if (!this.#isStopped) this.#watch(worker, hasAsked)
        resolve(url as string)
      }
      worker.on('message', onMessage)
    })
    return unlessEnded(worker, listening)
  }

  // Replaces the worker when it ends or asks for it.
  #watch(worker: Worker, hasAsked: boolean): void {
    this.#retire()
    this.#worker = worker
    const { pid } = worker.process
    const startedAt = performance.now()
    const replace = (reason: string, fields: object = {}): void => {
      if (worker !== this.#worker || worker === this.#lost) return
      this.#lost = worker
      this.#failures = performance.now() - startedAt > STEADY_MS ? 0 : this.#failures + 1
      this.#replaceLater(`Worker ${pid} ${reason}`, { pid, ...fields }, MAX_DELAY_MS)
    }
    worker.on('message', (message) => {
      if (message === REPLACE_MESSAGE) replace('had an exception')
    })
    // node:cluster sends no more connections to a worker that had no free file descriptor for one. It reports this only by an
    // internal message, which Node does not document (workers.test.ts).
    worker.process.on('internalMessage', (message) => {
      if (message.cmd === 'NODE_HANDLE_NACK') replace('has no free file descriptor')
    })
    worker.once('exit', (code, signal) => {
      replace(`ended (${signal || code})`, { code, signal })
      if (worker === this.#worker) this.#worker = undefined
    })
    if (hasAsked) replace('had an exception')
  }

  #replaceLater(reason: string, fields: object, maxDelayMs: number): void {
    const delayMs = this.#starting === undefined ? this.#delayMs(maxDelayMs) : 0
    this.#options.logger.error(
      { event: 'worker', ...fields, delayMs },
      `${reason}; a new worker starts in ${delayMs} ms`,
    )
    // A reload has started the successor.
    if (this.#starting !== undefined) return
    this.#timer = setTimeout(() => {
      this.start().catch((error: WorkerError) => this.#recover(error))
    }, delayMs)
  }

  // Starts another successor for one that did not start, unless the old worker still serves well.
  #recover({ pid, exitCode: code, message }: WorkerError): void {
    const serves = this.#worker !== undefined && this.#worker !== this.#lost
    if (this.#isStopped || serves) return
    this.#retire()
    this.#failures++
    this.#replaceLater(message, { pid, code }, MAX_START_DELAY_MS)
  }

  #delayMs(maximum: number): number {
    return this.#failures === 0 ? 0 : Math.min(MIN_DELAY_MS * 2 ** (this.#failures - 1), maximum)
  }

  #retire(): void {
    const worker = this.#worker
    this.#worker = undefined
    if (worker?.isDead() === false) stopWorker(worker, this.#options)
  }
}

type Ended = Partial<Pick<ChildProcess, 'pid' | 'exitCode' | 'signalCode'>> & {
  readonly code?: string | undefined
}

/** The error of a worker that ended before it listened. */
export class WorkerError extends Error {
  readonly pid: number | undefined
  /** 0 if a signal ended the worker, negative if the system did not create it: it has then not printed why. */
  readonly exitCode: number

  constructor({ pid, exitCode, signalCode, code }: Ended) {
    const number = exitCode ?? 0
    const name = number < 0 ? getSystemErrorName(number) : `exit code ${number}`
    super(`A worker ended with ${code ?? signalCode ?? name} before it listened`)
    this.pid = pid
    this.exitCode = number
  }
}

// Node emits an error with EMFILE and some other codes, and throws the others, such as ENOMEM.
function fork(): Worker {
  try {
    return cluster.fork({ [SUPERVISOR_VARIABLE]: process.pid })
  } catch (error) {
    const { errno, code } = error as NodeJS.ErrnoException
    // The error of a missing permission has no number.
    if (errno === undefined && code !== 'ERR_ACCESS_DENIED') throw error
    throw new WorkerError({ exitCode: errno ?? -1, code })
  }
}

// Waits for a worker to listen. Ends it if that takes too long, and fails if it ends.
async function unlessEnded(
  { process: child }: Worker,
  listening: Promise<string>,
): Promise<string> {
  const timer = setTimeout(() => child.kill('SIGKILL'), LISTEN_TIMEOUT_MS)
  const ended = untilExit(child).then(() => {
    throw new WorkerError(child)
  })
  return Promise.race([listening, ended]).finally(() => clearTimeout(timer))
}
