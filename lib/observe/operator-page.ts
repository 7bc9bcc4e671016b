import { html, Markup } from '../http/html.ts'
import { addBuckets, emptyBuckets, quantile } from './histogram.ts'
import { SCRIPT } from './page-style.ts'
import { faultTable, isServerError, journalTable, routeTable } from './page-tables.ts'
import {
  bytesText,
  latencyText,
  numberText,
  percentText,
  secondsText,
  spanText,
} from './page-text.ts'
import { barPlot, linePlot } from './plot.ts'
import type { MinuteCounts, Snapshot } from './snapshot.ts'

/** The content of the operator's page. */
export interface OperatorView {
  readonly snapshot: Snapshot
  /** Whether the process accepts requests, as `/readyz` reports. */
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
  const { startedAt, workers, faults, process: facts } = snapshot
  const errors = faults.filter(isServerError)
  const rejections = faults.filter((fault) => !isServerError(fault))
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Portico: ${isReady ? 'ready' : 'not ready'}</title><link rel="stylesheet" href="operator.css"><link rel="icon" href="data:,">
<noscript><meta http-equiv="refresh" content="${RELOAD_S}"></noscript><script>${new Markup(SCRIPT)}</script></head><body>
<header><h1>Portico ${facts.version}</h1><span class="${isReady ? 'status' : 'status bad'}">${isReady ? 'ready' : 'not ready'}</span>
<span class="soft">up ${spanText(now - startedAt)} · ${workers === 1 ? 'process' : `${workers} workers of process`} ${facts.pid} · Node ${facts.nodeVersion}</span></header>
<main>${tiles(snapshot, now)}${plots(snapshot.minutes, now)}
${section('Routes', routeTable(snapshot.routes), 'No request yet.')}
${section('Server errors', faultTable('errors', 10, errors, now), 'None yet.')}
${section('Requests that failed', journalTable(snapshot.journal, now), 'None yet.')}
${section('Rejected requests', faultTable('rejections', 5, rejections, now), 'None yet.')}
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

function tiles(snapshot: Snapshot, now: number): Markup {
  const { routes, minutes, server, process: facts } = snapshot
  const hour = minutes.filter(({ at }) => at > now - MINUTES * MINUTE_MS)
  const buckets = emptyBuckets()
  for (const minute of hour) addBuckets(buckets, minute.buckets)
  const recent = sumOf(hour, ({ requests }) => requests)
  const recentErrors = sumOf(hour, ({ errors }) => errors)
  let total = 0
  let failed = 0
  for (const { requests } of routes) {
    for (const { statusClass, count } of requests) {
      total += count
      if (statusClass === 5) failed += count
    }
  }
  const latency = (q: number): string => latencyText(buckets, q)
  const { residentBytes, heapUsedBytes, eventLoop } = facts
  return html`<dl class="tiles">${[
    tile('Requests per second', numberText(rateOf(snapshot, now)), [
      'in the last 2 minutes',
      `${numberText(total)} in all`,
    ]),
    tile(
      'Server errors',
      percentText(recentErrors, recent),
      [`${numberText(recentErrors)} in the last hour`, `${numberText(failed)} in all`],
      recentErrors > 0,
    ),
    tile('Median latency', latency(0.5), [
      `p95 ${latency(0.95)}`,
      `p99 ${latency(0.99)}`,
      'in the last hour',
    ]),
    tile('Requests in flight', numberText(server.inFlight), [
      `${numberText(server.connections)} open connections`,
    ]),
    tile('Memory', bytesText(residentBytes), [`${bytesText(heapUsedBytes)} of the heap used`]),
    tile('Event loop busy', percentText(eventLoop.utilization, 1), [
      '99 % of delays',
      `within ${secondsText(eventLoop.p99)}`,
    ]),
  ]}</dl>`
}

// Returns requests per second, since the start of the minute before this one or since the start of the counts.
function rateOf({ minutes, startedAt }: Snapshot, now: number): number {
  const first = now - (now % MINUTE_MS) - MINUTE_MS
  const latest = minutes.filter(({ at }) => at >= first)
  const elapsedMs = Math.max(1_000, now - Math.max(first, startedAt))
  return sumOf(latest, ({ requests }) => requests) / (elapsedMs / 1_000)
}

function tile(name: string, value: string, more: readonly string[], isBad = false): Markup {
  const parts = more.map((text) => html`<span>${text}</span> `)
  return html`<div><dt>${name}</dt><dd${isBad && html` class="bad"`}>${value} <small>${parts}</small></dd></div>`
}

function sumOf<T>(list: readonly T[], read: (each: T) => number): number {
  return list.reduce((sum, each) => sum + read(each), 0)
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
