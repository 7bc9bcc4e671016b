import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { repositoryFile } from './repository.ts'
import { childEnvironment } from './run-node.ts'
import { portOf } from './serving.ts'

/** The end of a program, and its whole output. */
export interface Outcome {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** The file of a program, and the folder in which it runs. */
export interface Program {
  readonly file: string
  readonly folder: string
  /** The options of Node (default none). */
  readonly nodeOptions?: readonly string[]
}

const SERVER: Program = { file: repositoryFile('dist/server.js'), folder: repositoryFile('.') }

/** `node server.js <args>`, or another program, as a user starts it. The end of the test kills it. */
export class ServerProcess {
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<Outcome>
  #stdout = ''
  #stderr = ''

  constructor(
    t: TestContext,
    args: readonly string[],
    env: Record<string, string> = {},
    { file, folder, nodeOptions = [] }: Program = SERVER,
  ) {
    this.child = spawn(process.execPath, [...nodeOptions, file, ...args], {
      cwd: folder,
      env: childEnvironment(env),
    })
    t.after(() => this.child.kill('SIGKILL'))
    this.child.stdout.setEncoding('utf8').on('data', (chunk) => {
      this.#stdout += chunk
    })
    this.child.stderr.setEncoding('utf8').on('data', (chunk) => {
      this.#stderr += chunk
    })
    this.ended = once(this.child, 'close').then(([code, signal]) => ({
      code,
      signal,
      stdout: this.#stdout,
      stderr: this.#stderr,
    }))
  }

  /** Waits until the server listens, and returns its URL: the first one on stdout. */
  url(): Promise<string> {
    return this.printed(/http:\/\/[^\s"]+/)
  }

  /** Waits until the server listens, and returns its port. */
  async port(): Promise<number> {
    return portOf(await this.url())
  }

  /** Waits until stdout contains the pattern, and returns the match. */
  async printed(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.#stdout)?.[0]
      if (match !== undefined) return match
      await Promise.race([once(this.child.stdout, 'data'), this.#failOnEnd()])
    }
  }

  async #failOnEnd(): Promise<never> {
    const outcome = await this.ended
    throw new Error(`The server ended: ${JSON.stringify(outcome)}`)
  }
}

/** Parses the log of a server: an object for each line. */
// biome-ignore lint/suspicious/noExplicitAny: a line has the fields of its event.
export function logLinesOf(stdout: string): any[] {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Reports whether a process runs. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    // ESRCH: there is no such process.
    return false
  }
}
