import { html, Markup } from '../http/html.ts'
import { formatIssue, type ValidationIssue } from '../http/validation-error.ts'
import type { ErrorReport } from '../reporting/error-report.ts'
import type { ExceptionReport } from '../reporting/exception-report.ts'

/** What the page of an error shows. */
export interface ErrorPage {
  readonly status: number
  readonly title: string
  readonly detail: string
  /** What was wrong with the parameters. */
  readonly issues?: readonly ValidationIssue[]
  readonly id: string
}

/** What it shows besides in development; scrubbed like every report. */
export interface Development {
  readonly report: ErrorReport
  /** Such as `news/list`, `admin/report/daily`. */
  readonly registered: readonly string[]
  /** The registered name that is most like the one that was asked for. */
  readonly nearest: string | undefined
}

const STYLE =
  ':root{color-scheme:light dark;font:1.0625rem/1.6 system-ui,sans-serif}' +
  'body{max-width:42rem;margin:16vh auto 4rem;padding:0 1.5rem}' +
  'h1{margin:0;font-size:1.75rem;letter-spacing:-.02em}small{opacity:.65}'

const DEVELOPMENT_STYLE =
  'h2{margin:2.5rem 0 .5rem;font-size:1.1rem}dt{opacity:.65}dd{margin:0}' +
  'dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.5rem}' +
  'p,dd,pre{overflow-wrap:anywhere}' +
  'pre{white-space:pre-wrap;padding:1rem;border-radius:.5rem;background:#8882;font-size:.8rem}'

/** A small complete page, without a script and without anything from elsewhere. */
export function errorPage(
  { status, title, detail, issues = [], id }: ErrorPage,
  development?: Development,
): string {
  const style = development ? STYLE + DEVELOPMENT_STYLE : STYLE
  return html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${status} ${title}</title><style>${new Markup(style)}</style><main><h1>${title}</h1>${issues.length > 0 ? list(issues.map(formatIssue)) : html`<p>${detail}</p>`}<p><small>Error ${status} &middot; ${id}</small></p>${development ? details(development) : ''}</main></html>
`.toString()
}

function details({ report, registered, nearest }: Development): Markup {
  const { type, module, controller, action, method, params, second } = report
  return html`<h2>${type}</h2>${exceptionDetails(report)}${second ? html`<h2>Then, in the error action</h2>${exceptionDetails(second)}` : ''}<h2>Request</h2><dl><dt>Asked for</dt><dd>${method} ${[module, controller, action].join('/')}</dd>${nearest === undefined ? '' : html`<dt>Did you mean</dt><dd>${nearest}</dd>`}${Object.entries(params).map(([name, shape]) => html`<dt>${name}</dt><dd>${shape}</dd>`)}</dl><h2>Registered</h2>${list(registered)}`
}

function list(items: readonly string[]): Markup {
  return html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`
}

function exceptionDetails({
  name,
  message,
  stack = [],
  previous,
  errors = [],
}: ExceptionReport): Markup {
  return html`<p>${name}: ${message}</p>${stack.length > 0 ? html`<pre>${stack.join('\n')}</pre>` : ''}${previous ? html`<p>Caused by</p>${exceptionDetails(previous)}` : ''}${errors.map(exceptionDetails)}`
}
