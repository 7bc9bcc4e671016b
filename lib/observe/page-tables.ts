import { html, type Markup } from '../http/html.ts'
import { quantile } from './histogram.ts'
import { agoText, bytesText, numberText, secondsText } from './page-text.ts'
import type { Fault, JournalEntry, JournalParam, RouteCounts } from './snapshot.ts'

/** A column of a table: its header, the class of its cells, and the content for a row. */
interface Column<Row> {
  readonly header: string
  /** `name` for a text that is code, `n` for a number, `all` for a cell that needs the whole width of a small screen. */
  readonly kind: 'name' | 'n' | 'all' | ''
  cell(row: Row): string | Markup | undefined
  isBad?(row: Row): boolean
}

const MAX_ROWS = 200

/** Renders the requests of each route, the most frequent first; undefined without any. */
export function routeTable(routes: readonly RouteCounts[]): Markup | undefined {
  const count = (row: RouteCounts, statusClass?: number): number =>
    row.requests
      .filter((each) => statusClass === undefined || each.statusClass === statusClass)
      .reduce((sum, each) => sum + each.count, 0)
  const latency = (header: string, q: number): Column<RouteCounts> => ({
    header,
    kind: 'n',
    cell: ({ buckets }) => secondsText(quantile(buckets, q)),
  })
  const columns: readonly Column<RouteCounts>[] = [
    { header: 'Route', kind: 'name', cell: routeText },
    { header: 'Requests', kind: 'n', cell: (row) => numberText(count(row)) },
    { header: '4xx', kind: 'n', cell: (row) => numberText(count(row, 4)) },
    {
      header: '5xx',
      kind: 'n',
      cell: (row) => numberText(count(row, 5)),
      isBad: (row) => count(row, 5) > 0,
    },
    latency('p50', 0.5),
    latency('p95', 0.95),
    latency('p99', 0.99),
    { header: 'Sent', kind: 'n', cell: ({ bytes }) => bytesText(bytes) },
  ]
  return table(
    columns,
    [...routes].sort((one, other) => count(other) - count(one)),
  )
}

/** Renders the errors by fingerprint, server errors first, and then the latest; undefined without any. */
export function faultTable(faults: readonly Fault[], now: number): Markup | undefined {
  const columns: readonly Column<Fault>[] = [
    { header: 'Error', kind: 'name', cell: ({ fingerprint }) => fingerprint },
    { header: 'Status', kind: 'n', cell: ({ status }) => `${status}`, isBad: isServerError },
    { header: 'Count', kind: 'n', cell: ({ count }) => numberText(count) },
    { header: 'First', kind: '', cell: ({ firstAt }) => time(firstAt, now) },
    { header: 'Last', kind: '', cell: ({ lastAt }) => time(lastAt, now) },
    {
      header: 'Latest ids',
      kind: 'all',
      cell: ({ ids }) => list(ids.map((id) => html`<code>${id}</code>`)),
    },
  ]
  return table(
    columns,
    [...faults].sort(
      (one, other) =>
        Number(isServerError(other)) - Number(isServerError(one)) || other.lastAt - one.lastAt,
    ),
  )
}

/** Renders the requests that failed, the most frequent first; undefined without any. */
export function journalTable(journal: readonly JournalEntry[], now: number): Markup | undefined {
  const columns: readonly Column<JournalEntry>[] = [
    { header: 'Path', kind: 'name', cell: ({ method, path }) => `${method} ${path}` },
    { header: 'Count', kind: 'n', cell: ({ count }) => numberText(count) },
    { header: 'First', kind: '', cell: ({ firstAt }) => time(firstAt, now) },
    { header: 'Last', kind: '', cell: ({ lastAt }) => time(lastAt, now) },
    {
      header: 'Parameters',
      kind: 'all',
      cell: ({ params, hint }) =>
        html`${hint && html`<p>${hint}</p>`}${list(params.map(paramText))}`,
    },
  ]
  return table(
    columns,
    [...journal].sort((one, other) => other.count - one.count),
  )
}

function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Markup | undefined {
  if (rows.length === 0) return undefined
  const headers = columns.map(
    ({ header, kind }) => html`<th scope="col"${kind === 'n' && html` class="n"`}>${header}</th>`,
  )
  const lines = rows.slice(0, MAX_ROWS).map(
    (row) => html`<tr>${columns.map(({ header, kind, cell, isBad }) => {
      const label = kind === 'name' ? undefined : html` data-label="${header}"`
      return html`<td class="${kind}${isBad?.(row) === true ? ' bad' : ''}"${label}>${cell(row)}</td>`
    })}</tr>
`,
  )
  const left = rows.length - lines.length
  return html`<table><thead><tr>${headers}</tr></thead><tbody>${lines}</tbody></table>${left > 0 && html`<p class="soft">${numberText(left)} more are in the JSON.</p>`}`
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

function isServerError({ status }: Fault): boolean {
  return status >= 500
}
