// Runs the server of an adapter in a child process, and reads its CPU time and memory.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ENTRY = fileURLToPath(new URL('server.js', import.meta.url))
// fastify needs a long time to register 50,000 routes.
const TIMEOUT_MS = 180_000

/** The server of an adapter in a child process. */
export class ServerProcess {
  #child
  port

  /**
   * Starts a server, and waits until it listens.
   *
   * @param options.core The core for the process; undefined for no binding.
   * @param options.controllers The number of controllers (default: the number of the workload).
   */
  static async start(adapter, workload, { core, controllers, nodeOptions = [] } = {}) {
    const optional = controllers === undefined ? [] : [String(controllers)]
    const args = [...nodeOptions, ENTRY, adapter, workload, ...optional]
    const server = new ServerProcess()
    server.#child = spawnBound(args, core, ['ignore', 'inherit', 'inherit', 'ipc'])
    try {
      server.port = await server.#message()
      return server
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  get pid() {
    return this.#child.pid
  }

  /** Returns a measurement that server.js takes in its own process. */
  measure(name) {
    this.#child.send(name)
    return this.#message()
  }

  /** Returns the CPU time of all threads, in nanoseconds. */
  async cpuNs() {
    return cpuNsOf(this.pid) ?? (await this.measure('cpuNs'))
  }

  /** Returns the bytes of the process that are in memory. */
  async residentBytes() {
    try {
      const status = readFileSync(`/proc/${this.pid}/status`, 'utf8')
      return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)[1]) * 1_024
    } catch {
      // Only Linux has /proc.
      return (await this.measure('memory')).rss
    }
  }

  async stop() {
    const { exitCode, signalCode } = this.#child
    if (exitCode !== null || signalCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }

  async #message() {
    const timeout = new AbortController()
    const { signal } = timeout
    const timer = setTimeout(() => timeout.abort(), TIMEOUT_MS)
    try {
      const [message] = await Promise.race([
        once(this.#child, 'message', { signal }),
        once(this.#child, 'exit', { signal }).then(([code]) => {
          throw new Error(`The server ended with exit code ${code}`)
        }),
      ])
      return message
    } finally {
      clearTimeout(timer)
      // Removes the listener that lost the race.
      timeout.abort()
    }
  }
}

/** Returns the first message of a child process. Throws an error if it ends before. */
export async function messageOf(child) {
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(
      `"${child.spawnargs.join(' ')}" ended with exit code ${code} and sent no message`,
    )
  })
  const [figures] = await Promise.race([once(child, 'message'), failed])
  // The child also exits after its message.
  failed.catch(() => {})
  return figures
}

/** Starts the same version of Node as this process, bound to one core or to a list of cores. */
export function spawnBound(args, core, stdio) {
  const env = { ...process.env, NODE_ENV: 'production' }
  return core === undefined
    ? spawn(process.execPath, args, { stdio, env })
    : spawn('taskset', ['-c', core, process.execPath, ...args], { stdio, env })
}

/** Returns the CPU time of a process in nanoseconds; undefined if the system does not report it. */
export function cpuNsOf(pid) {
  try {
    const tasks = `/proc/${pid}/task`
    return readdirSync(tasks)
      .map((task) => Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]))
      .reduce((sum, ns) => sum + ns, 0)
  } catch {
    // Only Linux has /proc.
    return undefined
  }
}
