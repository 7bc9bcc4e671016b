import { EventEmitter, once } from 'node:events'
import { Pool } from 'undici'

/** Requests without a pause, over some keep-alive connections, until it is stopped. */
export class Load {
  /** What was answered other than with 200, or not at all. */
  readonly failures: string[] = []
  /** The texts of the answers. */
  readonly seen = new Set<string>()
  answered = 0
  readonly #pool: Pool
  readonly #events = new EventEmitter().setMaxListeners(0)
  readonly #running: Promise<unknown>
  #isStopping = false

  constructor(url: string, paths: readonly string[], connections: number) {
    this.#pool = new Pool(url, { connections, pipelining: 1 })
    const runners = Array.from({ length: connections }, (_, i) =>
      this.#run(paths[i % paths.length] ?? '/'),
    )
    this.#running = Promise.all(runners)
  }

  /** Waits for an answer after which something is so. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await once(this.#events, 'answer')
  }

  /** Waits for so many more answers. */
  more(answers: number): Promise<void> {
    const goal = this.answered + answers
    return this.until(() => this.answered >= goal)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#running
    await this.#pool.destroy()
  }

  async #run(path: string): Promise<void> {
    // A server that is gone would fail them without an end.
    while (!this.#isStopping && this.failures.length < 100) {
      try {
        const { statusCode, body } = await this.#pool.request({ path, method: 'GET' })
        const text = await body.text()
        if (statusCode === 200) this.seen.add(text)
        else this.failures.push(`${statusCode} ${text}`)
      } catch (error) {
        this.failures.push(String(error))
      }
      this.answered++
      this.#events.emit('answer')
    }
  }
}
