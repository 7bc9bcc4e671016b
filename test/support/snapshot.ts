import { bucketOf, emptyBuckets } from '../../lib/observe/histogram.ts'
import {
  type Fault,
  type JournalEntry,
  NO_PROCESS,
  type RouteCounts,
  type Snapshot,
} from '../../lib/observe/snapshot.ts'

/** The time of {@link createSnapshot}. */
export const NOW: number = Date.UTC(2026, 0, 2, 3, 4, 5)

/** Creates a snapshot of a process that has run for an hour without a request, with some other fields. */
export function createSnapshot(fields: Partial<Snapshot> = {}): Snapshot {
  return {
    startedAt: NOW - 3_600_000,
    workers: 1,
    routes: [],
    errors: [],
    unrouted: [],
    minutes: [],
    faults: [],
    journal: [],
    limits: [],
    server: { inFlight: 0, connections: 0, droppedConnections: 0, connectionsTotal: 0 },
    process: {
      cpuUserS: 1,
      cpuSystemS: 0.5,
      residentBytes: 50_000_000,
      heapUsedBytes: 10_000_000,
      heapTotalBytes: 20_000_000,
      externalBytes: 1_000_000,
      openFds: 20,
      eventLoop: { mean: 0.001, p50: 0.001, p90: 0.002, p99: 0.01, max: 0.1, utilization: 0.25 },
      version: '1.2.3',
      nodeVersion: 'v20.19.0',
      pid: 4711,
    },
    ...fields,
  }
}

/** Creates a snapshot without counts, of an unknown process. */
export function snapshotWith(fields: Partial<Snapshot> = {}): Snapshot {
  return createSnapshot({ startedAt: 1_000, process: NO_PROCESS, ...fields })
}

/** Creates the counts of a route with GET requests of 3 ms, all with one status. */
export function createRoute(route: string, count: number, statusClass: 2 | 4 | 5 = 2): RouteCounts {
  return {
    route,
    kind: 'route',
    requests: [{ method: 'GET', statusClass, count }],
    bytes: 1_000 * count,
    buckets: bucketsOf(0.003, count),
    durationSum: 0.003 * count,
  }
}

/** Creates buckets with a number of requests of one duration. */
export function bucketsOf(seconds: number, count: number): readonly number[] {
  return emptyBuckets().map((_, i) => (i === bucketOf(seconds) ? count : 0))
}

/** Creates an error that has occurred once, with some other fields. */
export function createFault(fields: Partial<Fault> = {}): Fault {
  return {
    fingerprint: 'EXCEPTION_OTHER TypeError news.js:12:9 news/list',
    type: 'EXCEPTION_OTHER',
    status: 500,
    route: 'news/list',
    count: 1,
    firstAt: NOW - 60_000,
    lastAt: NOW - 60_000,
    ids: ['11111111-2222-4333-8444-555555555555'],
    ...fields,
  }
}

/** Creates an entry of the journal, with some other fields. */
export function createEntry(fields: Partial<JournalEntry> = {}): JournalEntry {
  return {
    path: '/signin/v2/<3>',
    method: 'GET',
    count: 31,
    firstAt: NOW - 7_200_000,
    lastAt: NOW - 5_000,
    params: [
      {
        name: 'dsh',
        count: 31,
        shapes: [
          { shape: 'token(21)', count: 20 },
          { shape: 'token(22)', count: 11 },
        ],
      },
      { name: 'continue', count: 31, shapes: [{ shape: 'url?', count: 31 }] },
    ],
    ...fields,
  }
}
