import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toMetrics } from '../../lib/observe/exposition.ts'
import { bucketOf, emptyBuckets } from '../../lib/observe/histogram.ts'
import { NO_PROCESS, type RouteCounts, type Snapshot } from '../../lib/observe/snapshot.ts'
import { problemsOf, samplesOf, sumOf } from '../support/metrics.ts'
import { snapshotWith } from '../support/snapshot.ts'

const OPEN = 'application/openmetrics-text'

describe('toMetrics()', () => {
  for (const accept of ['text/plain', OPEN]) {
    it(`writes ${accept} without a problem, also of an empty snapshot`, () => {
      for (const snapshot of [full(), snapshotWith()]) {
        const { text, contentType } = toMetrics(snapshot, accept)
        assert.deepEqual(problemsOf(text), [])
        assert.ok(contentType.startsWith(accept), contentType)
      }
    })

    it(`has the counts of the snapshot in ${accept}`, () => {
      const { text } = toMetrics(full(), accept)
      const expected: [name: string, labels: Record<string, string>, value: number][] = [
        ['portico_requests_total', { route: 'news/list', method: 'GET', status: '2xx' }, 3],
        ['portico_requests_total', { route: '(unrouted)', method: 'other', status: '4xx' }, 1],
        ['portico_requests_total', { route: '(public)' }, 0],
        ['portico_requests_total', {}, 4],
        ['portico_request_duration_seconds_bucket', { route: 'news/list', le: '0.001' }, 1],
        ['portico_request_duration_seconds_bucket', { route: 'news/list', le: '1.0' }, 2],
        ['portico_request_duration_seconds_bucket', { route: 'news/list', le: '+Inf' }, 3],
        ['portico_request_duration_seconds_count', { route: 'news/list' }, 3],
        ['portico_request_duration_seconds_sum', { route: 'news/list' }, 30.5],
        ['portico_response_bytes_total', { route: 'news/list' }, 2 ** 40],
        ['portico_requests_in_flight', {}, 2],
        ['portico_open_connections', {}, 3],
        ['portico_connections_total', {}, 5],
        ['portico_connections_dropped_total', {}, 4],
        [
          'portico_errors_total',
          { cause: 'client', type: 'EXCEPTION_NO_CONTROLLER', route: '(unrouted)' },
          1,
        ],
        ['portico_unrouted_requests_total', { kind: 'callback' }, 1],
        ['portico_limit_hits_total', { limit: 'body' }, 7],
        ['portico_workers', {}, 1],
        ['process_start_time_seconds', {}, 1],
        ['process_cpu_user_seconds_total', {}, 1.5],
        ['process_cpu_system_seconds_total', {}, 0.5],
        ['process_cpu_seconds_total', {}, 2],
        ['process_open_fds', {}, 20],
        ['nodejs_eventloop_lag_p99_seconds', {}, 0.4],
        ['nodejs_eventloop_utilization', {}, 0.6],
        ['portico_build_info', { version: '1.2.3', node: 'v20.19.0' }, 1],
        ['nodejs_version_info', { version: 'v20.19.0' }, 1],
      ]
      for (const [name, labels, value] of expected) {
        assert.equal(sumOf(text, name, labels), value, `${name} ${JSON.stringify(labels)}`)
      }
    })
  }

  it('chooses the format as the client prefers', () => {
    const prometheus =
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
    const formats = [undefined, '*/*', 'text/html', 'text/plain', prometheus].map(
      (accept) => toMetrics(snapshotWith(), accept).contentType,
    )
    const plain = 'text/plain; version=0.0.4; charset=utf-8'
    const open = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
    assert.deepEqual(formats, [plain, plain, plain, plain, open])
  })

  it('writes a time of creation for each counter and histogram only as OpenMetrics', () => {
    const { text } = toMetrics(full(), OPEN)
    const created = samplesOf(text).filter(({ name }) => name.endsWith('_created'))
    assert.ok(created.length > 10)
    assert.deepEqual(new Set(created.map(({ value }) => value)), new Set([1]))
    assert.doesNotMatch(toMetrics(full()).text, /_created/)
  })

  it('escapes the labels', () => {
    const route = { ...counts('a"b\\c\nd') }
    for (const accept of ['text/plain', OPEN]) {
      const { text } = toMetrics(snapshotWith({ routes: [route] }), accept)
      assert.deepEqual(problemsOf(text), [])
      assert.equal(sumOf(text, 'portico_requests_total', { route: 'a"b\\c\nd' }), 3)
    }
  })

  it('has no metrics of an unknown process, and no descriptors that the system does not list', () => {
    assert.doesNotMatch(toMetrics(snapshotWith()).text, /^(?:process_cpu|nodejs|portico_build)/m)
    const process = { ...NO_PROCESS, nodeVersion: 'v20.19.0' }
    const { text } = toMetrics(snapshotWith({ process }))
    assert.match(text, /^process_cpu_seconds_total 0$/m)
    assert.doesNotMatch(text, /process_open_fds/)
  })
})

describe('The check of metrics', () => {
  const valid = '# HELP a_total Text.\n# TYPE a_total counter\na_total{b="c"} 1\n'

  it('finds what promtool finds', () => {
    assert.deepEqual(problemsOf(valid), [])
    const table: [text: string, problem: string][] = [
      [valid.replace('Text.', ''), 'a_total has no help'],
      [valid + valid, 'a_total is there twice'],
      [`${valid}a_total{b="c"} 2\n`, 'a_total {"b":"c"} is there twice'],
      [`${valid}b_total 2\n`, 'b_total is in a_total'],
      [valid.replaceAll('a_total', 'a'), 'a is a counter'],
      [valid.replaceAll('counter', 'gauge'), 'a_total is a gauge'],
      [valid.replaceAll('a_total', 'a_ms_total'), 'a_ms_total has no base unit'],
      [`${valid}\n`, 'an empty line, or no line break at the end'],
      [valid.replaceAll('a_total', 'a_counter_total'), 'a_counter_total has its type in its name'],
    ]
    for (const [text, problem] of table) assert.ok(problemsOf(text).includes(problem), problem)
    assert.throws(() => problemsOf(`${valid}a_total{b="c} 1\n`), /No sample/)
  })

  it('finds what OpenMetrics forbids', () => {
    const open = '# HELP a Text.\n# TYPE a counter\na_total 1\na_created 1\n# EOF\n'
    assert.deepEqual(problemsOf(open), [])
    const problems = problemsOf(open.replace('a_created 1\n', ''))
    assert.deepEqual(problems, ['a_created'])
    assert.deepEqual(problemsOf(`${valid}# EOF\n`).includes('a_total is a counter'), true)
  })

  it('finds a histogram that does not add up', () => {
    const bucket = (le: string, value: number): string => `a_seconds_bucket{le="${le}"} ${value}\n`
    const head = '# HELP a_seconds Text.\n# TYPE a_seconds histogram\n'
    const tail = 'a_seconds_count 2\na_seconds_sum 1\n'
    assert.deepEqual(problemsOf(head + bucket('1.0', 1) + bucket('+Inf', 2) + tail), [])
    for (const buckets of [
      bucket('1.0', 3) + bucket('+Inf', 2),
      bucket('1.0', 1) + bucket('+Inf', 1),
      bucket('1.0', 1),
      bucket('1.0', 1) + bucket('0.5', 1) + bucket('+Inf', 2),
    ]) {
      assert.equal(problemsOf(head + buckets + tail).length, 1, buckets)
    }
  })
})

function counts(route: string): RouteCounts {
  const buckets = emptyBuckets()
  for (const seconds of [0.000_5, 0.5, 30]) {
    const index = bucketOf(seconds)
    buckets[index] = (buckets[index] ?? 0) + 1
  }
  const requests = [{ method: 'GET', statusClass: 2, count: 3 }] as const
  return { route, kind: 'route', requests, bytes: 2 ** 40, buckets, durationSum: 30.5 }
}

function full(): Snapshot {
  const none = { bytes: 0, buckets: emptyBuckets(), durationSum: 0 }
  return snapshotWith({
    routes: [
      counts('news/list'),
      {
        ...none,
        route: '',
        kind: 'unrouted',
        requests: [{ method: 'other', statusClass: 4, count: 1 }],
      },
      { ...none, route: '', kind: 'public', requests: [] },
    ],
    errors: [{ cause: 'client', type: 'EXCEPTION_NO_CONTROLLER', route: '', count: 1 }],
    unrouted: [{ kind: 'callback', count: 1 }],
    limits: [{ name: 'body', count: 7 }],
    server: { inFlight: 2, connections: 3, droppedConnections: 4, connectionsTotal: 5 },
    process: {
      ...NO_PROCESS,
      cpuUserS: 1.5,
      cpuSystemS: 0.5,
      openFds: 20,
      eventLoop: { mean: 0.1, p50: 0.2, p90: 0.3, p99: 0.4, max: 0.5, utilization: 0.6 },
      version: '1.2.3',
      nodeVersion: 'v20.19.0',
    },
  })
}
