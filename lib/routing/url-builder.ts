import { parsePairs } from '../http/params.ts'
import type { RequestState, UrlBuilder } from '../http/request-state.ts'
import type { ModuleRoute } from './module-route.ts'
import type { RouteTable } from './route-table.ts'
import { mergeTarget, type RouteTarget, routeNames, writeName } from './route-target.ts'
import { decodePair, type Pair, writePairs } from './segments.ts'

/** Returns the inverse of routing. */
export function createUrlBuilder(basePath: string, table: RouteTable): UrlBuilder {
  return (request, params, options) => {
    const currentName = request.route?.name ?? 'default'
    const { name = currentName, reset = false, encode = true } = options
    const route = table.named.get(name)
    if (route === undefined && name !== 'default') {
      throw new TypeError(`There is no route "${name}"`)
    }
    // As in ZF1, the values that another route found are not used.
    const current = reset || name !== currentName ? undefined : targetOf(request)
    const target = mergeTarget(params, encode ? 'decoded' : 'encoded', current, route?.defaults)
    const candidates = route ? [route.build(target)] : buildDefault(target, table.defaultRoute)
    const segments = candidates.find((each) => leadsTo(target, each, table))
    if (segments === undefined) {
      throw new TypeError(`Another route matches the URL that the route "${name}" builds`)
    }
    return `${basePath}/${segments.join('/')}`
  }
}

// Returns two forms: the short one, and the one with all names, which fewer named routes match.
function buildDefault(target: RouteTarget, defaultRoute: ModuleRoute): string[][] {
  if (!defaultRoute.isModule(target.module)) {
    throw new TypeError(`There is no module "${target.module}"`)
  }
  const module = writeName(target, 'module')
  const names = [writeName(target, 'controller'), writeName(target, 'action')]
  const pairs = writePairs(target.pairs)
  const whole = [module, ...names, ...pairs]
  while (pairs.length === 0 && names.at(-1) === 'index') names.pop()
  const [first] = names
  // Routing would read a controller with the name of a module as that module.
  const canOmitModule =
    module === 'default' && (first === undefined || !defaultRoute.isModule(first))
  return [[...(canOmitModule ? [] : [module]), ...names, ...pairs], whole]
}

function leadsTo(target: RouteTarget, segments: readonly string[], table: RouteTable): boolean {
  // The default route alone routes each path that it builds to its target.
  if (table.named.size === 0) return true
  const found = table.routePath(`/${segments.join('/')}`)
  const hasNames = routeNames.every((key) => found[key] === target[key])
  return hasNames && sorted(parsePairs(found.pairs)) === sorted(target.pairs.map(decodePair))
}

function targetOf({ route, rejection, pairs }: RequestState<unknown>): RouteTarget | undefined {
  if (route === undefined || rejection !== undefined) return undefined
  const { module, controller, action } = route
  const received = Array.from(pairs, ([key, value]): Pair => ({ key, value, encoding: 'received' }))
  return { module, controller, action, pairs: received }
}

// The sort is stable, so it keeps the order of the values of one key. No other order matters.
function sorted(pairs: Iterable<[key: string, value: string]>): string {
  const params = new URLSearchParams(pairs)
  params.sort()
  return String(params)
}
