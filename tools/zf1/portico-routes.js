import { DEFAULT_LIMITS } from '../../dist/lib/dispatch/options.js'
import { networks } from '../../dist/lib/http/forwarded.js'
import { HttpRequest, stateOf } from '../../dist/lib/http/request.js'
import { nameKeys } from '../../dist/lib/routing/name-rules.js'
import { RequestRouter } from '../../dist/lib/routing/request-router.js'
import { checkedRoutes } from '../../dist/lib/routing/route-table.js'

// A pair of such a name has no effect.
const NAMES = ['module', 'controller', 'action']

// The controller `full` has the actions for all methods.
const hasAction = ({ controller, action }) =>
  !['head', 'options'].includes(action) || controller === 'full'

/** Returns Portico with routes: functions that route a request and build a URL. */
export function createRouting(routes) {
  const patterns = routes.map(([name, { static: _, ...pattern }]) => [name, pattern])
  const router = new RequestRouter({
    modules: ['default', 'admin', 'api'].map((name) => [name, undefined]),
    names: nameKeys.exact,
    basePath: '',
    router: undefined,
    routes: checkedRoutes(new Map(patterns)),
    limits: DEFAULT_LIMITS,
    hasAction,
    trusted: networks([]),
  })
  const toRequest = ({ method, target, host, scheme, override }) =>
    router.route(
      new HttpRequest({
        method,
        target,
        protocol: scheme,
        headers: { host, ...(override ? { 'x-http-method-override': override } : {}) },
      }),
    )
  const outcome = (request) => {
    const { route } = stateOf(request)
    const {
      module,
      controller,
      action,
      pairs,
      name = 'default',
    } = { ...route, pairs: request.pairs }
    const keys = [...new Set(pairs.keys())].filter((key) => !NAMES.includes(key))
    const params = keys.map((key) => [key, pairs.getAll(key)])
    return { route: name, module, controller, action, params }
  }
  return {
    route: (request) => outcome(toRequest(request)),
    urlFor(request, { params, name, reset }) {
      try {
        return { found: toRequest(request).urlFor(params, { ...(name ? { name } : {}), reset }) }
      } catch (problem) {
        if (!(problem instanceof TypeError)) throw problem
        return { problem: problem.message }
      }
    },
  }
}
