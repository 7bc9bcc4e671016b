import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Logger } from '../reporting/logger.ts'
import { FolderWatch } from './folder-watch.ts'
import { EXIT_CONFIG } from './settings.ts'
import { STOP_MESSAGE } from './supervisor.ts'

/** What a {@link Watcher} runs, and when again. */
export interface WatcherOptions {
  /** The folder whose changes count. */
  readonly folder: string
  /** The program, a module with its arguments. */
  readonly program: string
  readonly args: readonly string[]
  /** Its environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly logger: Logger
  /** How long it may take to stop in the end, in milliseconds; then it is killed. */
  readonly stopTimeoutMs: number
}

/** What the program says to its watcher when it listens. */
export interface ListeningMessage {
  readonly listening: { readonly port: number }
}

// Who develops waits for it: a request that takes longer is cut.
const RESTART_TIMEOUT_MS = 1_500

/** Runs a program, and runs it again when a file of a folder has changed. */
export class Watcher {
  readonly #options: WatcherOptions
  readonly #stop = new AbortController()
  #child: ChildProcess | undefined
  // One that was chosen by the system is kept: a browser's tab stays good.
  #port: number | undefined

  constructor(options: WatcherOptions) {
    this.#options = options
  }

  /**
   * Runs until it is stopped, or until the first start fails for another reason than a controller that
   * does not load.
   *
   * @returns The exit code of the program.
   * @throws {Error} If the folder can't be watched.
   */
  async run(): Promise<number> {
    const stopped = once(this.#stop.signal, 'abort')
    const folder = await FolderWatch.open(this.#options.folder)
    try {
      for (let changes: readonly string[] = []; ; changes = folder.take()) {
        const program = this.#start(changes)
        await Promise.race([program.ended, folder.changed(), stopped])
        if (this.#stop.signal.aborted) return await program.stop(this.#options.stopTimeoutMs)
        if (program.exitCode !== undefined) {
          if (this.#port === undefined && program.exitCode !== EXIT_CONFIG) return program.exitCode
          this.#tellEnd(program.exitCode)
          await Promise.race([folder.changed(), stopped])
          if (this.#stop.signal.aborted) return program.exitCode
        }
        await program.stop(RESTART_TIMEOUT_MS)
      }
    } finally {
      folder.close()
    }
  }

  /** Stops the program, and then ends {@link Watcher.run}. */
  stop(): void {
    this.#stop.abort()
  }

  /** Ends the program at once. */
  kill(): void {
    this.#child?.kill('SIGKILL')
  }

  #start(changes: readonly string[]): Program {
    const { program, args, env, logger } = this.#options
    const port = this.#port === undefined ? [] : [`--port=${this.#port}`]
    const child = fork(program, [...args, ...port], { env: { ...env } })
    child.on('message', (message: Partial<ListeningMessage> | null) => {
      // A controller may say something too, such as `ready`.
      if (message?.listening === undefined) return
      this.#port = message.listening.port
      if (changes.length === 0) return
      logger.info({ event: 'restart', files: changes }, `Restarted: ${told(changes)} changed`)
    })
    this.#child = child
    return new Program(child)
  }

  #tellEnd(code: number): void {
    const message = `The program has ended with exit code ${code}; it starts again with the next change`
    this.#options.logger.warn({ event: 'wait', code }, message)
  }
}

// A run of the program.
class Program {
  readonly ended: Promise<unknown>
  readonly #child: ChildProcess

  constructor(child: ChildProcess) {
    this.#child = child
    this.ended = once(child, 'exit')
  }

  /** undefined while it runs. */
  get exitCode(): number | undefined {
    const { exitCode, signalCode } = this.#child
    return exitCode ?? (signalCode === null ? undefined : 1)
  }

  /** @returns Its exit code. */
  async stop(timeoutMs: number): Promise<number> {
    const child = this.#child
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
    // By a message: it may have had the signal from the terminal, and a second one ends it at once.
    if (child.connected) child.send(STOP_MESSAGE, () => {})
    if (this.exitCode === undefined) await this.ended
    clearTimeout(timer)
    return this.exitCode ?? 1
  }
}

function told(files: readonly string[]): string {
  const [first = '', ...rest] = files
  return rest.length === 0 ? first : `${first} and ${rest.length} more`
}
