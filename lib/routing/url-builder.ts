import { decodeSegment, eachPair } from '../http/params.ts'
import type { RequestState, UrlBuilder } from '../http/request-state.ts'
import { LONG, PATH_STEPS } from './expression.ts'
import type { Effort } from './expression-program.ts'
import { parseHost } from './host-pattern.ts'
import type { ModuleRoute } from './module-route.ts'
import type { NamedRoute } from './named-route.ts'
import { PathText } from './path-text.ts'
import { RequestFacts, type SharedFacts } from './request-facts.ts'
import { routeError } from './route-error.ts'
import type { RouteFacts } from './route-part.ts'
import type { RouteTable } from './route-table.ts'
import {
  type CurrentTarget,
  mergeTarget,
  type RouteTarget,
  routeNames,
  writeName,
} from './route-target.ts'
import { decodePair, type Pair, trimSlashes, writePairs } from './segments.ts'

// Clients resolve these segments, so the path would be another one.
const HAS_DOTS = /(?:^|\/)\.\.?(?:\/|$)/

/** Returns the inverse of routing. */
export function createUrlBuilder(
  basePath: string,
  table: RouteTable,
  shared: SharedFacts,
): UrlBuilder {
  return (request, params, options) => {
    const currentName = request.route?.name ?? 'default'
    const { name = currentName, reset = false, encode = true } = options
    const route = table.named.get(name)
    if (route === undefined && name !== 'default') {
      throw new TypeError(`There is no route "${name}"`)
    }
    const facts = new RequestFacts(request.message, shared)
    // A page of a hostile path may have 100 URLs, which contain the path.
    const effort: Effort = { steps: request.path.length < LONG ? PATH_STEPS : 20_000 }
    const currentOf = (): CurrentTarget | undefined => {
      if (name === currentName) return targetIn(request)
      // As in ZF1, only the values that a common parent found are used.
      const path = new PathText(trimSlashes(request.path), effort)
      return route?.sharedWith(table.named.get(currentName), path, facts)
    }
    const current = reset ? undefined : currentOf()
    const target = mergeTarget(params, encode ? 'decoded' : 'encoded', current, route?.defaults)
    const paths = route?.build(target, effort) ?? buildDefault(target, table.defaultRoute)
    // Without named routes, the default route leads each path that it builds to its target.
    if (table.named.size === 0) return `${basePath}/${paths[0]}`
    const { origin, from } = originFor(route, target, facts)
    // The pairs as the default route finds them: comparing texts takes less time than decoding.
    const pairs = route === undefined ? writePairs(target.pairs).join('/') : undefined
    const isRight = (path: string): boolean => {
      // Clients read a second slash as the start of a host.
      if (path.startsWith('/') || HAS_DOTS.test(path)) return false
      const found = table.routePath(`/${path}`, from, effort)
      const hasNames =
        route?.leadsTo(target, found) ?? routeNames.every((key) => found[key] === target[key])
      return hasNames && (found.pairs === pairs || hasPairs(target, found.pairs))
    }
    const path = paths.find(isRight) ?? route?.build(target, effort, true).find(isRight)
    // It is not known whether another route matches it.
    if (effort.isSpent) throw new TypeError('The URL is too long for the expressions of routes')
    if (path !== undefined) return `${origin}${basePath}/${path}`
    throw new TypeError(`Another route matches the URL that the route "${name}" builds`)
  }
}

// Returns three forms of a path: the shortest one, one with controller and action, and one with all names. A longer form matches
// fewer named routes.
function buildDefault(target: RouteTarget, defaultRoute: ModuleRoute): string[] {
  if (!defaultRoute.isModule(target.module)) {
    throw new TypeError(`There is no module "${target.module}"`)
  }
  const module = writeName(target, 'module')
  const both = [writeName(target, 'controller'), writeName(target, 'action')]
  const names = [...both]
  const pairs = writePairs(target.pairs).join('/')
  while (pairs === '' && names.at(-1) === 'index') names.pop()
  const [first] = names
  // Routing would read a controller with the name of a module as that module.
  const canOmitModule =
    module === 'default' && (first === undefined || !defaultRoute.isModule(first))
  const start = canOmitModule ? [] : [module]
  const forms = [
    [...start, ...names],
    [...start, ...both],
    [module, ...both],
  ]
  return forms.map((form) => [...form, ...(pairs === '' ? [] : [pairs])].join('/'))
}

// Returns the origin that the URL needs, '' for that of the request, and the facts of a request for the URL.
function originFor(
  route: NamedRoute | undefined,
  target: RouteTarget,
  facts: RequestFacts,
): { origin: string; from: RouteFacts } {
  const { protocol } = facts
  const here = parseHost(facts.client.host)
  const scheme = route?.scheme ?? protocol
  const built = route?.buildHost(target)
  const host = built ?? here?.name
  const from = facts.getFrom(scheme, host)
  if (route === undefined || (built === undefined && scheme === protocol)) {
    return { origin: '', from }
  }
  if (!host) throw routeError(route.name, 'needs the host of the request')
  const port = scheme === protocol && here?.port ? `:${here.port}` : ''
  return { origin: `${scheme}://${host}${port}`, from }
}

// Compares the values of each key in their order. The order of the keys does not matter.
function hasPairs(target: RouteTarget, found: string): boolean {
  const expected = new Map<string, string>()
  for (const pair of target.pairs) add(expected, ...decodePair(pair))
  const others = new Map<string, string>()
  eachPair(found, (key, value) => add(others, decodeSegment(key), decodeSegment(value)))
  return (
    expected.size === others.size && [...expected].every(([key, all]) => others.get(key) === all)
  )
}

// Adds a value to the others of a key, after a control character: no URL has one.
function add(values: Map<string, string>, key: string, value: string): void {
  values.set(key, `${values.get(key) ?? ''}\0${value}`)
}

// All links of a page have the pairs of one request.
const receivedPairs = new WeakMap<RequestState<unknown>, readonly Pair[]>()

function targetIn(request: RequestState<unknown>): RouteTarget | undefined {
  const { route, rejection } = request
  if (route === undefined || rejection !== undefined) return undefined
  const { module, controller, action } = route
  let pairs = receivedPairs.get(request)
  pairs ??= Array.from(
    request.pairs,
    ([key, value]): Pair => ({ key, value, encoding: 'received' }),
  )
  receivedPairs.set(request, pairs)
  return { module, controller, action, pairs }
}
