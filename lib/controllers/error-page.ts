import { html, Markup } from '../http/html.ts'
import { copyOf } from '../http/retention.ts'
import {
  formatIssue,
  type ValidationError,
  type ValidationIssue,
} from '../http/validation-error.ts'
import type { ErrorLink } from './error-hooks.ts'
import { visitorText } from './visitor-text.ts'

/** The content of an error page. */
export interface ErrorPage {
  readonly status: number
  readonly title: string
  readonly detail: string
  /** The issues of a {@link ValidationError}, shown in place of the detail. */
  readonly issues?: readonly ValidationIssue[]
  /** The kind of input that the issues name (default `parameter`). */
  readonly subject?: ValidationError['subject']
  /** The id of the report; undefined if the log does not have it. */
  readonly id: string | undefined
  readonly link?: ErrorLink | undefined
}

const STYLE =
  'body{max-width:42rem;margin:16vh auto 4rem;padding:0 1.5rem}' +
  'h1{margin:0;font-size:1.75rem;line-height:1.25}' +
  'p,li{overflow-wrap:anywhere}small{opacity:.75}code{font-size:.85em}' +
  'footer{margin-top:2.5rem;padding-top:.5rem;border-top:1px solid #8884}'

/** Renders a small complete page. It has no script and loads nothing. */
export function errorPage(page: ErrorPage): string {
  const { detail, issues = [], id, link } = page
  const { start, end } = frameOf(page)
  return html`${start}${issues.length > 0 ? renderList(issues.map(formatIssue)) : html`<p>${detail}</p>`}${link && renderLink(link)}<footer>${id !== undefined && html`<p>When you report this problem, quote this number:<br><code>${id}</code></p>`}${end}`.toString()
}

/** The parts that all pages of a status share. */
interface Frame {
  readonly title: string
  readonly start: Markup
  readonly end: Markup
}

// The frames by status. Keeping them saves 8 % of the time of an unrouted request.
const frames = new Map<number, Frame>()

function frameOf({ status, title }: ErrorPage): Frame {
  const known = frames.get(status)
  if (known?.title === title) return known
  const [heading, advice] = visitorText(status)
  const start = html`${startOfPage(`${status} ${title}`, STYLE)}<h1>${heading}</h1><p>${advice}</p>`
  const end = html`<p><small>Error ${status} &middot; ${title}</small></p></footer></main></html>
`
  const frame = { title, start: flat(start), end: flat(end) }
  frames.set(status, frame)
  return frame
}

// V8 keeps joined texts as a tree, and would join its pieces again for each page.
function flat(markup: Markup): Markup {
  return new Markup(copyOf(markup.toString()))
}

/**
 * Renders the start of a page, up to its content.
 *
 * @param font The size of the text and the height of a line.
 */
export function startOfPage(title: string, style: string, font = '1.0625rem/1.6'): Markup {
  const root = `:root{color-scheme:light dark;font:${font} system-ui,sans-serif}`
  return html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${new Markup(root + style)}</style><main>`
}

/** Renders the link of an error. */
export function renderLink({ href, text }: ErrorLink): Markup {
  return html`<p><a href="${href}">${text}</a></p>`
}

/** Renders a list. */
export function renderList(items: readonly (string | Markup)[]): Markup {
  return html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`
}
