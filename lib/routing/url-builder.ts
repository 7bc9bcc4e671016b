import { parsePairs } from '../http/params.ts'
import type { RequestState, UrlBuilder } from '../http/request-state.ts'
import type { UrlOptions, UrlParams } from '../http/url-params.ts'
import type { RouteTable } from './route-table.ts'
import {
  DEFAULT_TARGET,
  mergeTarget,
  type RouteTarget,
  routeNames,
  writeName,
} from './route-target.ts'
import { decodePair, type Pair, writePairs } from './segments.ts'

/** Builds URLs: the inverse of routing. */
export class RouteUrlBuilder implements UrlBuilder {
  readonly #basePath: string
  readonly #table: RouteTable

  constructor(basePath: string, table: RouteTable) {
    this.#basePath = basePath
    this.#table = table
  }

  url(request: RequestState<unknown>, params: UrlParams, options: UrlOptions): string {
    const currentName = request.route?.name ?? 'default'
    const { name = currentName, reset = false, encode = true } = options
    const route = this.#table.named.get(name)
    if (route === undefined && name !== 'default') {
      throw new TypeError(`There is no route "${name}"`)
    }
    // As in ZF1, the values that another route found are not used.
    const current = reset || name !== currentName ? undefined : targetOf(request)
    const encoding = encode ? 'decoded' : 'encoded'
    const target = mergeTarget(params, encoding, current, route?.defaults ?? DEFAULT_TARGET)
    const candidates = route ? [route.build(target)] : this.#buildDefault(target)
    const segments = candidates.find((each) => this.#leadsTo(target, each))
    if (segments === undefined) {
      throw new TypeError(`Another route matches the URL that the route "${name}" builds`)
    }
    return `${this.#basePath}/${segments.join('/')}`
  }

  // Returns two forms: the short one, and the one with all names, which fewer named routes match.
  #buildDefault(target: RouteTarget): string[][] {
    const { defaultRoute } = this.#table
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

  #leadsTo(target: RouteTarget, segments: readonly string[]): boolean {
    // The default route alone routes each path that it builds to its target.
    if (this.#table.named.size === 0) return true
    const found = this.#table.routePath(`/${segments.join('/')}`)
    const hasNames = routeNames.every((key) => found[key] === target[key])
    return hasNames && sorted(parsePairs(found.pairs)) === sorted(target.pairs.map(decodePair))
  }
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
