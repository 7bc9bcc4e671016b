import { DEFAULT_LIMITS } from '../../lib/dispatch/options.ts'
import { networks } from '../../lib/http/forwarded.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import { nameKeys } from '../../lib/routing/name-rules.ts'
import { RequestRouter } from '../../lib/routing/request-router.ts'
import type { RoutePatterns } from '../../lib/routing/route-pattern.ts'
import { checkedRoutes } from '../../lib/routing/route-table.ts'

/** Routes a target to a request, as a front controller of those routes does. */
export type RouteTarget = (target: string) => HttpRequest

export function routing(
  routes: RoutePatterns = {},
  {
    names = 'exact' as keyof typeof nameKeys,
    basePath = '',
    modules = ['default', 'admin', 'api-v2'],
  } = {},
): RouteTarget {
  const request = new RequestRouter({
    modules: modules.map((name) => [name, undefined]),
    names: nameKeys[names],
    basePath,
    router: undefined,
    routes: checkedRoutes(routes),
    limits: DEFAULT_LIMITS,
    trusted: networks([]),
  })
  return (target) => request.route(new HttpRequest({ target }))
}

/** What was found: `module/controller/action` and the pairs. */
export function found({ module, controller, action, pairs }: HttpRequest): unknown[] {
  return [`${module}/${controller}/${action}`, ...pairs]
}
