import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { describe, it } from 'node:test'
import { stopChild } from '../../lib/commands/stop-child.ts'

describe('stopChild()', () => {
  for (const [signal, expected] of [
    ['SIGTERM', 0],
    ['SIGINT', 0],
    ['SIGHUP', 0],
    ['SIGKILL', 1],
    ['SIGSEGV', 1],
  ] as const) {
    it(`returns ${expected} for a child that ${signal} ended before it served`, async () => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)'])
      child.kill(signal)
      assert.equal(await stopChild(child, 60_000), expected)
    })
  }
})
