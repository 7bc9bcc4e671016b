import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import { watchProcess } from '../../lib/process/process-facts.ts'

describe('watchProcess()', () => {
  it('returns the facts of this process', () => {
    // The system counts its own time in ticks: a process that has just started may have used none.
    while (process.cpuUsage().system === 0) existsSync('.')
    const { openFds, version, nodeVersion, pid, eventLoop, ...numbers } = watchProcess('1.2.3')()
    assert.deepEqual([version, nodeVersion, pid], ['1.2.3', process.version, process.pid])
    for (const [name, value] of Object.entries(numbers)) assert.ok(value > 0, `${name} ${value}`)
    if (existsSync('/proc/self/fd')) assert.ok((openFds ?? 0) > 2)
    else assert.equal(openFds, null)
    for (const [name, value] of Object.entries(eventLoop)) assert.ok(value >= 0, `${name} ${value}`)
  })

  it('measures the event loop since its last call', async () => {
    const read = watchProcess()
    read()
    // The first interval after a call is not measured.
    await new Promise((resolve) => setTimeout(resolve, 50))
    const blockedUntil = performance.now() + 200
    while (performance.now() < blockedUntil);
    await new Promise((resolve) => setTimeout(resolve, 50))
    const { eventLoop } = read()
    assert.ok(eventLoop.max >= 0.1, `${eventLoop.max}`)
    assert.ok(eventLoop.utilization > 0 && eventLoop.utilization <= 1)
    const { mean, p50, p90, p99, max } = eventLoop
    assert.deepEqual(
      [p50, p90, p99, max].toSorted((a, b) => a - b),
      [p50, p90, p99, max],
    )
    assert.ok(mean <= max)
    const empty = read().eventLoop
    assert.ok(empty.max < 0.1, `${empty.max}`)
  })
})
