import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MAX_PARAMS } from '../../lib/observe/journal-entry.ts'
import {
  type Fault,
  type JournalEntry,
  NO_PROCESS,
  OTHER,
  type RouteCounts,
  type Snapshot,
} from '../../lib/observe/snapshot.ts'
import { SnapshotPool, splitSnapshot } from '../../lib/observe/snapshot-pool.ts'
import { endedSnapshot } from '../../lib/observe/sum-processes.ts'
import {
  MAX_ENTRIES,
  MAX_FAULTS,
  MAX_MINUTES,
  sumSnapshots,
} from '../../lib/observe/sum-snapshots.ts'
import { snapshotWith } from '../support/snapshot.ts'

const route = (name: string, count: number): RouteCounts => ({
  route: name,
  kind: 'route',
  requests: [{ method: 'GET', statusClass: 2, count }],
  bytes: count * 10,
  buckets: [count, 1],
  durationSum: count / 2,
})

describe('sumSnapshots()', () => {
  it('returns the only snapshot, and rejects an empty list', () => {
    const snapshot = snapshotWith({ routes: [route('news/list', 1)] })
    assert.equal(sumSnapshots([snapshot]), snapshot)
    assert.throws(() => sumSnapshots([]), TypeError)
  })

  it('adds the counts with equal labels', () => {
    const one = snapshotWith({
      startedAt: 2_000,
      routes: [route('news/list', 1), route('news/view', 5)],
      errors: [{ cause: 'server', type: 'EXCEPTION_OTHER', route: 'news/list', count: 1 }],
      unrouted: [{ kind: 'callback', count: 1 }],
      limits: [{ name: 'body', count: 1 }],
      server: { inFlight: 1, connections: 2, droppedConnections: 3, connectionsTotal: 4 },
    })
    const { requests } = route('news/list', 2)
    const posts = { method: 'POST', statusClass: 2, count: 7 } as const
    const other = snapshotWith({
      routes: [{ ...route('news/list', 2), requests: [...requests, posts] }],
      errors: [
        { cause: 'server', type: 'EXCEPTION_OTHER', route: 'news/list', count: 2 },
        { cause: 'client', type: 'EXCEPTION_OTHER', route: 'news/list', count: 4 },
        { cause: 'process', type: 'EXCEPTION_OTHER', route: '', count: 9 },
      ],
      unrouted: [{ kind: 'callback', count: 2 }],
      limits: [{ name: 'body', count: 2 }],
      server: { inFlight: 1, connections: 2, droppedConnections: 3, connectionsTotal: 4 },
    })
    const sum = sumSnapshots([one, other, other])
    assert.deepEqual([sum.startedAt, sum.workers], [1_000, 3])
    assert.deepEqual(sum.routes, [
      {
        ...route('news/list', 5),
        buckets: [5, 3],
        requests: [
          { method: 'GET', statusClass: 2, count: 5 },
          { ...posts, count: 14 },
        ],
      },
      route('news/view', 5),
    ])
    assert.deepEqual(
      sum.errors.map(({ count }) => count),
      [5, 8, 18],
    )
    assert.deepEqual(sum.unrouted, [{ kind: 'callback', count: 5 }])
    assert.deepEqual(sum.limits, [{ name: 'body', count: 5 }])
    const server = { inFlight: 3, connections: 6, droppedConnections: 9, connectionsTotal: 12 }
    assert.deepEqual(sum.server, server)
  })

  it('adds the facts of processes, and takes the worst event loop', () => {
    const eventLoop = { ...NO_PROCESS.eventLoop, p99: 0.5, utilization: 0.1 }
    const facts = { ...NO_PROCESS, cpuUserS: 1, openFds: 3, pid: 7, version: '1', eventLoop }
    const others = { ...facts, pid: 9, version: '2', eventLoop: { ...eventLoop, utilization: 0.9 } }
    const sum = (...list: (typeof facts)[]) =>
      sumSnapshots(list.map((process) => snapshotWith({ process }))).process
    assert.deepEqual(sum(facts, others), {
      ...facts,
      cpuUserS: 2,
      openFds: 6,
      eventLoop: { ...eventLoop, utilization: 0.9 },
    })
    assert.equal(sum(facts, { ...others, openFds: null as never }).openFds, null)
  })

  it('adds minutes, and keeps the last hour', () => {
    const minutes = (first: number) =>
      Array.from({ length: MAX_MINUTES }, (_, i) => ({
        at: (first + i) * 60_000,
        requests: 2,
        errors: 1,
        buckets: [2],
      }))
    const list = [minutes(1), minutes(0)].map((each) => snapshotWith({ minutes: each }))
    const sum = sumSnapshots(list).minutes
    assert.equal(sum.length, MAX_MINUTES)
    assert.deepEqual(sum[0], { at: 60_000, requests: 4, errors: 2, buckets: [4] })
    assert.deepEqual(sum.at(-1), { at: 3_600_000, requests: 2, errors: 1, buckets: [2] })
  })

  it('joins faults by their fingerprint, with the latest ids', () => {
    const fault = (lastAt: number, ids: string[]): Fault => ({
      fingerprint: 'f',
      type: 'EXCEPTION_OTHER',
      status: 500 + lastAt,
      route: 'news/list',
      count: 3,
      firstAt: lastAt - 1,
      lastAt,
      ids,
    })
    const list = [fault(5, ['a', 'b', 'c']), fault(9, ['d', 'e', 'f'])]
    const [sum] = sumSnapshots(list.map((each) => snapshotWith({ faults: [each] }))).faults
    assert.deepEqual(sum, {
      ...fault(9, ['d', 'e', 'f', 'a', 'b']),
      count: 6,
      firstAt: 4,
    })
  })

  it('keeps the latest faults of the server beside many kinds of rejections', () => {
    const snapshotOf = (prefix: string, status: number, count: number, lastAt: number) =>
      snapshotWith({
        faults: Array.from({ length: 50 }, (_, i) => ({
          fingerprint: `${prefix}${i}`,
          type: 'EXCEPTION_OTHER',
          status,
          route: '',
          count,
          firstAt: 1,
          lastAt,
          ids: [],
        })),
      })
    const scanned = ['a', 'b', 'c'].map((prefix) => snapshotOf(prefix, 404, 1_000, 9))
    const ended = ['d', 'e'].map((prefix) => snapshotOf(prefix, 500, 100, 2))
    const { faults } = sumSnapshots([...scanned, ...ended, snapshotOf('new', 500, 1, 3)])
    assert.equal(faults.length, MAX_FAULTS + 1)
    assert.equal(faults.filter(({ fingerprint }) => fingerprint.startsWith('new')).length, 50)
    assert.equal(faults.slice(0, -1).filter(({ status }) => status === 404).length, 50)
    assert.equal(faults.at(-1)?.count, 50 * 2_000 + 50 * 200)
  })

  it('joins entries of the journal by method and path, with their parameters', () => {
    const entry = (count: number, shape: string, hint?: string): JournalEntry => ({
      path: '/signin/<2>',
      method: 'GET',
      count,
      firstAt: count,
      lastAt: 10 + count,
      ...(hint && { hint }),
      params: [{ name: 'code', count, shapes: [{ shape, count }] }],
    })
    const list = [entry(1, 'token(9)', 'a hint'), entry(2, 'token(9)'), entry(3, 'empty')]
    const [sum] = sumSnapshots(list.map((each) => snapshotWith({ journal: [each] }))).journal
    assert.deepEqual(sum, {
      ...entry(6, '', 'a hint'),
      firstAt: 1,
      lastAt: 13,
      params: [
        {
          name: 'code',
          count: 6,
          shapes: [
            { shape: 'token(9)', count: 3 },
            { shape: 'empty', count: 3 },
          ],
        },
      ],
    })
  })

  it('bounds the parameters of an entry and their shapes, however many processes have ended', () => {
    const entryOf = (process: number): JournalEntry => ({
      path: '/a',
      method: 'GET',
      count: 25,
      firstAt: 1,
      lastAt: 2,
      params: [
        { name: 'id', count: 1, shapes: [{ shape: `token(${process + 1}-300)`, count: 1 }] },
        ...Array.from({ length: 24 }, (_, i) => ({
          name: `p${process}x${i}`,
          count: 1,
          shapes: [{ shape: 'empty', count: 1 }],
        })),
      ],
    })
    const list = Array.from({ length: 200 }, (_, i) => snapshotWith({ journal: [entryOf(i)] }))
    const [{ count, params = [] } = {}] = sumSnapshots(list).journal
    assert.deepEqual([count, params.length], [5_000, MAX_PARAMS + 1])
    assert.deepEqual(params[0], {
      name: 'id',
      count: 200,
      shapes: [{ shape: 'token(1-300)', count: 200 }],
    })
    const others = { name: OTHER, count: 4_777, shapes: [{ shape: 'empty', count: 4_777 }] }
    assert.deepEqual(params.at(-1), others)
  })

  it('bounds faults and journal, with exact totals', () => {
    const times = { firstAt: 1, lastAt: 2 }
    const many = (prefix: string): Snapshot => {
      const indices = Array.from({ length: 300 }, (_, i) => i)
      return snapshotWith({
        faults: indices.map((i) => ({
          ...times,
          fingerprint: `${prefix}${i}`,
          type: 'EXCEPTION_OTHER',
          status: 500,
          route: '',
          count: i + 1,
          ids: [],
        })),
        journal: indices.map((i) => ({
          ...times,
          path: `/${prefix}${i}`,
          method: 'GET',
          count: i + 1,
          params: [],
        })),
      })
    }
    const total = (list: readonly { count: number }[]): number =>
      list.reduce((sum, { count }) => sum + count, 0)
    const { faults, journal } = sumSnapshots([many('a'), many('b'), many('c'), many('a')])
    assert.deepEqual([faults.length, journal.length], [MAX_FAULTS + 1, MAX_ENTRIES + 1])
    assert.deepEqual([faults.at(-1)?.fingerprint, journal.at(-1)?.path], [OTHER, OTHER])
    assert.deepEqual([total(faults), total(journal)], [4 * 45_150, 4 * 45_150])
    assert.equal(faults[0]?.fingerprint, 'a299')
  })
})

describe('SnapshotPool', () => {
  const own = snapshotWith({ server: { ...snapshotWith().server, connections: 0 } })
  const of = (count: number): Snapshot =>
    snapshotWith({
      routes: [route('news/list', count)],
      server: { inFlight: 1, connections: 1, droppedConnections: 0, connectionsTotal: count },
      process: { ...NO_PROCESS, cpuUserS: count, residentBytes: 100, openFds: 1 },
    })
  const read = ({ workers, routes, server, process }: Snapshot) => ({
    workers,
    requests: routes[0]?.requests[0]?.count,
    connections: [server.inFlight, server.connections, server.connectionsTotal],
    process: [process.cpuUserS, process.residentBytes],
  })

  it('keeps the counts of a process that has ended, and not what it used', () => {
    const pool = new SnapshotPool()
    const running = new Set([1, 2])
    const sum = () => read(pool.sum(own, (id) => running.has(id)))
    assert.deepEqual(sum(), {
      workers: 0,
      requests: undefined,
      connections: [0, 0, 0],
      process: [0, 0],
    })
    const keep = (id: number, snapshot: Snapshot): void => {
      for (const part of splitSnapshot(snapshot)) pool.keep(id, part)
    }
    keep(1, of(10))
    keep(2, of(20))
    keep(2, of(25))
    const both = { workers: 2, requests: 35, connections: [2, 2, 35], process: [35, 200] }
    assert.deepEqual([sum(), sum()], [both, both])
    running.delete(1)
    const one = { workers: 1, requests: 35, connections: [1, 1, 35], process: [35, 100] }
    assert.deepEqual([sum(), sum()], [one, one])
    running.delete(2)
    keep(3, of(5))
    running.add(3)
    const next = { workers: 1, requests: 40, connections: [1, 1, 40], process: [40, 100] }
    assert.deepEqual([sum(), sum()], [next, next])
  })

  it('keeps a snapshot in parts: the one before counts until the last part', () => {
    const pool = new SnapshotPool()
    const routes = Array.from({ length: 1_200 }, (_, i) => route(`news/a${i}`, 1))
    const parts = [...splitSnapshot(snapshotWith({ routes }))]
    assert.deepEqual(
      parts.map((part) => part.routes.length),
      [500, 500, 200],
    )
    const sum = () => pool.sum(own, () => true).routes
    for (const part of splitSnapshot(of(7))) pool.keep(1, part)
    for (const part of parts) {
      assert.equal(sum().length, 1)
      pool.keep(1, part)
    }
    assert.deepEqual(sum(), routes)
    // One process has ended in between. Its last snapshot counts.
    for (const part of parts.slice(0, 2)) pool.keep(1, part)
    assert.deepEqual(pool.sum(own, () => false).routes, routes)
    for (const part of parts) pool.keep(1, part)
    assert.deepEqual(
      sum().map(({ bytes }) => bytes),
      routes.map(({ bytes }) => 2 * bytes),
    )
  })

  it('regards an ended process as one without an event loop', () => {
    const eventLoop = { mean: 1, p50: 1, p90: 1, p99: 1, max: 1, utilization: 1 }
    const { process } = endedSnapshot(snapshotWith({ process: { ...NO_PROCESS, eventLoop } }))
    assert.deepEqual(process, { ...NO_PROCESS, openFds: 0 })
  })
})
