import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ENTRY = fileURLToPath(new URL('server.js', import.meta.url))
// fastify takes its time for 50,000 routes.
const TIMEOUT_MS = 180_000

/** A server in a process of its own. */
export class ServerProcess {
  #child
  port

  /**
   * @param core The core that it is bound to; undefined for none.
   * @param controllers In place of the workload's own number of them.
   */
  static async start(adapter, workload, { core, controllers, nodeOptions = [] } = {}) {
    const more = controllers === undefined ? [] : [String(controllers)]
    const args = [...nodeOptions, ENTRY, adapter, workload, ...more]
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

  ask(question) {
    this.#child.send(question)
    return this.#message()
  }

  /** Nanoseconds on a CPU, of all threads. */
  async cpuNs() {
    return cpuNsOf(this.pid) ?? (await this.ask('cpu'))
  }

  async stop() {
    const { exitCode, signalCode } = this.#child
    if (exitCode !== null || signalCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }

  async #message() {
    const stop = new AbortController()
    const { signal } = stop
    const timer = setTimeout(() => stop.abort(), TIMEOUT_MS)
    try {
      const [message] = await Promise.race([
        once(this.#child, 'message', { signal }),
        once(this.#child, 'exit', { signal }).then(([code]) => {
          throw new Error(`The server has ended with ${code}`)
        }),
      ])
      return message
    } finally {
      clearTimeout(timer)
      stop.abort()
    }
  }
}

/** Runs this very Node, bound to a core or to several. */
export function spawnBound(args, core, stdio) {
  const env = { ...process.env, NODE_ENV: 'production' }
  return core === undefined
    ? spawn(process.execPath, args, { stdio, env })
    : spawn('taskset', ['-c', core, process.execPath, ...args], { stdio, env })
}

/** @returns undefined where the system does not tell. */
export function cpuNsOf(pid) {
  try {
    const tasks = `/proc/${pid}/task`
    return readdirSync(tasks)
      .map((task) => Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]))
      .reduce((sum, ns) => sum + ns, 0)
  } catch {
    return undefined
  }
}

/** Bytes in memory. */
export async function residentBytes(server) {
  try {
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
    return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)[1]) * 1_024
  } catch {
    return (await server.ask('memory')).rss
  }
}
