import { negotiate } from '../http/accept.ts'
import { BUCKETS } from './histogram.ts'
import { type Family, familiesOf, type Metric } from './metrics.ts'
import type { Snapshot } from './snapshot.ts'

/** A text of metrics and its media type. */
export interface Exposition {
  /** The media type with its version, for the header `Content-Type`. */
  readonly contentType: string
  /** The metrics. */
  readonly text: string
}

const PLAIN = 'text/plain'
const OPEN_METRICS = 'application/openmetrics-text'
const CONTENT_TYPES = {
  [PLAIN]: `${PLAIN}; version=0.0.4; charset=utf-8`,
  [OPEN_METRICS]: `${OPEN_METRICS}; version=1.0.0; charset=utf-8`,
} as const

// OpenMetrics: a bound always has a decimal point. The label is the same in both formats, because it names a series.
const BOUNDS = [
  ...BUCKETS.map((bound) => (Number.isInteger(bound) ? `${bound}.0` : String(bound))),
  '+Inf',
].map((bound) => `,le="${bound}"}`)

/**
 * Writes the metrics of a snapshot in the text format of Prometheus (0.0.4), or as OpenMetrics (1.0.0) if the client prefers it.
 *
 * @example
 * const { contentType, text } = toMetrics(observer.snapshot(), request.header('Accept'))
 * @param accept The header `Accept` of the request (default: the text format of Prometheus).
 */
export function toMetrics(snapshot: Snapshot, accept?: string): Exposition {
  const { contentType, texts } = toMetricTexts(snapshot, accept)
  return { contentType, text: [...texts].join('') }
}

/** Does the same as {@link toMetrics} in many texts: each one is made when it is requested. */
export function toMetricTexts(
  snapshot: Snapshot,
  accept?: string,
): Pick<Exposition, 'contentType'> & { readonly texts: Iterable<string> } {
  const type = negotiate(accept, [PLAIN, OPEN_METRICS])
  const createdAt = type === PLAIN ? undefined : snapshot.startedAt / 1_000
  return {
    contentType: CONTENT_TYPES[type],
    texts: textsOf(familiesOf(snapshot), createdAt),
  }
}

// Writes OpenMetrics if it gets `createdAt`, the time at which the counts began.
function* textsOf(families: readonly Family[], createdAt: number | undefined): Iterable<string> {
  for (const family of families) {
    yield createdAt === undefined ? plainHeader(family) : headerOf(family)
    for (const metric of family.metrics) yield linesOf(family, metric, createdAt)
  }
  if (createdAt !== undefined) yield '# EOF\n'
}

const SUFFIXES = { counter: '_total', info: '_info', gauge: '', histogram: '' } as const

// The older format has no infos, and the name of a counter ends with `_total` everywhere.
function plainHeader({ name, type, help }: Family): string {
  return headerOf({ name: name + SUFFIXES[type], type: type === 'info' ? 'gauge' : type, help })
}

function headerOf({ name, type, help }: Pick<Family, 'name' | 'type' | 'help'>): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

// In OpenMetrics, a counter and a histogram have the time at which they were 0, for each set of labels.
function linesOf({ name, type }: Family, metric: Metric, createdAt: number | undefined): string {
  const labels = metric.labels === '' ? '' : `{${metric.labels}}`
  const hasCreated = createdAt !== undefined && (type === 'counter' || type === 'histogram')
  const created = hasCreated ? `${name}_created${labels} ${createdAt}\n` : ''
  return metric.buckets === undefined
    ? `${name}${SUFFIXES[type]}${labels} ${metric.value}\n${created}`
    : histogramLines(name, metric.buckets, metric) + created
}

function histogramLines(
  name: string,
  buckets: readonly number[],
  { labels, value }: Metric,
): string {
  const start = `${name}_bucket{${labels}`
  let lines = ''
  let count = 0
  for (const [i, bound] of BOUNDS.entries()) {
    count += buckets[i] ?? 0
    lines += `${start}${bound} ${count}\n`
  }
  return `${lines}${name}_count{${labels}} ${count}\n${name}_sum{${labels}} ${value}\n`
}
