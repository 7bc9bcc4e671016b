import { allowsMethod, methodNotAllowed } from '../dispatch/dispatcher.ts'
import type { FrontController } from '../dispatch/front-controller.ts'
import { NoRouteError } from '../http/errors.ts'
import { decodeSegment, isReserved } from '../http/params.ts'
import { HttpRequest, stateOf } from '../http/request.ts'
import { splitTarget } from '../http/request-line.ts'
import { safeNames } from '../reporting/request-names.ts'
import type { Segment } from '../routing/route-part.ts'
import { isRouteName } from '../routing/route-target.ts'
import { splitPath, trimSlashes } from '../routing/segments.ts'
import { paramNameRule } from '../scrubbing/sent-params.ts'
import { shapeOf } from '../scrubbing/shape.ts'
import { kindsOf } from './describe-route.ts'
import { type ExplainedError, explainError } from './explain-error.ts'
import { type ActionLocation, locateAction, type Site, siteOf } from './site.ts'

/** The explanation of where a request would go. It has names as in a report, and only the shapes of values. */
export interface Explanation {
  readonly method: string
  readonly target: string
  readonly path: string
  /** The shape of the decoded path. */
  readonly q: string
  readonly module: string
  readonly controller: string
  readonly action: string
  /** The name of the route that matches; absent if there are no named routes. */
  readonly route?: string
  /** The named routes that were tried, in this order; absent if there are none. */
  readonly tried?: readonly ExplainedRoute[]
  readonly parameters: readonly ExplainedParameter[]
  /** The shape of a last key of the path that has no value and is dropped; else null. */
  readonly droppedKey: string | null
  /** The action that would run; null if none would. */
  readonly runs: ActionLocation | null
  /** The `Allow` header of the response to an OPTIONS request, which runs no action; else null. */
  readonly allow: readonly string[] | null
  /** The absolute path of the public file that is sent before any routing; null if none is. */
  readonly file: string | null
  readonly error: ExplainedError | null
}

/** A named route that was tried. */
export interface ExplainedRoute {
  readonly name: string
  readonly kinds: readonly string[]
  /** Why it does not match; null if it matches. */
  readonly reason: string | null
}

/** The values that one source has for one name. */
export interface ExplainedParameter {
  readonly name: string
  readonly source: Source
  /** The shape of the last value, which is the one that counts. */
  readonly shape: string
  /** The number of values. */
  readonly values: number
  /** The other source with this name that wins, or `routing` for a reserved name; null if this value counts. */
  readonly hiddenBy: Source | 'routing' | null
}

type Source = 'path' | 'query'

/**
 * Explains which action a request would run, or which error it would end with. No action and no plugin runs.
 *
 * @param request Its target is a path with its query string, or a whole URL as a browser shows it.
 * @param file The public file that the request names (default none).
 */
export function explain(
  front: FrontController,
  { method, target }: Pick<HttpRequest, 'method' | 'target'>,
  file?: string,
): Explanation {
  const site = siteOf(front)
  // A sign-in is recognized by the host of its redirect_uri. A whole URL has the host to compare.
  const { host = '', protocol = '' } = URL.canParse(target) ? new URL(target) : {}
  const headers = host === '' ? {} : { host }
  const scheme = protocol === 'https:' ? 'https' : 'http'
  const request = site.router.route(new HttpRequest({ method, target, headers, protocol: scheme }))
  const { path, droppedKey } = describePath(site, request)
  return {
    method: request.method,
    target: describeTarget(site, request, path),
    path,
    q: shapeOf(request.q),
    ...safeNames(request),
    ...describeRoutes(site, request),
    parameters: describeParameters(request),
    droppedKey,
    runs: null,
    allow: null,
    file: file ?? null,
    error: null,
    ...(file === undefined ? outcomeOf(site, request) : {}),
  }
}

function outcomeOf(site: Site, request: HttpRequest): Partial<Explanation> {
  const found = stateOf(request).rejection ?? site.dispatcher.find(request)
  if (found instanceof Error) return { error: explainError(site, request, found) }
  const { methods } = found
  if (allowsMethod(methods, request.method)) return { runs: locateAction(site, found) }
  if (methods !== undefined && request.method === 'OPTIONS') return { allow: methods }
  return { error: explainError(site, request, methodNotAllowed(methods)) }
}

function describeRoutes(
  { router }: Site,
  request: HttpRequest,
): Pick<Explanation, 'route' | 'tried'> {
  if (router.named.size === 0) return {}
  const tried = router
    .tried(request)
    .map(({ route, reason }) => ({ name: route.name, kinds: kindsOf(route), reason }))
  return { route: stateOf(request).route?.name ?? 'default', tried }
}

// Everything but the names may be a secret, even a key without a value.
function describePath(
  { router }: Site,
  request: HttpRequest,
): { path: string; droppedKey: string | null } {
  const { route } = stateOf(request)
  const pattern = router.named.get(route?.name ?? '')?.segments
  const { start, pairs } = pattern ? describeStart(pattern, request) : splitNames(router, request)
  const showName = nameRuleOf(request)
  const shapes = pairs.map((segment, i) =>
    (i % 2 === 0 && i < pairs.length - 1 ? showName : shapeOf)(decodeSegment(segment)),
  )
  const droppedKey = pairs.length % 2 === 1 ? (shapes.at(-1) ?? null) : null
  return { path: `/${[...start, ...shapes].join('/')}`, droppedKey }
}

/** A path: its first segments as they are shown, and the raw segments of its pairs. */
interface Described {
  readonly start: readonly string[]
  readonly pairs: readonly string[]
}

function describeStart(pattern: readonly Segment[], request: HttpRequest): Described {
  const shown: readonly string[] = Object.values(safeNames(request))
  const segments = splitPath(request.path)
  const start = pattern.slice(0, segments.length).map((part, i) => {
    const segment = segments[i] ?? ''
    if ('literal' in part) return part.encoded
    const isShown = isRouteName(part.variable) && shown.includes(segment)
    return isShown ? segment : shapeOf(decodeSegment(segment))
  })
  return { start, pairs: segments.slice(pattern.length) }
}

// A custom router, a regex and a chain may read anything in the path: a segment that is none of the names is a value.
function splitNames(router: Site['router'], request: HttpRequest): Described {
  const { pairs: raw, name = '' } = stateOf(request).route ?? {}
  const literals = router.named.get(name)?.literals ?? []
  const shown = [...Object.values(safeNames(request)), ...literals]
  const trimmed = trimSlashes(request.path)
  const pairs = typeof raw === 'string' && trimmed.endsWith(raw) ? raw : ''
  const names = trimmed
    .slice(0, trimmed.length - pairs.length)
    .split('/')
    .filter(Boolean)
  const start = names.map((each) => (shown.includes(each) ? each : shapeOf(each)))
  return { start, pairs: pairs === '' ? [] : pairs.split('/') }
}

function describeTarget({ basePath }: Site, request: HttpRequest, path: string): string {
  const isOutside = stateOf(request).rejection instanceof NoRouteError
  const start = isOutside ? path : `${basePath}${path}`
  const showName = nameRuleOf(request)
  const query = [...request.query].map(([name, value]) => `${showName(name)}=${shapeOf(value)}`)
  return splitTarget(request.target).search === '' ? start : `${start}?${query.join('&')}`
}

function describeParameters(request: HttpRequest): readonly ExplainedParameter[] {
  const sources = [
    ['path', request.pairs],
    ['query', request.query],
  ] as const
  const showName = nameRuleOf(request)
  return sources.flatMap(([source, params]) =>
    [...new Set(params.keys())].map((name) => {
      const values = params.getAll(name)
      const isHidden = source === 'query' && request.pairs.has(name)
      return {
        name: showName(name),
        source,
        shape: shapeOf(values.at(-1) ?? ''),
        values: values.length,
        hiddenBy: isReserved(name) ? 'routing' : isHidden ? 'path' : null,
      }
    }),
  )
}

// As in a report, which may show fewer names of the parameters of a sign-in.
function nameRuleOf(request: HttpRequest): (name: string) => string {
  const isSafe = paramNameRule(request)
  return (name) => (name === '' || isSafe(name) ? name : shapeOf(name))
}
