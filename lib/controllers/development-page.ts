import { html, type Markup } from '../http/html.ts'
import { formatIssue } from '../http/validation-error.ts'
import {
  type ApplicationFrame,
  type DevelopmentDetails,
  type LinkedAction,
  type LocatedException,
  positionOf,
} from './development-details.ts'
import { type ErrorPage, renderLink, renderList, startOfPage } from './error-page.ts'

const STYLE =
  'body{max-width:60rem;margin:2rem auto 4rem;padding:0 1.25rem;overflow-wrap:anywhere}' +
  'h1{margin:.25rem 0 .5rem;font-size:1.5rem;line-height:1.3}h1,.message{white-space:pre-wrap}' +
  'h2{margin:2.25rem 0 .5rem;font-size:1.1rem}p{margin:.5rem 0}' +
  '.quiet,small,dt{opacity:.75}code,pre{font:.85rem/1.6 ui-monospace,monospace}' +
  'details,.frame{margin:.4rem 0;border-radius:.4rem;background:#8881}' +
  'summary,.frame{padding:.45rem .75rem}summary{cursor:pointer}' +
  'pre{padding:.5rem 0;overflow-x:auto;border-top:1px solid #8883}' +
  'pre code{display:inline-block;min-width:100%}pre span,mark{display:block;padding:0 .75rem}' +
  'mark{background:#e5484d40;color:inherit}pre i{opacity:.6;font-style:normal;user-select:none}' +
  'ul,dl,dd,pre{margin:0}ul{padding-left:1.25rem}dl{display:grid;gap:.25rem 1rem;' +
  'grid-template-columns:fit-content(40%) 1fr}footer{margin-top:2.5rem;border-top:1px solid #8884}'

/** Renders the page for development: what failed, where, and what can be requested instead. It has no script. */
export function developmentPage(
  { status, title, issues = [], subject = 'parameter', id, link }: ErrorPage,
  { report, exception, values, routes, omittedRoutes, nearest }: DevelopmentDetails,
): string {
  const { type, module, controller, action, method, params, looksLike, hint } = report
  const names = [module, controller, action].join('/')
  const { name, message, code } = exception
  const heading = issues.length > 0 ? `Invalid ${subject}s` : message || name
  return html`${startOfPage(heading, STYLE, '1rem/1.5')}
<p class="quiet">${status} ${title} &middot; ${method} ${names}</p>
<h1>${withLines(heading)}</h1>
${issues.length > 0 && renderList(issues.map(formatIssue))}
<p><strong>${name}</strong> <small>${type}${renderCode(code)}</small></p>
${nearest && html`<p>Did you mean ${renderAction(nearest)}?</p>`}
${looksLike && html`<p>This looks like a sign-in (${looksLike}). ${hint}.</p>`}
${link && renderLink(link)}
${renderFrames(exception)}
${renderInner(exception)}
${renderParams(params, values)}
<h2>Registered actions</h2>
${renderList(routes.map(renderAction))}
${omittedRoutes > 0 && html`<p>... and ${omittedRoutes} more: see <code>--routes</code></p>`}
<footer><p><small>In production, the action <code>error/error</code> responds.</small></p>
${id && html`<p><small>Error id <code>${id}</code></small></p>`}
</footer></main></html>
`.toString()
}

function renderFrames({ frames, otherFrames }: LocatedException): Markup {
  return html`${frames.map((frame, i) => renderFrame(frame, i === 0))}${otherFrames.length > 0 && renderOtherFrames(otherFrames)}`
}

function renderOtherFrames(frames: readonly string[]): Markup {
  const title = `${frames.length} ${frames.length === 1 ? 'frame' : 'frames'} of Portico, Node and libraries`
  const lines = frames.map((frame) => html`<span>${frame}\n</span>`)
  return html`<details><summary>${title}</summary><pre><code>${lines}</code></pre></details>`
}

function renderFrame(frame: ApplicationFrame, isOpen: boolean): Markup {
  const { name, line, excerpt } = frame
  const title = html`<strong>${name}</strong> <code>${positionOf(frame)}</code>`
  if (excerpt.length === 0) return html`<div class="frame">${title}</div>`
  const width = String(excerpt.at(-1)?.line).length
  const lines = excerpt.map((each) => {
    const text = html`<i>${String(each.line).padStart(width)}  </i>${each.text}\n`
    return each.line === line ? html`<mark>${text}</mark>` : html`<span>${text}</span>`
  })
  return html`<details${isOpen && html` open`}><summary>${title}</summary><pre><code>${lines}</code></pre></details>`
}

function renderInner({ previous, errors }: LocatedException): Markup {
  return html`${previous && renderException('Caused by', previous)}${errors.map((error) => renderException('One of its errors', error))}`
}

function renderException(title: string, exception: LocatedException): Markup {
  const { name, message, code } = exception
  return html`<h2>${title}</h2><p class="message"><strong>${name}: ${withLines(message)}</strong> <small>${renderCode(code)}</small></p>${renderFrames(exception)}${renderInner(exception)}`
}

function renderParams(
  params: Readonly<Record<string, string>>,
  values: DevelopmentDetails['values'],
): Markup {
  const rows = values ?? Object.entries(params)
  if (rows.length === 0) return html`<h2>Parameters</h2><p class="quiet">none</p>`
  return html`<h2>Parameters</h2><dl>${rows.map(([name, text]) => html`<dt>${name}</dt><dd>${text}</dd>`)}</dl>${!values && html`<p><small>These are shapes. <code>--show-values</code> shows the values to a browser on the same machine.</small></p>`}`
}

// A report escapes line breaks, for the log.
function withLines(message: string): string {
  return message.replaceAll('\\u000a', '\n').trimEnd()
}

function renderCode(code: number | string): Markup {
  return html`${code !== 0 && html` &middot; code ${code}`}`
}

// A link sends a GET, so an action for other methods is text.
function renderAction({ name, url, methods }: LinkedAction): Markup {
  const isLinked = url !== null && (methods?.includes('GET') ?? true)
  const text = isLinked ? html`<a href="${url}">${url}</a>` : html`${url}`
  return html`${text} <small>${name}${methods && ` ${methods.join(', ')}`}</small>`
}
