import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { contentOf, sendToParent } from '../process/child.ts'
import { ConfigError, EXIT_CONFIG } from '../process/settings.ts'
import { isWatched, PORT_MESSAGE, WATCHER_VARIABLE } from '../process/watched.ts'
import type { Logger } from '../reporting/log.ts'
import { FolderWatch } from './folder-watch.ts'
import { exitCodeOf, keepUnblocked, killChild, stopChild } from './stop-child.ts'

/** Options of a {@link Watcher}. */
export interface WatcherOptions {
  /** The folders to watch. The files that the program imports are watched too, outside of `node_modules`. */
  readonly folders: readonly string[]
  /** The files to watch. */
  readonly files: readonly string[]
  /** The program to run: the path of a module. */
  readonly program: string
  readonly args: readonly string[]
  /** Whether the program is a supervisor. */
  readonly hasWorkers: boolean
  readonly logger: Logger
  /** Milliseconds that the program may take to stop when the watcher stops; then it is killed. */
  readonly stopTimeoutMs: number
}

// The keys of the messages that Node sends if the variable WATCH_REPORT_DEPENDENCIES is set (Node 20 to 26).
const IMPORTS = /^watch:(?:import|require)$/

// A developer waits for the restart, so a longer request is aborted.
const RESTART_TIMEOUT_MS = 1_500

// Reports whether a message lists files that Node has imported or required, as for `node --watch`.
function isImportMessage(
  message: unknown,
): message is Readonly<Record<string, readonly unknown[]>> {
  return typeof message === 'object' && Object.keys(message ?? {}).some((key) => IMPORTS.test(key))
}

/** Passes the messages about imports of a worker on to the watcher, if there is one. */
export function forwardImports(message: unknown): void {
  if (isWatched() && isImportMessage(message)) sendToParent(message)
}

/** Runs a program, and restarts it when a file changes. */
export class Watcher {
  readonly #options: WatcherOptions
  #watch: FolderWatch | undefined
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
   * @throws {ConfigError} If a folder can't be watched.
   */
  async run(): Promise<number> {
    const { logger, stopTimeoutMs, hasWorkers } = this.#options
    const stopped = once(this.#stop.signal, 'abort')
    const watch = await this.#open()
    try {
      for (let changes: readonly string[] = []; ; changes = watch.take()) {
        const child = this.#start(changes)
        await Promise.race([once(child, 'exit'), watch.changed(), stopped])
        if (this.#stop.signal.aborted) return await stopChild(child, stopTimeoutMs, hasWorkers)
        const code = exitCodeOf(child)
        if (code !== undefined) {
          if (this.#port === undefined && code !== EXIT_CONFIG) return code
          logger.warn(
            { event: 'wait', code },
            `The program ended with exit code ${code}; it starts again with the next change`,
          )
          await Promise.race([watch.changed(), stopped])
          if (this.#stop.signal.aborted) return code
        }
        await stopChild(child, RESTART_TIMEOUT_MS, hasWorkers)
      }
    } finally {
      watch.close()
    }
  }

  /** Stops the program; {@link Watcher.run} then returns. */
  stop(): void {
    this.#stop.abort()
  }

  /** Kills the program at once. */
  kill(): void {
    if (this.#child !== undefined) killChild(this.#child, this.#options.hasWorkers)
  }

  async #open(): Promise<FolderWatch> {
    const { folders, files } = this.#options
    try {
      this.#watch = await FolderWatch.open(...folders)
      for (const file of files) this.#watch.addFile(file)
      return this.#watch
    } catch (error) {
      const { code, path } = error as NodeJS.ErrnoException
      this.#watch?.close()
      throw new ConfigError([`The folder "${path}" can't be watched: ${code}`])
    }
  }

  #start(changes: readonly string[]): ChildProcess {
    const { program, args, logger } = this.#options
    const variables = { [WATCHER_VARIABLE]: String(process.pid), WATCH_REPORT_DEPENDENCIES: '1' }
    const env = { ...process.env, ...variables }
    const port = this.#port === undefined ? [] : [`--port=${this.#port}`]
    const child = fork(program, [...args, ...port], { env })
    keepUnblocked(child)
    child.on('message', (message) => {
      if (isImportMessage(message)) this.#addImports(message)
      const port = contentOf(message, PORT_MESSAGE)
      if (typeof port !== 'number') return
      this.#port = port
      const [first, ...others] = changes
      if (first === undefined) return
      const names = others.length === 0 ? first : `${first} and ${others.length} more`
      logger.info({ event: 'restart', files: changes }, `Restarted: ${names} changed`)
    })
    this.#child = child
    return child
  }

  #addImports(message: Readonly<Record<string, readonly unknown[]>>): void {
    for (const each of Object.values(message).flat()) {
      if (typeof each !== 'string' || !/^(?:file:|\/|[A-Za-z]:\\)/.test(each)) continue
      const file = each.startsWith('file:') ? fileURLToPath(each) : each
      try {
        if (!/[\\/]node_modules[\\/]/.test(file)) this.#watch?.addFile(file)
      } catch {
        // Most often, the folder of the file is missing.
        void this.#watch?.update()
      }
    }
  }
}
