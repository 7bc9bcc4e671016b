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

/** Limits of one request (SPEC section 7). */
export interface Limits extends FormLimits {
  /** Maximum bytes of a request target (default 8,192); beyond it 414. */
  readonly maxTargetBytes: number
  /** Maximum time of an action, and of a hook of a plugin, in milliseconds (default 25,000); beyond it 503. */
  readonly actionTimeoutMs: number
}

/** Matches '' and a path of whole segments without a trailing slash. */
export const BASE_PATH: RegExp = /^(\/[\w.~-]+)*$/

export const DEFAULT_LIMITS: Limits = {
  maxBodyBytes: 1_048_576,
  maxFields: 1_000,
  maxTargetBytes: 8_192,
  actionTimeoutMs: 25_000,
}

/** The options of a {@link FrontController}. */
export interface FrontControllerOptions {
  /** The controllers of the module `default` by name; `error` replaces the built-in error controller. */
  readonly controllers?: Controllers | undefined
  /** The controllers of each other module, by the name of the module. */
  readonly modules?: ReadonlyMap<string, Controllers> | undefined
  /** How a requested name matches a registered one (default `exact`). */
  readonly names?: NameRule | undefined
  /** The path prefix of all URLs, in whole segments, such as `/app` (default none). */
  readonly basePath?: string | undefined
  /** A custom router, in place of the one for `/module/controller/action/key/value`. */
  readonly router?: Router | undefined
  /**
   * Named routes, tried before the default route, the last one first.
   *
   * @example
   * { article: { path: '/news/:id', defaults: { controller: 'news', action: 'view' }, requirements: { id: '\\d+' } } }
   */
  readonly routes?: RoutePatterns | undefined
  /** Plugins. For every request, their hooks run in this order (default none). */
  readonly plugins?: readonly Plugin[] | undefined
  /** Limits of one request; a missing one has its default. */
  readonly limits?: Partial<Limits> | undefined
  /** The log for errors, such as pino, winston or `console` (default none). */
  readonly logger?: Logger | undefined
  /** Called with the report of every error, including those that the log only counts. */
  readonly onReport?: ((report: ErrorReport) => unknown) | undefined
  /** Names of parameters whose values may appear in reports (default none). */
  readonly logParams?: readonly string[] | undefined
  /** Addresses and networks (CIDR) of proxies whose `X-Forwarded-*` and `Forwarded` are trusted (default none). */
  readonly trustProxy?: readonly string[] | undefined
  /**
   * Whether the response to an error shows what failed and where (default false). It replaces the error controller of the
   * application. Not for a public server.
   */
  readonly development?: boolean | undefined
  /**
   * Whether that response shows the values of the parameters, and not their shapes, to clients on the same machine
   * (default false). Needs `development`.
   */
  readonly showValues?: boolean | undefined
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
  'showValues',
]

/**
 * Checked options with their defaults: every module with its controllers, including the built-in ones.
 * @internal
 */
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

/**
 * Checks options, and adds the defaults.
 *
 * @throws {TypeError | RangeError} If an option is invalid; the message names it.
 * @internal
 */
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
  if (options.showValues && !options.development) {
    throw new TypeError('Expected "development" with "showValues"')
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
  // An application without controllers has a page that explains the first steps.
  if (controllers.size + modules.size === 0) builtIn.set('index', welcomeController)
  const registered = new Set([...controllers.keys()].map(names.controller))
  const missing = [...builtIn].filter(([name]) => !registered.has(names.controller(name)))
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
