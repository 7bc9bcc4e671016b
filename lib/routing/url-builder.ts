import { decodeSegment, parsePairs } from '../http/params.ts'
import type { RoutedRequest, UrlBuilder } from '../http/request-settings.ts'
import type { Route } from '../http/route.ts'
import type { UrlOptions, UrlParams } from '../http/url-params.ts'
import type { ModuleRoute } from './module-route.ts'
import type { NamedRoute } from './named-route.ts'
import type { RouteTable } from './route-table.ts'
import {
  DEFAULT_TARGET,
  mergeTarget,
  type RouteNames,
  type RouteTarget,
  routeNames,
} from './route-target.ts'
import { type Pair, writeName, writePairs } from './segments.ts'

/** What URLs are made by. */
export interface UrlBuilderOptions {
  readonly basePath: string
  readonly routes: readonly NamedRoute[]
  readonly defaultRoute: ModuleRoute
  /** Finds the way back: what it does not take to the same place is no URL of it. */
  readonly table: RouteTable | undefined
}

/** Makes URLs: routing, the other way round. */
export class RouteUrlBuilder implements UrlBuilder {
  readonly #options: UrlBuilderOptions
  readonly #routes: ReadonlyMap<string, NamedRoute>

  constructor(options: UrlBuilderOptions) {
    this.#options = options
    this.#routes = new Map(options.routes.map((route) => [route.name, route]))
  }

  url(request: RoutedRequest, params: UrlParams, options: UrlOptions): string {
    const current = request.route?.name ?? 'default'
    const { name = current, reset = false, encode = true } = options
    const named = this.#routes.get(name)
    if (named === undefined && name !== 'default') {
      throw new TypeError(`There is no route "${name}"`)
    }
    // As in ZF1: what another route has found says nothing about this one.
    const reused = reset || name !== current ? undefined : placeOf(request)
    const place = mergeTarget(params, reused, named?.defaults ?? DEFAULT_TARGET, encode)
    const candidates = named ? [named.segmentsOf(place)] : this.#defaultCandidates(place)
    const segments = candidates.find((each) => this.#leadsTo(place, each))
    if (segments === undefined) {
      throw new TypeError(`Another route takes the URL that the route "${name}" gives`)
    }
    return `${this.#options.basePath}/${segments.join('/')}`
  }

  // The short form, and all names written out, which fewer routes take for theirs.
  #defaultCandidates(place: RouteTarget): string[][] {
    const { defaultRoute } = this.#options
    if (!defaultRoute.isModule(place.module)) {
      throw new TypeError(`There is no module "${place.module}"`)
    }
    const [module, ...names] = routeNames.map((key) => writePlaceName(key, place)) as [
      string,
      ...string[],
    ]
    const pairs = writePairs(place.pairs)
    const whole = [module, ...names, ...pairs]
    while (pairs.length === 0 && names.at(-1) === 'index') names.pop()
    const [first] = names
    // A controller that has the name of a module would be taken for the module.
    const isClear = module === 'default' && (first === undefined || !defaultRoute.isModule(first))
    return [[...(isClear ? [] : [module]), ...names, ...pairs], whole]
  }

  #leadsTo(place: RouteTarget, segments: readonly string[]): boolean {
    const found = this.#options.table?.routePath(`/${segments.join('/')}`)
    if (found === undefined) return true
    const hasNames = routeNames.every((name) => found[name] === place[name])
    return hasNames && sorted(pairsOf(found)) === sorted(place.pairs)
  }
}

function writePlaceName(key: keyof RouteNames, { sent, ...place }: RouteTarget): string {
  return writeName(place[key], sent?.[key] === place[key], `the ${key} "${place[key]}"`)
}

function placeOf({ route, rejection, pairs: current }: RoutedRequest): RouteTarget | undefined {
  // What was refused leads nowhere once more.
  if (route === undefined || rejection !== undefined) return undefined
  const { module, controller, action } = route
  const pairs = [...current].map(([key, value]): Pair => [key, value, 'request'])
  return { module, controller, action, pairs }
}

function pairsOf({ pairs = '' }: Route): Iterable<Pair> {
  return typeof pairs === 'string' ? parsePairs(pairs) : pairs
}

// The order between two keys says nothing; that of the values of one key does.
function sorted(pairs: Iterable<Pair>): string {
  const params = new URLSearchParams()
  for (const [key, value, source] of pairs) {
    const read = source === 'encoded' ? decodeSegment : String
    params.append(read(key), read(value))
  }
  params.sort()
  return String(params)
}
