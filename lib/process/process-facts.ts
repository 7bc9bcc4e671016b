import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { EventLoopFacts, ProcessFacts } from '../observe/snapshot.ts'

// Not shorter, because each measurement wakes the process.
const RESOLUTION_MS = 20

/**
 * Begins to measure the event loop of this process.
 *
 * @param version The version of Portico, for the label of a metric (default '').
 * @returns A function that returns the facts of the process, with the event loop since its last call.
 */
export function watchProcess(version = ''): () => ProcessFacts {
  const readEventLoop = watchEventLoop()
  return () => {
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
    return {
      cpuUserS: user / 1e6,
      cpuSystemS: system / 1e6,
      residentBytes: rss,
      heapUsedBytes: heapUsed,
      heapTotalBytes: heapTotal,
      externalBytes: external,
      openFds: countOpenFds(),
      eventLoop: readEventLoop(),
      version,
      nodeVersion: process.version,
      pid: process.pid,
    }
  }
}

function watchEventLoop(): () => EventLoopFacts {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    // A delay includes the interval of the measurement. It is NaN if there was no measurement.
    const seconds = (ns: number): number => Math.max(0, (ns || 0) / 1e9 - RESOLUTION_MS / 1e3)
    const facts = {
      mean: seconds(delays.mean),
      p50: seconds(delays.percentile(50)),
      p90: seconds(delays.percentile(90)),
      p99: seconds(delays.percentile(99)),
      max: seconds(delays.max),
      utilization,
    }
    delays.reset()
    return facts
  }
}

function countOpenFds(): number | null {
  try {
    // One of them is that of the folder.
    return readdirSync('/proc/self/fd').length - 1
  } catch {
    // Only Linux has the folder.
    return null
  }
}
