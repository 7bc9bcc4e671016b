import type { BlockList } from 'node:net'
import type { Controller, Controllers } from '../controllers/controller.ts'
import { welcomeController } from '../controllers/welcome-controller.ts'
import { checkedLimits, checkNames } from '../http/check-options.ts'
import type { FormLimits } from '../http/form-body.ts'
import { networks } from '../http/forwarded.ts'
import type { ErrorReport } from '../reporting/error-report.ts'
import type { Logger } from '../reporting/logger.ts'
import { type NameKeys, type NameRule, nameKeys } from '../routing/name-rules.ts'
import type { NamedRoute } from '../routing/named-route.ts'
import type { RoutePatterns } from '../routing/route-pattern.ts'
import { checkedRoutes } from '../routing/route-table.ts'
import type { Router } from '../routing/router.ts'
import { checkPlugin, type Plugin } from './plugin.ts'

/** What one request may take (SPEC section 7). */
export interface Limits extends FormLimits {
  /** Bytes of a request target (default 8,192); beyond it 414. */
  readonly maxTargetBytes: number
  /** Milliseconds for an action, and for a plugin's moment (default 25,000); beyond it 503. */
  readonly actionTimeoutMs: number
}

/** A path of whole segments, without a slash at its end. */
export const BASE_PATH: RegExp = /^(\/[\w.~-]+)*$/

export const DEFAULT_LIMITS: Limits = {
  maxBodyBytes: 1_048_576,
  maxFields: 1_000,
  maxTargetBytes: 8_192,
  actionTimeoutMs: 25_000,
}

/** What a {@link FrontController} is made from. */
export interface FrontControllerOptions {
  /** The controllers of the module `default`, by name; `error` replaces the built-in one. */
  readonly controllers?: Controllers | undefined
  /** Those of each other module, by the module's name. */
  readonly modules?: ReadonlyMap<string, Controllers> | undefined
  /** How requested names find registered ones (default `exact`). */
  readonly names?: NameRule | undefined
  /** What stands before the routed path, whole segments, such as `/app` (default none). */
  readonly basePath?: string | undefined
  /** In place of the router for `/module/controller/action/key/value`. */
  readonly router?: Router | undefined
  /**
   * Routes by name, in front of the default route, the last one tried first.
   *
   * @example
   * { article: { path: '/news/:id', defaults: { controller: 'news', action: 'view' }, requirements: { id: '\\d+' } } }
   */
  readonly routes?: RoutePatterns | undefined
  /** What takes part in every request, in this order (default none). */
  readonly plugins?: readonly Plugin[] | undefined
  /** What one request may take; what is left out keeps its default. */
  readonly limits?: Partial<Limits> | undefined
  /** Where errors are logged: pino, winston, `console` (default nowhere). */
  readonly logger?: Logger | undefined
  /** Is handed the report of every error, those too that the log only counts. */
  readonly onReport?: ((report: ErrorReport) => unknown) | undefined
  /** The names of parameters whose values may be shown in reports (default none). */
  readonly logParams?: readonly string[] | undefined
  /** Addresses and networks (CIDR) of proxies whose `X-Forwarded-*` and `Forwarded` count (default none). */
  readonly trustProxy?: readonly string[] | undefined
  /** Whether the built-in error page tells what went wrong, and where (default: not). */
  readonly development?: boolean | undefined
}

const OPTIONS: readonly (keyof FrontControllerOptions)[] = [
  'controllers',
  'modules',
  'names',
  'basePath',
  'router',
  'routes',
  'plugins',
  'limits',
  'logger',
  'onReport',
  'logParams',
  'trustProxy',
  'development',
]

/** The options, checked and whole: every module with its controllers, the built-in ones among them. */
export interface CheckedOptions {
  readonly modules: readonly (readonly [string, Controllers])[]
  readonly names: NameKeys
  readonly basePath: string
  readonly router: Router | undefined
  readonly routes: readonly NamedRoute[]
  readonly plugins: readonly Plugin[]
  readonly limits: Limits
  readonly logger: Logger | undefined
  readonly onReport: ((report: ErrorReport) => unknown) | undefined
  readonly trusted: BlockList
}

/** @throws {TypeError | RangeError} With the name of the option that is not what it should be. */
export function checkedOptions(
  options: FrontControllerOptions,
  errorController: Controller,
): CheckedOptions {
  const { controllers = new Map(), modules = new Map(), routes = {}, plugins = [] } = options
  const { router } = options
  checkNames('options', options, OPTIONS)
  const names = namesOf(options.names ?? 'exact')
  if (router !== undefined && typeof router.route !== 'function') {
    throw new TypeError('Expected a "router" with a function "route"')
  }
  if (router !== undefined && options.routes !== undefined) {
    throw new TypeError('Expected "routes" or a "router", not both')
  }
  if (!Array.isArray(plugins)) throw new TypeError('Expected "plugins" to be a list of objects')
  for (const [i, plugin] of plugins.entries()) checkPlugin(plugin, `plugins[${i}]`)
  return {
    modules: allModules(controllers, modules, names, errorController),
    names,
    basePath: checkedBasePath(options.basePath ?? ''),
    router,
    routes: checkedRoutes(routes),
    plugins,
    limits: checkedLimits(DEFAULT_LIMITS, options.limits ?? {}),
    logger: checkedLogger(options.logger),
    onReport: checkedFunction('onReport', options.onReport),
    trusted: networks(options.trustProxy ?? []),
  }
}

function namesOf(rule: NameRule): NameKeys {
  if (!Object.hasOwn(nameKeys, rule)) {
    throw new RangeError(`Expected "names" to be "exact" or "zf1", got "${rule}"`)
  }
  return nameKeys[rule]
}

function allModules(
  controllers: Controllers,
  modules: ReadonlyMap<string, Controllers>,
  names: NameKeys,
  errorController: Controller,
): readonly (readonly [string, Controllers])[] {
  checkMap(controllers, 'controllers')
  checkMap(modules, 'modules')
  for (const [name, each] of modules) checkMap(each, `modules.get('${name}')`)
  const builtIn = new Map<string, Controller>([['error', errorController]])
  // Nothing to be served yet: a page that tells how to begin.
  if (controllers.size + modules.size === 0) builtIn.set('index', welcomeController)
  const taken = new Set([...controllers.keys()].map(names.controller))
  const missing = [...builtIn].filter(([name]) => !taken.has(names.controller(name)))
  return [['default', new Map([...missing, ...controllers])], ...modules]
}

function checkedLogger(logger: Logger | undefined): Logger | undefined {
  for (const level of ['info', 'warn', 'error'] as const) {
    if (logger !== undefined && typeof logger?.[level] !== 'function') {
      throw new TypeError(`Expected "logger" to have a function "${level}"`)
    }
  }
  return logger
}

function checkedFunction<T>(name: string, value: T): T {
  if (value !== undefined && typeof value !== 'function') {
    throw new TypeError(`Expected "${name}" to be a function`)
  }
  return value
}

function checkMap(value: unknown, name: string): void {
  if (!(value instanceof Map)) throw new TypeError(`Expected "${name}" to be a Map`)
}

function checkedBasePath(basePath: string): string {
  if (!BASE_PATH.test(basePath)) {
    throw new TypeError(`Expected a "basePath" such as "/app", got "${basePath}"`)
  }
  return basePath
}
