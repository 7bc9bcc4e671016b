import { allowsMethod, methodNotAllowed } from '../dispatch/dispatcher.ts'
import { NoRouteError } from '../http/errors.ts'
import { isReserved } from '../http/params.ts'
import { HttpRequest, stateOf } from '../http/request.ts'
import { splitTarget } from '../http/target.ts'
import { safeName, shapeOf } from '../reporting/shape.ts'
import { trimSlashes } from '../routing/segments.ts'
import { type ExplainedError, tellError } from './explain-error.ts'
import { type Site, type WrittenAction, written } from './site.ts'

/** Where a request would go, and why. Names are shown as in a report, values by their shapes alone. */
export interface Explanation {
  readonly method: string
  readonly target: string
  readonly path: string
  /** The shape of the decoded path. */
  readonly q: string
  readonly module: string
  readonly controller: string
  readonly action: string
  readonly parameters: readonly ExplainedParameter[]
  /** A last key of the path, which has no value and is dropped: its shape; else null. */
  readonly droppedKey: string | null
  /** The action that would run; null where none would. */
  readonly runs: WrittenAction | null
  /** The methods that an OPTIONS request is told without running the action; else null. */
  readonly allow: readonly string[] | null
  readonly error: ExplainedError | null
}

/** What one source has under one name. */
export interface ExplainedParameter {
  readonly name: string
  readonly source: Source
  /** Of its last value, which is the one that counts. */
  readonly shape: string
  readonly values: number
  /** The source that has the name already, or that the name is reserved for routing; null where it counts. */
  readonly hiddenBy: Source | 'routing' | null
}

/** The request that is asked about. */
export interface ExplainRequest {
  /** In upper case. */
  readonly method: string
  /** A path with its query string, or a whole URL as a browser shows it. */
  readonly target: string
}

type Source = 'path' | 'query'

/** Follows a request to its action, or to its error; nothing of the application is run. */
export function explain(site: Site, { method, target }: ExplainRequest): Explanation {
  const request = site.route(new HttpRequest({ method, target, headers: headersOf(target) }))
  const fate = fateOf(site, request)
  const { path, droppedKey } = tellPath(request)
  const runs = fate.runs === undefined ? undefined : written(site, [fate.runs])[0]
  return {
    method: request.method,
    target: tellTarget(site, request, path),
    path,
    q: shapeOf(request.q),
    module: safeName(request.module),
    controller: safeName(request.controller),
    action: safeName(request.action),
    parameters: tellParameters(request),
    droppedKey,
    runs: runs ?? null,
    allow: fate.allow ?? null,
    error: fate.error === undefined ? null : tellError(site, request, fate.error),
  }
}

// A whole URL tells which host was asked: a sign-in is told by whose redirect_uri it has.
function headersOf(target: string): { readonly host?: string } {
  return URL.canParse(target) ? { host: new URL(target).host } : {}
}

interface Fate {
  readonly runs?: Site['actions'][number] | undefined
  readonly allow?: readonly string[]
  readonly error?: Error
}

function fateOf({ dispatcher, actions }: Site, request: HttpRequest): Fate {
  const { rejection } = stateOf(request)
  if (rejection !== undefined) return { error: rejection }
  const found = dispatcher.find(request)
  if (found instanceof Error) return { error: found }
  const { methods } = found
  if (allowsMethod(methods, request.method))
    return { runs: actions.find((each) => each.found === found) }
  if (methods !== undefined && request.method === 'OPTIONS') return { allow: methods }
  return { error: methodNotAllowed(methods) }
}

// What stands past the names may be a secret, a key without a value too.
function tellPath(request: HttpRequest): { path: string; droppedKey: string | null } {
  const { route } = stateOf(request)
  const trimmed = trimSlashes(request.path)
  const pairs = typeof route?.pairs === 'string' ? route.pairs : ''
  const names = trimmed.slice(0, trimmed.length - pairs.length)
  const told = [...request.pairs].map(([key, value]) => `${safeName(key)}/${shapeOf(value)}`)
  const last = pairs.split('/')
  const droppedKey = pairs !== '' && last.length % 2 === 1 ? shapeOf(last.at(-1) ?? '') : null
  const segments = names.split('/').filter((name) => name !== '')
  const all = [...segments.map(safeName), ...told, ...(droppedKey === null ? [] : [droppedKey])]
  return { path: `/${all.join('/')}`, droppedKey }
}

function tellTarget({ basePath }: Site, request: HttpRequest, path: string): string {
  const isOutside = stateOf(request).rejection instanceof NoRouteError
  const start = isOutside ? path : `${basePath}${path}`
  const query = [...request.query].map(([name, value]) => `${safeName(name)}=${shapeOf(value)}`)
  return splitTarget(request.target).search === '' ? start : `${start}?${query.join('&')}`
}

function tellParameters(request: HttpRequest): readonly ExplainedParameter[] {
  const sources = [
    ['path', request.pairs],
    ['query', request.query],
  ] as const
  return sources.flatMap(([source, params]) =>
    [...new Set(params.keys())].map((name) => {
      const values = params.getAll(name)
      const isHidden = source === 'query' && request.pairs.has(name)
      return {
        name: safeName(name),
        source,
        shape: shapeOf(values.at(-1) ?? ''),
        values: values.length,
        hiddenBy: isReserved(name) ? 'routing' : isHidden ? 'path' : null,
      }
    }),
  )
}
