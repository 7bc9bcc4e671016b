import { Checks, isRecord } from '../http/check-options.ts'
import type { Effort } from './expression-program.ts'
import type { ModuleRoute, PathRoute } from './module-route.ts'
import { NamedRoute } from './named-route.ts'
import { PathText } from './path-text.ts'
import { routeError } from './route-error.ts'
import type { RouteLink } from './route-link.ts'
import type { RouteFacts } from './route-part.ts'
import {
  type ParsedRoute,
  parsePattern,
  type RoutePattern,
  type RoutePatterns,
} from './route-pattern.ts'
import { trimSlashes } from './segments.ts'

/** The named routes and the default route, which is tried last. */
export class RouteTable {
  readonly named: ReadonlyMap<string, NamedRoute>
  readonly defaultRoute: ModuleRoute
  // As in ZF1, the last route is tried first.
  readonly #lastFirst: readonly NamedRoute[]
  // The routes that a path can match, by its first segment. 500 routes are then not 500 tries.
  readonly #byFirst: ReadonlyMap<string, readonly NamedRoute[]>
  readonly #others: readonly NamedRoute[]

  /** @throws {TypeError} If the module of a route is not registered. */
  constructor(routes: readonly NamedRoute[], defaultRoute: ModuleRoute) {
    this.named = new Map(routes.map((route) => [route.name, route]))
    this.defaultRoute = defaultRoute
    this.#lastFirst = routes.filter(({ isAbstract }) => !isAbstract).reverse()
    this.#others = this.#lastFirst.filter(({ first }) => first === undefined)
    this.#byFirst = groupByFirst(this.#lastFirst)
    for (const { name, modules } of routes) {
      const unknown = modules.find((module) => !defaultRoute.isModule(module))
      if (unknown !== undefined) {
        throw routeError(name, `leads to the module "${unknown}", which is not registered`)
      }
    }
  }

  /** Returns the routes that come first for a path, up to the one that matches. */
  tried(path: string, facts: RouteFacts): readonly Tried[] {
    const text = new PathText(trimSlashes(path))
    const all: Tried[] = []
    for (const route of this.#lastFirst) {
      const found = route.match(text, facts)
      all.push({ route, reason: typeof found === 'string' ? found : null })
      if (typeof found !== 'string') break
    }
    return all
  }

  /**
   * Finds the route of a path, such as `/news/42`.
   *
   * @param effort The steps that the expressions may take; default: as many as for the path of a request.
   */
  routePath(path: string, facts: RouteFacts, effort?: Effort): PathRoute {
    if (this.#lastFirst.length > 0) {
      const text = new PathText(trimSlashes(path), effort)
      for (const route of this.#byFirst.get(text.first) ?? this.#others) {
        const found = route.match(text, facts)
        if (typeof found !== 'string') return found
      }
    }
    return this.defaultRoute.routePath(path)
  }
}

/** A route that was tried for a path. */
export interface Tried {
  readonly route: NamedRoute
  /** Why it does not match; null if it matches. */
  readonly reason: string | null
}

function groupByFirst(routes: readonly NamedRoute[]): Map<string, NamedRoute[]> {
  const firsts = new Set(routes.map(({ first }) => first))
  const groups = new Map<string, NamedRoute[]>()
  for (const each of firsts) if (each !== undefined) groups.set(each, [])
  for (const route of routes) {
    const { first } = route
    if (first !== undefined) groups.get(first)?.push(route)
    else for (const group of groups.values()) group.push(route)
  }
  return groups
}

/**
 * Parses the option `routes`.
 *
 * @throws {TypeError} If it is not an object or a Map, or if a route is invalid; the message has its name.
 */
export function checkedRoutes(routes: RoutePatterns): readonly NamedRoute[] {
  if (!(routes instanceof Map || isRecord(routes))) {
    throw new TypeError('Expected "routes" to be an object or a Map of routes')
  }
  const entries: [string, RoutePattern][] =
    routes instanceof Map ? [...routes] : Object.entries(routes)
  const checks = new Checks()
  const parsed = new Map(
    entries.map(([name, pattern]) => [name, checks.run(() => parsePattern(name, pattern))]),
  )
  checks.end()
  return [...parsed].map(
    ([name, { isAbstract }]) => new NamedRoute(name, linksOf(name, parsed), isAbstract),
  )
}

// Returns the links of a route: those of its parents first.
function linksOf(
  name: string,
  parsed: ReadonlyMap<string, ParsedRoute>,
  children: readonly string[] = [],
): RouteLink[] {
  const { link, under } = parsed.get(name) as ParsedRoute
  if (under === undefined) return [link]
  const parent = parsed.get(under)
  if (parent === undefined) throw routeError(name, `is "under" the unknown route "${under}"`)
  if ([name, ...children].includes(under)) throw routeError(name, `is "under" itself`)
  if (parent.link.part?.kind === 'rest') {
    throw routeError(name, `is "under" the REST route "${under}", which leaves nothing of a path`)
  }
  const links = linksOf(under, parsed, [name, ...children])
  const before = links.findLast(({ part }) => part)?.part
  if (link.part && link.separator !== '/' && before?.endsInText !== true) {
    throw routeError(name, `has a "separator", but its parent does not end in text or a regex`)
  }
  return [...links, link]
}
