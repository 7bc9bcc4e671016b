import assert from 'node:assert/strict'
import { DEFAULT_LIMITS } from '../../lib/dispatch/options.ts'
import { networks } from '../../lib/http/forwarded.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import type { UrlParams } from '../../lib/http/route.ts'
import { nameKeys } from '../../lib/routing/name-rules.ts'
import { RequestRouter } from '../../lib/routing/request-router.ts'
import type { RoutePatterns } from '../../lib/routing/route-pattern.ts'
import { checkedRoutes } from '../../lib/routing/route-table.ts'

/** Creates a request for a target, and routes it. */
export type Routing = (target: string) => HttpRequest

/** Returns a function that routes targets like a front controller with these routes. */
export function routing(
  routes: RoutePatterns = {},
  {
    names = 'exact' as keyof typeof nameKeys,
    basePath = '',
    modules = ['default', 'admin', 'api-v2'],
  } = {},
): Routing {
  const request = new RequestRouter({
    modules: modules.map((name) => [name, undefined]),
    names: nameKeys[names],
    basePath,
    router: undefined,
    routes: checkedRoutes(routes),
    limits: DEFAULT_LIMITS,
    hasAction: () => true,
    trusted: networks([]),
  })
  return (target) => request.route(new HttpRequest({ target }))
}

/** Returns the route that was found: `module/controller/action` and the pairs. */
export function found({ module, controller, action, pairs }: HttpRequest): unknown[] {
  return [`${module}/${controller}/${action}`, ...pairs]
}

/** Checks the URL that a request builds of each set of parameters. */
export function checkUrls(
  request: HttpRequest,
  table: readonly (readonly [UrlParams, string])[],
): void {
  for (const [params, url] of table) assert.equal(request.urlFor(params), url)
}
