import type { BlockList } from 'node:net'
import { HttpError, NoRouteError } from '../http/errors.ts'
import type { FormLimits } from '../http/form-body.ts'
import { exceedsFields, exceedsPairs } from '../http/params.ts'
import {
  type HttpRequest,
  isRouted,
  type RequestSettings,
  stateOf,
  withState,
} from '../http/request.ts'
import type { Route } from '../http/route.ts'
import { splitTarget } from '../http/target.ts'
import { ModuleRoute } from './module-route.ts'
import type { NameKeys } from './name-rules.ts'
import type { NamedRoute } from './named-route.ts'
import { type Rewritten, rewrite } from './rewrite.ts'
import { RouteTable } from './route-table.ts'
import type { Router } from './router.ts'
import { RouteUrlBuilder } from './url-builder.ts'

/** What routing goes by. */
export interface RoutingOptions {
  readonly modules: readonly (readonly [string, unknown])[]
  readonly names: NameKeys
  readonly basePath: string
  readonly router: Router | undefined
  readonly routes: readonly NamedRoute[]
  readonly limits: FormLimits & { readonly maxTargetBytes: number }
  readonly trusted: BlockList
}

const NOWHERE: Route = { module: '', controller: '', action: '' }

// A scanner asks for each path once: what it fills begins anew.
const MAX_ROUTED_PATHS = 1_000
const MAX_PATH_LENGTH = 100

interface RoutedPath extends Rewritten {
  readonly route: Route
}

/**
 * The way of a request from its target to its names. It refuses nothing yet: a rejection is noted, and
 * raised when the form has been read, so that the error action has names and form of a bad request too.
 */
export class RequestRouter {
  readonly #options: RoutingOptions
  readonly #builtIn: ModuleRoute | RouteTable
  // Where paths go, by the path as it was sent: nothing else decides it, and clients ask for the same few
  // again and again. Took 5 % off a small request.
  readonly #routedPaths = new Map<string, RoutedPath>()
  readonly #settings: RequestSettings

  constructor(options: RoutingOptions) {
    this.#options = options
    const { modules, names, basePath, routes, router, limits, trusted } = options
    const defaultRoute = new ModuleRoute(
      modules.map(([name]) => name),
      names,
    )
    const table = routes.length > 0 ? new RouteTable(routes, defaultRoute) : undefined
    this.#builtIn = table ?? defaultRoute
    // A router of one's own alone knows its way back.
    const urls = router ? undefined : new RouteUrlBuilder({ basePath, routes, defaultRoute, table })
    this.#settings = { maxBodyBytes: limits.maxBodyBytes, trusted, urls }
  }

  /** The request with its `path` and `q`. */
  rewrite(request: HttpRequest): HttpRequest {
    const { path, q, rejection } = rewrite(request.target, this.#options.basePath)
    return this.#derive(request, path, q, undefined, this.#rejectionOf(request) ?? rejection)
  }

  /** The request with its route, rewritten before where it is not; one that has a route keeps it. */
  route(request: HttpRequest): HttpRequest {
    if (isRouted(request)) return request
    const { router } = this.#options
    if (router !== undefined) return this.#routeBy(router, request)
    const isRewritten = request.path !== ''
    const { path, q, route, rejection } = isRewritten
      ? this.#routed(stateOf(request))
      : this.#routedPath(request.target)
    const noted = isRewritten ? rejection : (this.#rejectionOf(request) ?? rejection)
    return this.#derive(request, path, q, route, noted ?? this.#excess(request, route))
  }

  // By a router of one's own, which may look at the whole request.
  #routeBy(router: Router, request: HttpRequest): HttpRequest {
    const rewritten = request.path === '' ? this.rewrite(request) : request
    const { path, q, rejection } = stateOf(rewritten)
    const route = checked(router.route(rewritten))
    const noted = rejection ?? (route ? this.#excess(rewritten, route) : new NoRouteError())
    return this.#derive(rewritten, path, q, route ?? NOWHERE, noted)
  }

  #routedPath(target: string): RoutedPath {
    const sent = splitTarget(target).path
    // A `#` in the query refuses the target, and its path does not tell.
    const known = this.#routedPaths.get(sent)
    if (known !== undefined && !target.includes('#')) return known
    const routed = this.#routed(rewrite(target, this.#options.basePath))
    if (routed.rejection === undefined && sent.length <= MAX_PATH_LENGTH) {
      if (this.#routedPaths.size >= MAX_ROUTED_PATHS) this.#routedPaths.clear()
      this.#routedPaths.set(sent, routed)
    }
    return routed
  }

  #routed({ path, q, rejection }: Rewritten): RoutedPath {
    return { path, q, rejection, route: this.#builtIn.routePath(path) }
  }

  #rejectionOf(request: HttpRequest): HttpError | undefined {
    return request.rejection ?? this.#tooLong(request)
  }

  // Field by field: a spread took a fifth of the time of a whole request.
  #derive(
    request: HttpRequest,
    path: string,
    q: string,
    route: Route | undefined,
    rejection: HttpError | undefined,
  ): HttpRequest {
    return withState(request, {
      path,
      q,
      route,
      settings: this.#settings,
      form: undefined,
      errorHandler: undefined,
      rejection,
    })
  }

  #tooLong({ target }: HttpRequest): HttpError | undefined {
    const { maxTargetBytes } = this.#options.limits
    return target.length > maxTargetBytes
      ? new HttpError(414, `The request target is longer than ${maxTargetBytes} bytes`)
      : undefined
  }

  #excess({ target }: HttpRequest, { pairs }: Route): HttpError | undefined {
    const { maxFields } = this.#options.limits
    // A target of fewer characters has fewer parameters: most are not even split.
    if (target.length > 2 * maxFields && exceedsFields(splitTarget(target).search, maxFields)) {
      return new HttpError(400, `The query string has more than ${maxFields} parameters`)
    }
    return typeof pairs === 'string' && exceedsPairs(pairs, maxFields)
      ? new HttpError(400, `The path has more than ${maxFields} pairs`)
      : undefined
  }
}

// A promise, or a name forgotten, would be a 404 for what is a programmer's mistake.
function checked(route: Route | undefined): Route | undefined {
  const { module, controller, action } = route ?? NOWHERE
  const isWhole =
    typeof module === 'string' && typeof controller === 'string' && typeof action === 'string'
  if (isWhole) return route
  throw new TypeError('Expected the router to return a module, a controller and an action')
}
