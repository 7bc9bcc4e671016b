import { html, Markup } from '../http/html.ts'
import { addBuckets, emptyBuckets, quantile } from './histogram.ts'
import { SCRIPT } from './page-style.ts'
import { faultTable, journalTable, routeTable } from './page-tables.ts'
import { bytesText, numberText, percentText, secondsText, spanText } from './page-text.ts'
import { barPlot, linePlot } from './plot.ts'
import type { MinuteCounts, Snapshot } from './snapshot.ts'

/** The content of the operator's page. */
export interface OperatorView {
  readonly snapshot: Snapshot
  /** Whether the process accepts requests, as `/readyz` says. */
  readonly isReady: boolean
  /** The settings by name. */
  readonly config: Readonly<Record<string, string>>
  /** The time of the page, in milliseconds since the epoch. */
  readonly now: number
}

const MINUTE_MS = 60_000
const MINUTES = 60
// Without JavaScript, the browser loads the page again.
const RELOAD_S = 30

/** Renders the operator's page. It shows no value of a request, and works without its script. */
export function operatorPage(view: OperatorView): string {
  const { snapshot, isReady, now } = view
  const { startedAt, workers, process: facts } = snapshot
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Portico: ${isReady ? 'ready' : 'not ready'}</title><link rel="stylesheet" href="operator.css"><link rel="icon" href="data:,">
<noscript><meta http-equiv="refresh" content="${RELOAD_S}"></noscript><script>${new Markup(SCRIPT)}</script></head><body>
<header><h1>Portico ${facts.version}</h1><span class="${isReady ? 'status' : 'status bad'}">${isReady ? 'ready' : 'not ready'}</span>
<span class="soft">up ${spanText(now - startedAt)} · ${workers === 1 ? 'process' : `${workers} workers of process`} ${facts.pid} · Node ${facts.nodeVersion}</span></header>
<main>${tiles(snapshot, now)}${plots(snapshot.minutes, now)}
${section('Routes', routeTable(snapshot.routes), 'No request yet.')}
${section('Errors', faultTable(snapshot.faults, now), 'No error yet.')}
${section('Requests that failed', journalTable(snapshot.journal, now), 'None yet.')}
${section('Kinds of errors', kinds(snapshot), 'None yet.')}
${section('Limits that were hit', limits(snapshot), 'None yet.')}
${section('Configuration', factList(Object.entries(view.config)), 'Not given.')}</main>
<footer><a href="metrics">Metrics</a> for Prometheus · <a href="journal.json">Journal</a> as JSON · <span class="soft">${new Date(now).toISOString()}</span></footer>
</body></html>
`.toString()
}

function section(title: string, content: Markup | undefined, none: string): Markup {
  return html`<section><h2>${title}</h2>${content ?? html`<p class="soft">${none}</p>`}</section>`
}

function tiles({ routes, minutes, server, process: usage }: Snapshot, now: number): Markup {
  const all = emptyBuckets()
  let total = 0
  let failed = 0
  for (const { requests, buckets } of routes) {
    addBuckets(all, buckets)
    for (const { count, statusClass } of requests) {
      total += count
      if (statusClass === 5) failed += count
    }
  }
  const last = minutes.findLast(({ at }) => at <= now - MINUTE_MS && at > now - 2 * MINUTE_MS)
  const latencies = [0.5, 0.95, 0.99].map((q) => secondsText(quantile(all, q)))
  const facts: readonly (readonly [name: string, value: string, more: string])[] = [
    [
      'Requests',
      numberText(total),
      `${numberText((last?.requests ?? 0) / 60)} per second in the last minute`,
    ],
    ['Server errors', percentText(failed, total), `status 5xx: ${numberText(failed)}`],
    ['Latency, median', latencies[0] ?? '', `95 %: ${latencies[1]}, 99 %: ${latencies[2]}`],
    [
      'In flight',
      numberText(server.inFlight),
      `${numberText(server.connections)} connections open`,
    ],
    [
      'Memory',
      bytesText(usage.residentBytes),
      `${bytesText(usage.heapUsedBytes)} of the heap used`,
    ],
    [
      'Event loop',
      percentText(usage.eventLoop.utilization, 1),
      `busy; 99 % within ${secondsText(usage.eventLoop.p99)}`,
    ],
  ]
  return html`<dl class="tiles">${facts.map(
    ([name, value, more]) =>
      html`<div><dt>${name}</dt><dd>${value} <small>${more}</small></dd></div>`,
  )}</dl>`
}

function plots(minutes: readonly MinuteCounts[], now: number): Markup {
  const first = now - (now % MINUTE_MS) - (MINUTES - 1) * MINUTE_MS
  const row: (MinuteCounts | undefined)[] = new Array(MINUTES).fill(undefined)
  for (const minute of minutes) {
    const index = Math.round((minute.at - first) / MINUTE_MS)
    if (index >= 0 && index < MINUTES) row[index] = minute
  }
  const latency = (q: number) => row.map((minute) => minute && quantile(minute.buckets, q))
  return html`<div class="plots">${barPlot(
    'Requests per minute',
    [
      { name: 'requests', values: row.map((minute) => minute?.requests) },
      { name: 'errors', values: row.map((minute) => minute?.errors) },
    ],
    numberText,
  )}${linePlot(
    'Latency',
    [
      { name: 'p50', values: latency(0.5) },
      { name: 'p95', values: latency(0.95) },
      { name: 'p99', values: latency(0.99) },
    ],
    secondsText,
  )}</div>`
}

function kinds({ errors, unrouted }: Snapshot): Markup | undefined {
  const counts = new Map<string, number>()
  for (const { type, count } of errors) counts.set(type, (counts.get(type) ?? 0) + count)
  // A sign-in that went astray: its error is one of the types above.
  for (const { kind, count } of unrouted) if (!counts.has(kind)) counts.set(kind, count)
  const sorted = [...counts].sort(([, one], [, other]) => other - one)
  return factList(sorted.map(([kind, count]) => [kind, numberText(count)]))
}

function limits({ limits: hit }: Snapshot): Markup | undefined {
  return factList(
    hit.filter(({ count }) => count > 0).map(({ name, count }) => [name, numberText(count)]),
  )
}

function factList(facts: readonly (readonly [name: string, value: string])[]): Markup | undefined {
  if (facts.length === 0) return undefined
  return html`<dl class="config">${facts.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>`
}
