import type { Route } from '../http/route.ts'
import type { ModuleRoute } from './module-route.ts'
import { NamedRoute } from './named-route.ts'
import { type RoutePattern, type RoutePatterns, routeError, splitPath } from './route-pattern.ts'

/** Named routes in front of the default one. */
export class RouteTable {
  readonly #routes: readonly NamedRoute[]
  readonly #default: ModuleRoute

  /** @throws {TypeError} If a route leads to a module that is not registered. */
  constructor(routes: readonly NamedRoute[], defaultRoute: ModuleRoute) {
    // The last added is tried first, as in ZF1.
    this.#routes = routes.toReversed()
    this.#default = defaultRoute
    for (const { name, defaults } of routes) {
      if (!defaultRoute.isModule(defaults.module)) {
        throw routeError(name, `leads to the module "${defaults.module}", which is not registered`)
      }
    }
  }

  /** Where a path goes, such as `/news/42`. */
  routePath(path: string): Route {
    const segments = splitPath(path)
    for (const route of this.#routes) {
      const found = route.match(segments)
      if (found !== undefined) return found
    }
    return this.#default.routePath(path)
  }
}

/** @throws {TypeError} If they are no routes, with the name of the one that is none. */
export function checkedRoutes(routes: RoutePatterns): readonly NamedRoute[] {
  if (Object(routes) !== routes || Array.isArray(routes)) {
    throw new TypeError('Expected "routes" to be an object or a Map of routes')
  }
  const entries: [string, RoutePattern][] =
    routes instanceof Map ? [...routes] : Object.entries(routes)
  return entries.map(([name, pattern]) => new NamedRoute(name, pattern))
}
