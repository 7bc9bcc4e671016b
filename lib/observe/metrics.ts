import { BUCKETS } from './histogram.ts'
import { labelOf, type ProcessFacts, type RouteCounts, type Snapshot } from './snapshot.ts'

/** The labels of a sample. */
export type Labels = Readonly<Record<string, string>>

/** A sample: `suffix` is added to the name of its family. */
export interface Sample {
  readonly suffix?: string
  readonly labels?: Labels
  readonly value: number
}

/** The samples of one name. */
export interface Family {
  /** The name without a suffix such as `_total`. */
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'info'
  readonly help: string
  /** A list for each set of labels. */
  readonly metrics: readonly (readonly Sample[])[]
}

/** Returns what a snapshot shows as metrics. */
export function familiesOf(snapshot: Snapshot): readonly Family[] {
  const { routes, errors, unrouted, limits, server, process: facts, startedAt, workers } = snapshot
  const requests = routes.flatMap(({ requests: counts, ...route }) =>
    counts.map(({ method, statusClass, count }): Sample => {
      const labels = { route: labelOf(route), method, status: `${statusClass}xx` }
      return { labels, value: count }
    }),
  )
  const isKnown = facts.nodeVersion !== ''
  return [
    counter(
      'portico_requests',
      'Requests whose response has been sent, or whose client has left.',
      requests,
    ),
    {
      name: 'portico_request_duration_seconds',
      type: 'histogram',
      help: 'Time from the headers of a request to the end of its response.',
      metrics: routes.map(histogramOf),
    },
    counter(
      'portico_response_bytes',
      'Bytes of the bodies of responses.',
      routes.map((route) => ({ labels: { route: labelOf(route) }, value: route.bytes })),
    ),
    gauge(
      'portico_requests_in_flight',
      'Requests whose responses are not sent yet.',
      server.inFlight,
    ),
    gauge('portico_open_connections', 'Open connections.', server.connections),
    counter('portico_connections', 'Accepted connections.', [{ value: server.connectionsTotal }]),
    counter('portico_connections_dropped', 'Connections closed at once: too many were open.', [
      { value: server.droppedConnections },
    ]),
    counter(
      'portico_errors',
      'Errors of requests, and those outside of any request.',
      errors.map(({ cause, type, route, count }) => ({
        labels: { cause, type, route },
        value: count,
      })),
    ),
    counter(
      'portico_unrouted_requests',
      'Requests that no action serves.',
      unrouted.map(({ kind, count }) => ({ labels: { kind }, value: count })),
    ),
    counter(
      'portico_limit_hits',
      'Requests and connections beyond a limit.',
      limits.map(({ name, count }) => ({ labels: { limit: name }, value: count })),
    ),
    gauge('portico_workers', 'Processes that serve.', workers),
    gauge('process_start_time_seconds', 'Start of the counts since the epoch.', startedAt / 1_000),
    ...(isKnown ? processFamilies(facts) : []),
  ]
}

function processFamilies(facts: ProcessFacts): readonly Family[] {
  const { cpuUserS, cpuSystemS, openFds, eventLoop, version, nodeVersion } = facts
  const cpu = (part: string, what: string, value: number): Family =>
    counter(`process_cpu${part}_seconds`, `CPU time ${what}.`, [{ value }])
  return [
    cpu('_user', 'in user code', cpuUserS),
    cpu('_system', 'in the system', cpuSystemS),
    cpu('', 'in user code and in the system', cpuUserS + cpuSystemS),
    gauge('process_resident_memory_bytes', 'Resident memory.', facts.residentBytes),
    ...(openFds === null ? [] : [gauge('process_open_fds', 'Open file descriptors.', openFds)]),
    gauge('nodejs_heap_size_total_bytes', 'Size of the heap.', facts.heapTotalBytes),
    gauge('nodejs_heap_size_used_bytes', 'Used part of the heap.', facts.heapUsedBytes),
    gauge('nodejs_external_memory_bytes', 'Memory outside of the heap.', facts.externalBytes),
    ...(['mean', 'p50', 'p90', 'p99', 'max'] as const).map((name) =>
      gauge(
        `nodejs_eventloop_lag_${name}_seconds`,
        `Delay of the event loop since the last scrape (${name}); the worst of several processes.`,
        eventLoop[name],
      ),
    ),
    gauge(
      'nodejs_eventloop_utilization',
      'Busy part of the event loop since the last scrape, from 0 to 1; the worst of several processes.',
      eventLoop.utilization,
    ),
    info('portico_build', 'Versions of Portico and Node.', { version, node: nodeVersion }),
    info('nodejs_version', 'Version of Node.', { version: nodeVersion }),
  ]
}

function counter(name: string, help: string, samples: readonly Sample[]): Family {
  const metrics = samples.map((sample) => [{ ...sample, suffix: '_total' }])
  return { name, type: 'counter', help, metrics }
}

function gauge(name: string, help: string, value: number): Family {
  return { name, type: 'gauge', help, metrics: [[{ value }]] }
}

function info(name: string, help: string, labels: Labels): Family {
  return { name, type: 'info', help, metrics: [[{ suffix: '_info', labels, value: 1 }]] }
}

function histogramOf(route: RouteCounts): readonly Sample[] {
  const labels = { route: labelOf(route) }
  let count = 0
  const buckets = route.buckets.map((requests, i): Sample => {
    count += requests
    return { suffix: '_bucket', labels: { ...labels, le: boundOf(BUCKETS[i]) }, value: count }
  })
  return [
    ...buckets,
    { suffix: '_count', labels, value: count },
    { suffix: '_sum', labels, value: route.durationSum },
  ]
}

// OpenMetrics: a bound always has a decimal point. The label is the same in both formats, because it names a series.
function boundOf(bound: number | undefined): string {
  if (bound === undefined) return '+Inf'
  return Number.isInteger(bound) ? `${bound}.0` : String(bound)
}
