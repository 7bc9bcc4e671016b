import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { repositoryFile } from './repository.ts'

export interface Outcome {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** `node server.js`, as a user starts it. */
export class ServerProcess {
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<Outcome>
  #stdout = ''
  #stderr = ''

  constructor(t: TestContext, args: readonly string[], env: Record<string, string> = {}) {
    this.child = spawn(process.execPath, [repositoryFile('dist/server.js'), ...args], {
      cwd: repositoryFile('.'),
      env: { PATH: process.env.PATH, NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE, ...env },
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

  /** Where it listens: the first URL on stdout. */
  url(): Promise<string> {
    return this.said(/http:\/\/[^\s"]+/)
  }

  /** Waits until stdout has it, and returns what matches. */
  async said(pattern: RegExp): Promise<string> {
    for (;;) {
      const said = pattern.exec(this.#stdout)?.[0]
      if (said !== undefined) return said
      await Promise.race([once(this.child.stdout, 'data'), this.#failOnEnd()])
    }
  }

  async #failOnEnd(): Promise<never> {
    const outcome = await this.ended
    throw new Error(`The server ended: ${JSON.stringify(outcome)}`)
  }
}
