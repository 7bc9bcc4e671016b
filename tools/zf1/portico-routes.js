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
    // Routes a URL of ZF1 as a client would request it.
    routeUrl(url, request) {
      const [, scheme = request.scheme, host = request.host, path] =
        /^(?:([a-z]+):\/\/([^/]*))?(.*)$/s.exec(url) ?? []
      const target = encodeURI(path || '/').replaceAll('%25', '%')
      if (!target.startsWith('/') || target.startsWith('//')) return undefined
      const found = toRequest({ method: 'GET', target, host, scheme })
      return stateOf(found).rejection === undefined ? outcome(found) : undefined
    },
    // Whether a place has all parameters that a URL must have: given, or null to be removed.
    isPlaceOf(request, { params, name = null, any = false, reset }, back) {
      const current = outcome(toRequest(request))
      const route = name ?? current.route
      if (back.route !== route && !any) return false
      const names = { module: back.module, controller: back.controller, action: back.action }
      const values = new Map([
        ...back.params.map(([key, [value]]) => [key, value]),
        ...Object.entries(names),
      ])
      const isRest = routes.some(([each, { rest }]) => each === route && rest)
      // What the URL does not change stays.
      const kept = reset || name !== null ? [] : current.params.filter(([key]) => !(key in params))
      if (!kept.every(([key, [value]]) => values.get(key) === value)) return false
      const isKept = (key) =>
        reset || name !== null || isRest || key in params || back[key] === current[key]
      if (!NAMES.every(isKept)) return false
      // The default route adds nothing; ZF1 adds a last key without a value.
      const isOwn = ([key]) => key in params || kept.some(([each]) => each === key)
      if (route === 'default' && !back.params.every(isOwn)) return false
      return Object.entries(params).every(([key, value]) => {
        // A REST URL names the resource.
        if (isRest && key === 'action' && value !== 'new' && value !== 'edit') return true
        return value === null || values.get(key) === value
      })
    },
  }
}
