import { negotiate } from '../http/accept.ts'
import { type Family, familiesOf, type Labels, type Sample } from './metrics.ts'
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

/**
 * Writes the metrics of a snapshot in the text format of Prometheus (0.0.4), or as OpenMetrics (1.0.0) if the client prefers it.
 *
 * @example
 * const { contentType, text } = toMetrics(observer.snapshot(), request.header('Accept'))
 * @param accept The header `Accept` of the request (default: the text format of Prometheus).
 */
export function toMetrics(snapshot: Snapshot, accept?: string): Exposition {
  const type = negotiate(accept, [PLAIN, OPEN_METRICS])
  const families = familiesOf(snapshot)
  const text =
    type === PLAIN
      ? families.map(plainText).join('')
      : `${families.map((family) => openMetricsText(family, snapshot.startedAt)).join('')}# EOF\n`
  return { contentType: CONTENT_TYPES[type], text }
}

// The older format has no infos, and the name of a counter ends with `_total` everywhere.
function plainText({ name, type, help, metrics }: Family): string {
  const suffix = { counter: '_total', info: '_info', gauge: '', histogram: '' }[type]
  const header = headerOf(`${name}${suffix}`, type === 'info' ? 'gauge' : type, help)
  return header + metrics.flatMap((samples) => samples.map(lineOf(name))).join('')
}

// A counter and a histogram have the time at which they were 0, for each set of labels.
function openMetricsText({ name, type, help, metrics }: Family, startedAt: number): string {
  const hasCreated = type === 'counter' || type === 'histogram'
  const withCreated = (samples: readonly Sample[]): readonly Sample[] => {
    const { labels = {} } = samples.at(-1) ?? {}
    return [...samples, { suffix: '_created', labels, value: startedAt / 1_000 }]
  }
  const all = hasCreated ? metrics.map(withCreated) : metrics
  return headerOf(name, type, help) + all.flatMap((samples) => samples.map(lineOf(name))).join('')
}

function headerOf(name: string, type: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

function lineOf(name: string): (sample: Sample) => string {
  return ({ suffix = '', labels = {}, value }) => `${name}${suffix}${labelsText(labels)} ${value}\n`
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeLabel(text: string): string {
  return text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')
}
