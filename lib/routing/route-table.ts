import type { ModuleRoute, PathRoute } from './module-route.ts'
import { NamedRoute } from './named-route.ts'
import { type RoutePattern, type RoutePatterns, routeError } from './route-pattern.ts'
import { splitPath } from './segments.ts'

/** The named routes and the default route, which is tried last. */
export class RouteTable {
  readonly named: ReadonlyMap<string, NamedRoute>
  readonly defaultRoute: ModuleRoute
  // As in ZF1, the last route is tried first.
  readonly #lastFirst: readonly NamedRoute[]

  /** @throws {TypeError} If the module of a route is not registered. */
  constructor(routes: readonly NamedRoute[], defaultRoute: ModuleRoute) {
    this.named = new Map(routes.map((route) => [route.name, route]))
    this.defaultRoute = defaultRoute
    this.#lastFirst = routes.toReversed()
    for (const { name, defaults } of routes) {
      if (!defaultRoute.isModule(defaults.module)) {
        throw routeError(name, `leads to the module "${defaults.module}", which is not registered`)
      }
    }
  }

  /** Finds the route of a path, such as `/news/42`. */
  routePath(path: string): PathRoute {
    const segments = this.#lastFirst.length > 0 ? splitPath(path) : []
    for (const route of this.#lastFirst) {
      const found = route.match(segments)
      if (found !== undefined) return found
    }
    return this.defaultRoute.routePath(path)
  }
}

/**
 * Parses the option `routes`.
 *
 * @throws {TypeError} If it is not an object or a Map, or if a route is invalid; the message has its name.
 */
export function checkedRoutes(routes: RoutePatterns): readonly NamedRoute[] {
  if (Object(routes) !== routes || Array.isArray(routes)) {
    throw new TypeError('Expected "routes" to be an object or a Map of routes')
  }
  const entries: [string, RoutePattern][] =
    routes instanceof Map ? [...routes] : Object.entries(routes)
  return entries.map(([name, pattern]) => new NamedRoute(name, pattern))
}
