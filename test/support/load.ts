import { EventEmitter, once } from 'node:events'
import type { TestContext } from 'node:test'
import { Pool } from 'undici'

/** Sends requests without a pause, over several keep-alive connections, until it is stopped. */
export class Load {
  /** The responses with another status than 200, and the requests without a response. */
  readonly failures: string[] = []
  /** The different bodies of the responses. */
  readonly bodies = new Set<string>()
  /** The number of requests that have ended. */
  ended = 0
  readonly #pool: Pool
  readonly #events = new EventEmitter().setMaxListeners(0)
  readonly #running: Promise<unknown>
  #isStopping = false

  constructor(t: TestContext, url: string, paths: readonly string[], connections: number) {
    this.#pool = new Pool(url, { connections, pipelining: 1 })
    const runners = Array.from({ length: connections }, (_, i) =>
      this.#run(paths[i % paths.length] ?? '/'),
    )
    this.#running = Promise.all(runners)
    t.after(() => this.stop())
  }

  /** Waits for a response after which the condition holds. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await once(this.#events, 'end')
  }

  /** Waits until this number of further requests has ended. */
  more(requests: number): Promise<void> {
    const goal = this.ended + requests
    return this.until(() => this.ended >= goal)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#running
    await this.#pool.destroy()
  }

  async #run(path: string): Promise<void> {
    // Without a limit, requests to a server that has ended would fail forever.
    while (!this.#isStopping && this.failures.length < 100) {
      try {
        const { statusCode, body } = await this.#pool.request({ path, method: 'GET' })
        const text = await body.text()
        if (statusCode === 200) this.bodies.add(text)
        else this.failures.push(`${statusCode} ${text}`)
      } catch (error) {
        this.failures.push(String(error))
      }
      this.ended++
      this.#events.emit('end')
    }
  }
}
