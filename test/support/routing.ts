import assert from 'node:assert/strict'
import { DEFAULT_LIMITS } from '../../lib/dispatch/options.ts'
import { networks } from '../../lib/http/forwarded.ts'
import type { HttpRequestInit } from '../../lib/http/message.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import type { Route, UrlParams } from '../../lib/http/route.ts'
import { nameKeys } from '../../lib/routing/name-rules.ts'
import { RequestRouter } from '../../lib/routing/request-router.ts'
import type { RoutePatterns } from '../../lib/routing/route-pattern.ts'
import { checkedRoutes } from '../../lib/routing/route-table.ts'

/** Creates a request for a target, and routes it. */
export type Routing = (target: string, init?: Partial<HttpRequestInit>) => HttpRequest

/** Returns a function that routes targets like a front controller with these routes. */
export function routing(
  routes: RoutePatterns = {},
  {
    names = 'exact' as keyof typeof nameKeys,
    basePath = '',
    modules = ['default', 'admin', 'api-v2'],
    hasAction = (_: Route): boolean => true,
    trusted = [] as string[],
  } = {},
): Routing {
  const request = new RequestRouter({
    modules: modules.map((name) => [name, undefined]),
    names: nameKeys[names],
    basePath,
    router: undefined,
    routes: checkedRoutes(routes),
    limits: DEFAULT_LIMITS,
    dispatcher: {
      hasAction,
      hasController: () => true,
      isRegistered: () => false,
      resolve: (route) => ({ ...route, run: undefined }),
      nameOf: () => undefined,
    },
    trusted: networks(trusted),
  })
  return (target, init) => request.route(new HttpRequest({ ...init, target }))
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
