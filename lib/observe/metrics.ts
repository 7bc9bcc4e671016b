import {
  type ErrorCause,
  labelOf,
  type ProcessFacts,
  type RouteCounts,
  type Snapshot,
} from './snapshot.ts'

const OF_LOOP = 'of the event loop since the last scrape, the worst of all processes'

/** The value of a family for one set of labels. */
export interface Metric {
  /** The labels as a text, such as `route="news/list"`; '' if there are none. */
  readonly labels: string
  /** The value; of a histogram, the sum of what was observed. */
  readonly value: number
  /** Of a histogram: how often something was observed, by bucket; not cumulative. */
  readonly buckets?: readonly number[]
}

/** The metrics of one name. */
export interface Family {
  /** The name without a suffix such as `_total`. */
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'info'
  readonly help: string
  /** Made one after the other: thousands of routes take a while. */
  readonly metrics: Iterable<Metric>
}

/** Returns what a snapshot shows as metrics. */
export function familiesOf(snapshot: Snapshot): readonly Family[] {
  const { routes, errors, unrouted, limits, server, process: facts, startedAt, workers } = snapshot
  // Each label of a route is in more than 20 lines.
  const routeLabels = routes.map((route) => labelsText({ route: labelOf(route) }))
  const isKnown = facts.nodeVersion !== ''
  return [
    counter(
      'portico_requests',
      'Requests whose response has been sent, or whose client has left.',
      requestMetrics(routes, routeLabels),
    ),
    {
      name: 'portico_request_duration_seconds',
      type: 'histogram',
      help: 'Time from the headers of a request to the end of its response.',
      metrics: histograms(routes, routeLabels),
    },
    counter(
      'portico_response_bytes',
      'Bytes of the bodies of responses.',
      routes.map(({ bytes }, i) => ({ labels: routeLabels[i] ?? '', value: bytes })),
    ),
    gauge('portico_requests_in_flight', 'Requests in flight.', server.inFlight),
    gauge('portico_open_connections', 'Open connections.', server.connections),
    counter('portico_connections', 'Accepted connections.', [unlabeled(server.connectionsTotal)]),
    counter('portico_connections_dropped', 'Connections closed at once, beyond the limit.', [
      unlabeled(server.droppedConnections),
    ]),
    counter(
      'portico_errors',
      'Errors by cause, type and route.',
      errors.map(({ cause, type, route, count }) => ({
        labels: labelsText({ cause, type, route: errorRouteOf(route, cause) }),
        value: count,
      })),
    ),
    counter(
      'portico_unrouted_requests',
      'Requests that no action serves.',
      unrouted.map(({ kind, count }) => ({ labels: labelsText({ kind }), value: count })),
    ),
    counter(
      'portico_limit_hits',
      'Hits of limits.',
      limits.map(({ name, count }) => ({ labels: labelsText({ limit: name }), value: count })),
    ),
    gauge('portico_workers', 'Processes that serve.', workers),
    gauge('process_start_time_seconds', 'Start of the counts since the epoch.', startedAt / 1_000),
    ...(isKnown ? processFamilies(facts) : []),
  ]
}

function processFamilies(facts: ProcessFacts): readonly Family[] {
  const { cpuUserS, cpuSystemS, openFds, eventLoop, version, nodeVersion } = facts
  const cpu = (part: string, what: string, value: number): Family =>
    counter(`process_cpu${part}_seconds`, `CPU time ${what}.`, [unlabeled(value)])
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
      gauge(`nodejs_eventloop_lag_${name}_seconds`, `Delay ${OF_LOOP}: ${name}.`, eventLoop[name]),
    ),
    gauge('nodejs_eventloop_utilization', `Busy part ${OF_LOOP}.`, eventLoop.utilization),
    info('portico_build', 'Versions of Portico and Node.', { version, node: nodeVersion }),
    info('nodejs_version', 'Version of Node.', { version: nodeVersion }),
  ]
}

function* requestMetrics(
  routes: readonly RouteCounts[],
  routeLabels: readonly string[],
): Iterable<Metric> {
  for (const [i, { requests }] of routes.entries()) {
    for (const { method, statusClass, count } of requests) {
      const labels = `${routeLabels[i]},method="${method}",status="${statusClass}xx"`
      yield { labels, value: count }
    }
  }
}

function* histograms(
  routes: readonly RouteCounts[],
  routeLabels: readonly string[],
): Iterable<Metric> {
  for (const [i, { buckets, durationSum }] of routes.entries()) {
    yield { labels: routeLabels[i] ?? '', value: durationSum, buckets }
  }
}

function counter(name: string, help: string, metrics: Iterable<Metric>): Family {
  return { name, type: 'counter', help, metrics }
}

function gauge(name: string, help: string, value: number): Family {
  return { name, type: 'gauge', help, metrics: [unlabeled(value)] }
}

function info(name: string, help: string, labels: Readonly<Record<string, string>>): Family {
  return { name, type: 'info', help, metrics: [{ labels: labelsText(labels), value: 1 }] }
}

function unlabeled(value: number): Metric {
  return { labels: '', value }
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',')
}

function escapeLabel(text: string): string {
  return text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')
}

// An error outside of requests has no route.
function errorRouteOf(route: string, cause: ErrorCause): string {
  return cause === 'process' ? '' : labelOf({ route, kind: route === '' ? 'unrouted' : 'route' })
}
