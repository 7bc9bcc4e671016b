import type { ExplainedParameter, Explanation } from '../inspect/explain.ts'
import type { ExplainedError } from '../inspect/explain-error.ts'
import type { ListedAction, ListedRoute } from '../inspect/list-routes.ts'
import type { ActionLocation } from '../inspect/site.ts'
import { alignedRows, paint, type TextStyle, terminalTable } from '../process/terminal-table.ts'
import { printable } from '../scrubbing/printable.ts'

/** The style of routes and explanations. */
export interface RoutesStyle extends TextStyle {
  /** Formats the path of a file, such as relative to the current folder. */
  readonly formatFile: (file: string) => string
}

/** The document that `--routes --json` prints. */
export interface Listing {
  readonly actions: readonly ListedAction[]
  /** The named routes. */
  readonly routes: readonly ListedRoute[]
}

/** Formats actions as a table: URLs, methods, action, file and line; and named routes as another one. */
export function routesText({ actions, routes }: Listing, style: RoutesStyle): string {
  const actionRows = actions.map((action) => [
    urlText(action, routes),
    action.methods?.join(', ') ?? 'any',
    action.name,
    locationText(action, style),
  ])
  const table = terminalTable([['URL', 'METHODS', 'ACTION', 'FILE'], ...actionRows], style)
  if (routes.length === 0) return table
  const routeRows = routes.map(({ name, kinds, matches, to }) => [
    name,
    kinds.join(', '),
    matches,
    to,
  ])
  return `${table}\n${terminalTable([['ROUTE', 'KIND', 'MATCHES', 'ACTION'], ...routeRows], style)}`
}

function urlText(
  { handlesErrors, urls, name }: ListedAction,
  routes: readonly ListedRoute[],
): string {
  if (handlesErrors) return '(errors)'
  if (urls.length > 0) return urls.join(', ')
  const names = routes.filter(({ to }) => to === name).map((route) => route.name)
  if (names.length > 0) return `(route ${names.join(', ')})`
  return routes.some(({ to }) => to.includes(':')) ? '(a route)' : '(none)'
}

/** Formats the number of the files of a public folder. */
export function publicText(folder: string, files: number): string {
  return `\nPublic files: ${files} in ${printable(folder)}, for GET and HEAD, before any action\n`
}

/** Formats an explanation, one line for each step. */
export function explanationText(explanation: Explanation, style: RoutesStyle): string {
  const { error, file, parameters } = explanation
  const target = ['Target', `${explanation.method} ${explanation.target}`]
  const routed = [
    ['Path', explanation.path],
    ['q', explanation.q],
    ...routeRows(explanation),
    ['Module', explanation.module],
    ['Controller', explanation.controller],
    ['Action', explanation.action],
    ...parameterRows(parameters),
    ...(explanation.method === 'POST'
      ? [['', 'and the fields of a form, unless the path or the query has them']]
      : []),
    ...(explanation.droppedKey === null
      ? []
      : [['Dropped', `${explanation.droppedKey} (a last key without a value)`]]),
    ...(error === null ? [] : errorRows(error, style)),
  ]
  const rows = file === null ? [target, ...routed] : [target]
  const lines = alignedRows(rows).map(([label = '', text = '']) =>
    `${paint(label, 'dim', style)}  ${text}`.trimEnd(),
  )
  return [...lines, '', outcomeText(explanation, style), ''].join('\n')
}

function routeRows({ route, tried = [] }: Explanation): readonly (readonly string[])[] {
  const misses = tried.flatMap(({ name, kinds, reason }) =>
    reason === null ? [] : [`${name} (${kinds.join(', ')}): ${reason}`],
  )
  return [
    ...misses.map((line, i) => [i === 0 ? 'Tried' : '', line]),
    ...(route === undefined ? [] : [['Route', route]]),
  ]
}

function parameterRows(parameters: readonly ExplainedParameter[]): readonly (readonly string[])[] {
  const cells = parameters.map(({ name, source, shape, values, hiddenBy }) => [
    name === '' ? "''" : name,
    source,
    values > 1 ? `${shape}, the last of ${values}` : shape,
    hiddenBy === null ? '' : HIDDEN_BY[hiddenBy],
  ])
  if (cells.length === 0) return [['Parameters', 'none']]
  return alignedRows(cells).map((row, i) => [i === 0 ? 'Parameters' : '', row.join('  ').trimEnd()])
}

const HIDDEN_BY = {
  path: '(hidden by the path)',
  query: '(hidden by the query)',
  routing: '(ignored: a reserved name)',
} as const

function errorRows(error: ExplainedError, style: RoutesStyle): readonly (readonly string[])[] {
  const { why, nearest, looksLike, hint, answeredBy } = error
  return [
    ...why.map((line, i) => [i === 0 ? 'Why' : '', line]),
    ...(nearest === null ? [] : [['Nearest', nearest]]),
    ...(looksLike === undefined ? [] : [['Looks like', `${looksLike}: ${hint}`]]),
    ['Answered by', answeredBy === null ? 'a bare 500' : actionText(answeredBy, style)],
  ]
}

function outcomeText({ runs, allow, file, error }: Explanation, style: RoutesStyle): string {
  if (file !== null) {
    const name = printable(style.formatFile(file))
    return `${paint('Sends', 'green', style)}  ${name}  a public file, before any routing`
  }
  if (error !== null) {
    return `${paint(`${error.status} ${error.type}`, 'red', style)}  ${error.message}`
  }
  if (runs !== null) return `${paint('Runs', 'green', style)}  ${actionText(runs, style)}`
  return `${paint('204', 'green', style)}  Allow: ${allow?.join(', ')}`
}

function actionText(action: ActionLocation, style: RoutesStyle): string {
  return `${action.name}  ${locationText(action, style)}`.trimEnd()
}

function locationText(location: ActionLocation, { formatFile }: RoutesStyle): string {
  const { builtIn, file, line } = location
  if (builtIn) return 'built in'
  if (file === null) return ''
  return line === null ? formatFile(file) : `${formatFile(file)}:${line}`
}
