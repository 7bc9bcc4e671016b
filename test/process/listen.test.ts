import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { logStart } from '../../lib/process/listen.ts'
import { WATCHER_VARIABLE } from '../../lib/process/watched.ts'

describe('logStart()', () => {
  for (const [url, port] of [
    ['http://127.0.0.1:3000', 3_000],
    ['http://127.0.0.1:80', 80],
    ['http://[fe80::1%eth0]:3000', 3_000],
  ] as const) {
    it(`logs ${url}, and reports its port to the watcher`, (t) => {
      const sent: unknown[] = []
      const lines: string[] = []
      const { send } = process
      process.send = (message: unknown) => sent.push(message) > 0
      process.env[WATCHER_VARIABLE] = String(process.ppid)
      t.after(() => {
        Object.assign(process, { send })
        delete process.env[WATCHER_VARIABLE]
      })
      const info = (_: object, message: string): void => void lines.push(message)
      logStart({ info, warn: info, error: info }, url)
      assert.ok(lines[0]?.endsWith(`listens on ${url}`))
      assert.deepEqual(sent, [{ 'portico:port': port }])
    })
  }
})
