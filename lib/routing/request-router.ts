import type { BlockList } from 'node:net'
import { type HttpError, NoRouteError, rejectionWith } from '../http/errors.ts'
import type { FormLimits } from '../http/form-body.ts'
import { exceedsFields, exceedsPairs } from '../http/params.ts'
import { HttpRequest, stateOf, withState } from '../http/request.ts'
import { rejectLongTarget, splitTarget } from '../http/request-line.ts'
import type { RequestSettings, RequestState, Resolved } from '../http/request-state.ts'
import { copyOf } from '../http/retention.ts'
import type { Route } from '../http/route.ts'
import { ModuleRoute } from './module-route.ts'
import type { NameKeys } from './name-rules.ts'
import type { NamedRoute } from './named-route.ts'
import { MAX_REMEMBERED_LENGTH } from './path-text.ts'
import { RequestFacts, type SharedFacts } from './request-facts.ts'
import { type Rewritten, rewrite } from './rewrite.ts'
import { RouteTable, type Tried } from './route-table.ts'
import type { Router } from './router.ts'
import { createUrlBuilder } from './url-builder.ts'

/** Options of a {@link RequestRouter}. */
export interface RoutingOptions {
  readonly modules: readonly (readonly [name: string, unknown])[]
  readonly names: NameKeys
  readonly basePath: string
  /** Replaces the built-in router. */
  readonly router: Router | undefined
  readonly routes: readonly NamedRoute[]
  readonly limits: FormLimits & { readonly maxTargetBytes: number }
  readonly dispatcher: RegisteredActions
  readonly trusted: BlockList
}

/** Finds the registered actions. */
export interface RegisteredActions {
  /** Reports whether a route leads to an action that a client can request. */
  hasAction(route: Route): boolean
  /** Reports whether a routed request leads to a controller that a client can request. */
  hasController(request: HttpRequest): boolean
  /** Reports whether a module, a controller or an action has this name. */
  isRegistered(name: string): boolean
  /** Returns what a route leads to. */
  resolve(route: Route): Resolved
  /** Returns the name of the action that a route leads to. */
  nameOf(route: Route): string | undefined
}

const EMPTY_ROUTE: Route = { module: '', controller: '', action: '' }
const EXPECTED = 'a module, a controller, an action, and pairs as text or URLSearchParams'

// A full memo is cleared. Evicting single paths would not help: a scanner requests each path only once.
const MAX_REMEMBERED_PATHS = 1_000

type RoutedPath = Rewritten & { readonly route: Route }

/**
 * Routes requests: from the target to the path, `q`, the names and the pairs. A request that must be rejected is also
 * routed, and its state has the error: the error action can then read the names and the form of an invalid request.
 */
export class RequestRouter {
  readonly #options: RoutingOptions
  readonly #table: RouteTable
  // Clients request the same paths repeatedly: the memo saves 5 % of W1 CPU. It has only paths that decide the route
  // alone, without host, scheme and method, and that lead to registered names: nothing else of a request may stay in memory.
  readonly #remembered = new Map<string, RoutedPath>()
  readonly #settings: RequestSettings
  readonly #shared: SharedFacts

  constructor(options: RoutingOptions) {
    this.#options = options
    const { modules, names, basePath, routes, router, limits, trusted, dispatcher } = options
    const defaultRoute = new ModuleRoute(new Map(modules).keys(), names)
    this.#table = new RouteTable(routes, defaultRoute)
    this.#shared = {
      trusted,
      isModule: (name) => defaultRoute.isModule(name),
      hasAction: (route) => dispatcher.hasAction(route),
    }
    // A custom router has no inverse, so no URL can be built.
    const buildUrl = router ? undefined : createUrlBuilder(basePath, this.#table, this.#shared)
    const known = new Set([
      ...basePath.split('/').slice(1),
      ...routes.flatMap(({ literals, defaults: { controller, action } }) => [
        ...literals,
        controller,
        action,
      ]),
    ])
    this.#settings = {
      maxBodyBytes: limits.maxBodyBytes,
      trusted,
      buildUrl,
      isRegistered: (name) => known.has(name) || dispatcher.isRegistered(name),
      hasController: (url) => this.#hasController(url),
      literalsOf: (route) => this.named.get(route)?.literals ?? [],
      resolve: (route) => dispatcher.resolve(route),
      nameRoute: (state) => this.#nameRoute(state),
    }
  }

  /** The routes of the option `routes`, by their names. */
  get named(): ReadonlyMap<string, NamedRoute> {
    return this.#table.named
  }

  /** Returns the named routes that come first for a routed request, up to the one that matches. */
  tried(request: HttpRequest): readonly Tried[] {
    return this.#table.tried(request.path, new RequestFacts(stateOf(request).message, this.#shared))
  }

  /** Returns the request with its `path` and `q`. */
  rewrite(request: HttpRequest): HttpRequest {
    const { path, q, rejection } = rewrite(request.target, this.#options.basePath)
    const settings = this.#settings
    return withState(request, { path, q, settings, rejection: this.#reject(request) ?? rejection })
  }

  /** Returns the request with its route. One that has a route keeps it. */
  route(request: HttpRequest): HttpRequest {
    const { route } = stateOf(request)
    if (route !== undefined)
      return this.#isRewritten(request) ? request : this.#adopt(request, route)
    const { router } = this.#options
    return router === undefined ? this.#routeByPath(request) : this.#routeBy(router, request)
  }

  // Applies the settings of this front controller to a request that a handler in front, or another front controller, has forwarded.
  #adopt(request: HttpRequest, route: Route): HttpRequest {
    // An error action may forward a request that is rejected.
    const rejection = stateOf(request).errorHandler
      ? undefined
      : (this.#reject(request) ?? this.#rejectExcess(request, route))
    const settings = this.#settings
    const { maxBodyBytes } = settings
    return withState(request, { firstRoute: route, settings, maxBodyBytes, rejection })
  }

  #routeByPath(request: HttpRequest): HttpRequest {
    const { path, q, route, rejection } = this.#routedPath(request)
    return withState(request, {
      path,
      q,
      route,
      settings: this.#settings,
      rejection: this.#reject(request) ?? rejection ?? this.#rejectExcess(request, route),
    })
  }

  #routeBy(router: Router, request: HttpRequest): HttpRequest {
    const rewritten = this.#isRewritten(request) ? request : this.rewrite(request)
    const { rejection: earlier } = stateOf(rewritten)
    let route: Route | undefined
    try {
      route = checkedRoute(router.route(rewritten) ?? undefined)
    } catch (error) {
      // A router may throw for a path that is rejected, such as one that cannot be decoded.
      if (earlier === undefined) throw error
    }
    const rejection = earlier ?? (route ? this.#rejectExcess(rewritten, route) : new NoRouteError())
    return withState(rewritten, { route: route ?? EMPTY_ROUTE, rejection })
  }

  #hasController({ pathname, host, protocol: scheme }: URL): boolean {
    const protocol = scheme === 'https:' ? 'https' : 'http'
    const request = new HttpRequest({ target: pathname, headers: { host }, protocol })
    try {
      return this.#options.dispatcher.hasController(this.route(request))
    } catch {
      // A custom router threw, because it needs more than a URL. `true` suppresses a hint, which might be wrong.
      return true
    }
  }

  // Returns only registered names: the name that a custom router returns may be a value of the request.
  #nameRoute({ firstRoute: route, rejection, target }: RequestState<unknown>): string | null {
    const { dispatcher, basePath } = this.#options
    if (route === undefined) return null
    const { name = '', allow, actionName } = route
    const isOutside = rejection && rewrite(target, basePath).rejection instanceof NoRouteError
    const action = isOutside ? undefined : (actionName ?? dispatcher.nameOf(route))
    const hasAction = action !== undefined || allow !== undefined
    return (hasAction && this.named.get(name)?.name) || (action ?? null)
  }

  #routedPath(request: HttpRequest): RoutedPath {
    const { target } = request
    const { path: raw, search } = splitTarget(target)
    // A target with a `#` in its query must be rejected, but the memo has only paths.
    const isRejected = search !== '' && search.includes('#')
    const remembered = isRejected ? undefined : this.#remembered.get(raw)
    if (remembered !== undefined) return remembered
    const { path, q, rejection } = this.#isRewritten(request)
      ? stateOf(request)
      : rewrite(target, this.#options.basePath)
    const facts = new RequestFacts(stateOf(request).message, this.#shared)
    const routed = { path, q, rejection, route: this.#table.routePath(path, facts) }
    const isMemorable = rejection === undefined && raw.length <= MAX_REMEMBERED_LENGTH
    if (isMemorable && routed.route.pairs === '' && !facts.isRead) {
      this.#remember(raw, routed, facts)
    }
    return routed
  }

  #remember(raw: string, routed: RoutedPath, facts: RequestFacts): void {
    const { dispatcher, basePath } = this.#options
    if (!dispatcher.hasAction(routed.route) || !this.#hasOnlyNames(raw, routed.path)) return
    if (this.#remembered.size >= MAX_REMEMBERED_PATHS) this.#remembered.clear()
    const copy = copyOf(raw)
    const rewritten = rewrite(copy, basePath)
    const route = this.#table.routePath(rewritten.path, facts)
    const actionName = dispatcher.nameOf(route)
    this.#remembered.set(copy, { ...rewritten, route: { ...route, actionName } })
  }

  // Reports whether a target has nothing but registered names: an origin may have a password, and a `*` drops a last segment.
  #hasOnlyNames(raw: string, path: string): boolean {
    const isName = (segment: string): boolean =>
      segment === '' || this.#settings.isRegistered?.(segment) === true
    return raw.startsWith('/') && path.split('/').every(isName)
  }

  // With plugins, a request is rewritten before it is routed. Another front controller, with another
  // base path, may have rewritten it too.
  #isRewritten(request: HttpRequest): boolean {
    return stateOf(request).settings === this.#settings
  }

  #reject({ rejection, target }: HttpRequest): HttpError | undefined {
    return rejection ?? rejectLongTarget(target, this.#options.limits.maxTargetBytes)
  }

  #rejectExcess({ target }: HttpRequest, { pairs }: Route): HttpError | undefined {
    const { maxFields } = this.#options.limits
    // A shorter target cannot have too many parameters, so most targets need not be split.
    if (target.length > 2 * maxFields && exceedsFields(splitTarget(target).search, maxFields)) {
      return rejectionWith(400, `The query string has more than ${maxFields} parameters`)
    }
    return typeof pairs === 'string' && exceedsPairs(pairs, maxFields)
      ? rejectionWith(400, `The path has more than ${maxFields} pairs`)
      : undefined
  }
}

// A promise or a missing name is a mistake of the programmer, so it is not a 404.
function checkedRoute(route: Route | undefined): Route | undefined {
  if (route === undefined) return undefined
  const { module, controller, action, pairs = '' } = route
  const hasNames = [module, controller, action].every((name) => typeof name === 'string')
  if (hasNames && Symbol.iterator in Object(pairs)) return route
  throw new TypeError(`Expected the router to return ${EXPECTED}`)
}
