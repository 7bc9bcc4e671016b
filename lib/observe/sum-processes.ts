import { NO_PROCESS, type ProcessFacts, type Snapshot } from './snapshot.ts'

/** Returns the snapshot of a process that has ended: its counts, and nothing that it no longer uses. */
export function endedSnapshot(snapshot: Snapshot): Snapshot {
  const { server, process } = snapshot
  return {
    ...snapshot,
    workers: 0,
    server: { ...server, inFlight: 0, connections: 0 },
    process: {
      ...process,
      residentBytes: 0,
      heapUsedBytes: 0,
      heapTotalBytes: 0,
      externalBytes: 0,
      openFds: 0,
      eventLoop: NO_PROCESS.eventLoop,
    },
  }
}

/** Adds the facts of two processes, with the worst event loop of them. */
export function addFacts(one: ProcessFacts, other: ProcessFacts): ProcessFacts {
  const { openFds, eventLoop, version, nodeVersion, ...numbers } = one
  const { openFds: otherFds, eventLoop: otherLoop, ...others } = other
  return {
    ...addNumbers(numbers, others),
    openFds: openFds === null || otherFds === null ? null : openFds + otherFds,
    eventLoop: withNumbers(eventLoop, otherLoop, Math.max),
    version,
    nodeVersion,
    pid: one.pid,
  }
}

/** Adds each number of two objects. */
export function addNumbers<T extends object>(one: T, other: T): T {
  return withNumbers(one, other, (a, b) => a + b)
}

function withNumbers<T extends object>(
  one: T,
  other: T,
  join: (a: number, b: number) => number,
): T {
  const entries = Object.entries<number>(one as Record<string, number>)
  const joined = entries.map(([name, value]) => [
    name,
    join(value, Number(Reflect.get(other, name))),
  ])
  return Object.fromEntries(joined) as T
}
