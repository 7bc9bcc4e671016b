import { parsePairs } from '../http/params.ts'
import type { RequestState, UrlBuilder } from '../http/request-state.ts'
import type { UrlOptions, UrlParams } from '../http/url-params.ts'
import type { ModuleRoute } from './module-route.ts'
import type { NamedRoute } from './named-route.ts'
import type { RouteTable } from './route-table.ts'
import {
  DEFAULT_TARGET,
  mergeTarget,
  type RouteTarget,
  routeNames,
  writeTargetName,
} from './route-target.ts'
import { decodePair, toPairs, writePairs } from './segments.ts'

/** The routes of a {@link RouteUrlBuilder}. */
export interface UrlBuilderOptions {
  readonly basePath: string
  readonly routes: readonly NamedRoute[]
  readonly defaultRoute: ModuleRoute
  /** Routes each built path again, to check that it leads to its target; undefined without named routes. */
  readonly table: RouteTable | undefined
}

/** Builds URLs: the inverse of routing. */
export class RouteUrlBuilder implements UrlBuilder {
  readonly #options: UrlBuilderOptions
  readonly #routes: ReadonlyMap<string, NamedRoute>

  constructor(options: UrlBuilderOptions) {
    this.#options = options
    this.#routes = new Map(options.routes.map((route) => [route.name, route]))
  }

  url(request: RequestState<unknown>, params: UrlParams, options: UrlOptions): string {
    const currentName = request.route?.name ?? 'default'
    const { name = currentName, reset = false, encode = true } = options
    const route = this.#routes.get(name)
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
    return `${this.#options.basePath}/${segments.join('/')}`
  }

  // Returns two forms: the short one, and the one with all names, which fewer named routes match.
  #buildDefault(target: RouteTarget): string[][] {
    const { defaultRoute } = this.#options
    if (!defaultRoute.isModule(target.module)) {
      throw new TypeError(`There is no module "${target.module}"`)
    }
    const module = writeTargetName(target, 'module')
    const names = [writeTargetName(target, 'controller'), writeTargetName(target, 'action')]
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
    const found = this.#options.table?.routePath(`/${segments.join('/')}`)
    if (found === undefined) return true
    const hasNames = routeNames.every((key) => found[key] === target[key])
    return hasNames && sorted(parsePairs(found.pairs)) === sorted(target.pairs.map(decodePair))
  }
}

function targetOf({ route, rejection, pairs }: RequestState<unknown>): RouteTarget | undefined {
  if (route === undefined || rejection !== undefined) return undefined
  const { module, controller, action } = route
  return { module, controller, action, pairs: toPairs(pairs, 'received') }
}

// The sort is stable, so it keeps the order of the values of one key. No other order matters.
function sorted(pairs: Iterable<[key: string, value: string]>): string {
  const params = new URLSearchParams(pairs)
  params.sort()
  return String(params)
}
