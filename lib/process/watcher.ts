import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Logger } from '../reporting/logger.ts'
import { FolderWatch } from './folder-watch.ts'
import { ConfigError, EXIT_CONFIG } from './settings.ts'
import { STOP_MESSAGE } from './supervisor.ts'

/** The options of a {@link Watcher}. */
export interface WatcherOptions {
  /** The folder to watch. */
  readonly folder: string
  /** The program to run: the path of a module. */
  readonly program: string
  readonly args: readonly string[]
  readonly logger: Logger
  /** Milliseconds that the program may take to stop when the watcher stops; then it is killed. */
  readonly stopTimeoutMs: number
}

// The message that the program sends to its watcher when it listens.
interface ListeningMessage {
  readonly listening: { readonly port: number }
}

// Holds the process id of the watcher, in the environment of the program that it runs.
const WATCHER_VARIABLE = 'PORTICO_WATCHER'

// A developer waits for the restart, so a longer request is aborted.
const RESTART_TIMEOUT_MS = 1_500

/** Reports whether a watcher started this process. Checks the parent, because a child inherits the environment. */
export function isWatched(): boolean {
  return process.env[WATCHER_VARIABLE] === String(process.ppid) && process.send !== undefined
}

/** Reports to the watcher, if there is one, that this process listens. */
export function reportListening(port: number): void {
  const message: ListeningMessage = { listening: { port } }
  if (isWatched()) process.send?.(message)
}

/** Runs a program, and restarts it when a file in a folder changes. */
export class Watcher {
  readonly #options: WatcherOptions
  readonly #stop = new AbortController()
  #child: ChildProcess | undefined
  // A restart keeps the port that the system chose, so that an open browser tab still works.
  #port: number | undefined

  constructor(options: WatcherOptions) {
    this.#options = options
  }

  /**
   * Runs until {@link Watcher.stop}, or until the first start fails for a reason other than invalid
   * settings or a controller that does not load.
   *
   * @returns The exit code of the program.
   * @throws {ConfigError} If the folder can't be watched.
   */
  async run(): Promise<number> {
    const stopped = once(this.#stop.signal, 'abort')
    const folder = await openFolder(this.#options.folder)
    try {
      for (let changes: readonly string[] = []; ; changes = folder.take()) {
        const program = this.#start(changes)
        await Promise.race([program.ended, folder.changed(), stopped])
        if (this.#stop.signal.aborted) return await program.stop(this.#options.stopTimeoutMs)
        if (program.exitCode !== undefined) {
          if (this.#port === undefined && program.exitCode !== EXIT_CONFIG) return program.exitCode
          this.#logEnd(program.exitCode)
          await Promise.race([folder.changed(), stopped])
          if (this.#stop.signal.aborted) return program.exitCode
        }
        await program.stop(RESTART_TIMEOUT_MS)
      }
    } finally {
      folder.close()
    }
  }

  /** Stops the program; {@link Watcher.run} then returns. */
  stop(): void {
    this.#stop.abort()
  }

  /** Kills the program at once. */
  kill(): void {
    this.#child?.kill('SIGKILL')
  }

  #start(changes: readonly string[]): Program {
    const { program, args, logger } = this.#options
    const env = { ...process.env, [WATCHER_VARIABLE]: String(process.pid) }
    const port = this.#port === undefined ? [] : [`--port=${this.#port}`]
    const child = fork(program, [...args, ...port], { env })
    child.on('message', (message: Partial<ListeningMessage> | null) => {
      // A controller may send messages too, such as `ready`.
      if (message?.listening === undefined) return
      this.#port = message.listening.port
      if (changes.length === 0) return
      logger.info({ event: 'restart', files: changes }, `Restarted: ${summaryOf(changes)} changed`)
    })
    this.#child = child
    return new Program(child)
  }

  #logEnd(code: number): void {
    const message = `The program ended with exit code ${code}; it starts again with the next change`
    this.#options.logger.warn({ event: 'wait', code }, message)
  }
}

// One run of the program.
class Program {
  readonly ended: Promise<unknown>
  readonly #child: ChildProcess

  constructor(child: ChildProcess) {
    this.#child = child
    this.ended = once(child, 'exit')
  }

  /** The exit code; undefined while the program runs; 1 if a signal ended it. */
  get exitCode(): number | undefined {
    const { exitCode, signalCode } = this.#child
    return exitCode ?? (signalCode === null ? undefined : 1)
  }

  /** Stops the program, and returns its exit code. */
  async stop(timeoutMs: number): Promise<number> {
    const child = this.#child
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
    // Does not send a signal: the terminal may have sent one already, and a second one ends the program at once.
    if (child.connected) child.send(STOP_MESSAGE, () => {})
    if (this.exitCode === undefined) await this.ended
    clearTimeout(timer)
    return this.exitCode ?? 1
  }
}

function summaryOf(files: readonly string[]): string {
  const [first = '', ...rest] = files
  return rest.length === 0 ? first : `${first} and ${rest.length} more`
}

async function openFolder(folder: string): Promise<FolderWatch> {
  try {
    return await FolderWatch.open(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError([`The folder of controllers "${folder}" can't be watched: ${code}`])
  }
}
