import { html, type Markup } from '../http/html.ts'
import { agoText, bytesText, latencyText, numberText, percentText } from './page-text.ts'
import type { Fault, JournalEntry, JournalParam, RouteCounts } from './snapshot.ts'

/** A column of a table: its header, the class of its cells, and the content for a row. */
interface Column<Row> {
  readonly header: string
  /** `name` for a text that is code, `n` for a number, `all` for a cell that needs the whole width of a small screen. */
  readonly kind: 'name' | 'n' | 'all' | ''
  cell(row: Row): string | Markup | undefined
  /** Returns `bad` for what needs attention, `zero` for what needs none. */
  mark?(row: Row): 'bad' | 'zero' | undefined
}

/** A table: more rows than `shown` are folded. */
interface Table<Row> {
  readonly id: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly shown: number
}

const MAX_ROWS = 200
// The log has the others by their fingerprint.
const MAX_SHOWN_IDS = 2

interface RouteRow {
  readonly route: RouteCounts
  readonly count: number
  readonly rejected: number
  readonly failed: number
}

/** Renders the requests of each route, the one that took the most time first; undefined without any. */
export function routeTable(routes: readonly RouteCounts[]): Markup | undefined {
  const total = routes.reduce((sum, { durationSum }) => sum + durationSum, 0)
  const latency = (header: string, q: number): Column<RouteRow> => ({
    header,
    kind: 'n',
    cell: ({ route }) => latencyText(route.buckets, q),
  })
  const columns: readonly Column<RouteRow>[] = [
    { header: 'Route', kind: 'name', cell: ({ route }) => routeText(route) },
    { header: 'Requests', kind: 'n', cell: ({ count }) => numberText(count) },
    {
      header: '4xx',
      kind: 'n',
      cell: ({ rejected }) => numberText(rejected),
      mark: ({ rejected }) => (rejected === 0 ? 'zero' : undefined),
    },
    {
      header: '5xx',
      kind: 'n',
      cell: ({ failed }) => numberText(failed),
      mark: ({ failed }) => (failed === 0 ? 'zero' : 'bad'),
    },
    { header: 'Time', kind: 'n', cell: ({ route }) => percentText(route.durationSum, total) },
    latency('p50', 0.5),
    latency('p95', 0.95),
    latency('p99', 0.99),
    { header: 'Sent', kind: 'n', cell: ({ route }) => bytesText(route.bytes) },
  ]
  const rows = routes
    .map(toRouteRow)
    .sort(
      (one, other) => other.route.durationSum - one.route.durationSum || other.count - one.count,
    )
  return table({ id: 'routes', columns, rows, shown: 15 })
}

/** Renders errors by fingerprint, the latest first; undefined without any. */
export function faultTable(
  id: string,
  shown: number,
  faults: readonly Fault[],
  now: number,
): Markup | undefined {
  const columns: readonly Column<Fault>[] = [
    { header: 'Error', kind: 'name', cell: ({ fingerprint }) => fingerprint },
    {
      header: 'Status',
      kind: 'n',
      cell: ({ status }) => `${status}`,
      mark: (fault) => (isServerError(fault) ? 'bad' : undefined),
    },
    { header: 'Count', kind: 'n', cell: ({ count }) => numberText(count) },
    { header: 'First', kind: 'n', cell: ({ firstAt }) => time(firstAt, now) },
    { header: 'Last', kind: 'n', cell: ({ lastAt }) => time(lastAt, now) },
    {
      header: 'Latest ids',
      kind: 'all',
      cell: ({ ids }) =>
        list(ids.slice(0, MAX_SHOWN_IDS).map((each) => html`<code>${each}</code>`)),
    },
  ]
  const rows = [...faults].sort((one, other) => other.lastAt - one.lastAt)
  return table({ id, columns, rows, shown })
}

/** Renders the requests that failed, the most frequent first; undefined without any. */
export function journalTable(journal: readonly JournalEntry[], now: number): Markup | undefined {
  const columns: readonly Column<JournalEntry>[] = [
    { header: 'Path', kind: 'name', cell: ({ method, path }) => `${method} ${path}` },
    { header: 'Count', kind: 'n', cell: ({ count }) => numberText(count) },
    { header: 'First', kind: 'n', cell: ({ firstAt }) => time(firstAt, now) },
    { header: 'Last', kind: 'n', cell: ({ lastAt }) => time(lastAt, now) },
    {
      header: 'Parameters',
      kind: 'all',
      cell: ({ params, hint }) =>
        html`${hint && html`<p>${hint}</p>`}${list(params.map(paramText))}`,
    },
  ]
  const rows = [...journal].sort((one, other) => other.count - one.count)
  return table({ id: 'journal', columns, rows, shown: 15 })
}

/** Reports whether an error is one of the server. */
export function isServerError({ status }: Fault): boolean {
  return status >= 500
}

function table<Row>({ id, columns, rows, shown }: Table<Row>): Markup | undefined {
  if (rows.length === 0) return undefined
  const rowsOf = (first: number, end: number): Markup => tableOf(columns, rows.slice(first, end))
  const folded = Math.min(rows.length, MAX_ROWS) - shown
  const left = rows.length - MAX_ROWS
  return html`${rowsOf(0, shown)}${
    folded > 0 &&
    html`<details id="${id}"><summary>${numberText(folded)} more</summary>${rowsOf(shown, MAX_ROWS)}${
      left > 0 && html`<p class="soft">${numberText(left)} more are in the JSON.</p>`
    }</details>`
  }`
}

function tableOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Markup {
  const headers = columns.map(
    ({ header, kind }) => html`<th scope="col"${kind && html` class="${kind}"`}>${header}</th>`,
  )
  const lines = rows.map(
    (row) => html`<tr>${columns.map(({ header, kind, cell, mark }) => {
      const label = kind === 'name' ? undefined : html` data-label="${header}"`
      const classes = [kind, mark?.(row)].filter(Boolean).join(' ')
      return html`<td class="${classes}"${label}>${cell(row)}</td>`
    })}</tr>
`,
  )
  return html`<table><thead><tr>${headers}</tr></thead><tbody>${lines}</tbody></table>`
}

function toRouteRow(route: RouteCounts): RouteRow {
  const sums = { count: 0, rejected: 0, failed: 0 }
  for (const { statusClass, count } of route.requests) {
    sums.count += count
    if (statusClass === 4) sums.rejected += count
    if (statusClass === 5) sums.failed += count
  }
  return { route, ...sums }
}

function routeText({ route, kind }: RouteCounts): string {
  if (kind === 'route') return route
  return kind === 'public' ? '(public files)' : '(no action)'
}

function paramText({ name, count, shapes }: JournalParam): Markup {
  const texts = shapes.map(({ shape, count: times }) =>
    times === count ? shape : `${shape} ${numberText(times)}×`,
  )
  return html`<code>${name}</code> <span class="soft">${texts.join(', ')}</span>`
}

function time(at: number, now: number): Markup {
  return html`<time datetime="${new Date(at).toISOString()}">${agoText(at, now)}</time>`
}

function list(items: readonly Markup[]): Markup | undefined {
  if (items.length === 0) return undefined
  return html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`
}
