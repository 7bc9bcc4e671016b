import { html, Markup } from '../http/html.ts'
import { formatIssue, type ValidationIssue } from '../http/validation-error.ts'
import type { ErrorReport } from '../reporting/error-report.ts'
import type { ExceptionReport } from '../reporting/exception-report.ts'
import { visitorText } from './visitor-text.ts'

/** The content of an error page. */
export interface ErrorPage {
  readonly status: number
  readonly title: string
  readonly detail: string
  /** The issues of the parameters, shown in place of the detail. */
  readonly issues?: readonly ValidationIssue[]
  /** The id of the report; undefined if the log does not have it. */
  readonly id: string | undefined
}

/** The details of an error page in development, scrubbed as every report is. */
export interface DevelopmentDetails {
  readonly report: ErrorReport
  /** The registered actions, such as `news/list`, `admin/report/daily`. */
  readonly registered: readonly string[]
  /** The registered name that is most similar to the requested one. */
  readonly nearest: string | undefined
}

const STYLE =
  ':root{color-scheme:light dark;font:1.0625rem/1.6 system-ui,sans-serif}' +
  'body{max-width:42rem;margin:16vh auto 4rem;padding:0 1.5rem}' +
  'h1{margin:0;font-size:1.75rem;line-height:1.25;letter-spacing:-.02em}' +
  'p,li{overflow-wrap:anywhere}small,.detail{opacity:.75}code{font-size:.85em}' +
  'footer{margin-top:2.5rem;padding-top:.5rem;border-top:1px solid #8884}'

const DEVELOPMENT_STYLE =
  'h2{margin:2.5rem 0 .5rem;font-size:1.1rem}dt{opacity:.65}dd{margin:0}' +
  'dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.5rem}' +
  'p,dd,pre{overflow-wrap:anywhere}' +
  'pre{white-space:pre-wrap;padding:1rem;border-radius:.5rem;background:#8882;font-size:.8rem}'

/** Renders a small complete page. It has no script and loads nothing. */
export function errorPage(page: ErrorPage, development?: DevelopmentDetails): string {
  const { status, title, detail, issues = [], id } = page
  const { heading, advice } = visitorText(status)
  const style = development ? STYLE + DEVELOPMENT_STYLE : STYLE
  return html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${heading}</title><style>${new Markup(style)}</style><main><h1>${heading}</h1><p>${advice}</p>${issues.length > 0 ? renderList(issues.map(formatIssue)) : html`<p class="detail">${detail}</p>`}<footer>${id !== undefined && html`<p>When you report this problem, quote this number:<br><code>${id}</code></p>`}<p><small>Error ${status} &middot; ${title}</small></p></footer>${development && renderDetails(development)}</main></html>
`.toString()
}

function renderDetails({ report, registered, nearest }: DevelopmentDetails): Markup {
  const { type, module, controller, action, method, params, second } = report
  return html`<h2>${type}</h2>${renderException(report)}${second ? html`<h2>Then, in the error action</h2>${renderException(second)}` : ''}<h2>Request</h2><dl><dt>Asked for</dt><dd>${method} ${[module, controller, action].join('/')}</dd>${nearest === undefined ? '' : html`<dt>Did you mean</dt><dd>${nearest}</dd>`}${Object.entries(params).map(([name, shape]) => html`<dt>${name}</dt><dd>${shape}</dd>`)}</dl><h2>Registered</h2>${renderList(registered)}`
}

function renderList(items: readonly string[]): Markup {
  return html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`
}

function renderException({
  name,
  message,
  stack = [],
  previous,
  errors = [],
}: ExceptionReport): Markup {
  return html`<p>${name}: ${message}</p>${stack.length > 0 ? html`<pre>${stack.join('\n')}</pre>` : ''}${previous ? html`<p>Caused by</p>${renderException(previous)}` : ''}${errors.map(renderException)}`
}
