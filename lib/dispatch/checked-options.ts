import type { BlockList } from 'node:net'
import type { Controller, Controllers } from '../controllers/controller.ts'
import { welcomeController } from '../controllers/welcome-controller.ts'
import {
  BASE_PATH,
  BOOLEAN,
  Checks,
  checkedLimits,
  checkOptions,
  FUNCTION,
  type Kind,
  OBJECT,
  STRINGS,
  UNCHECKED,
} from '../http/check-options.ts'
import { networks } from '../http/forwarded.ts'
import { checkedHeaders, type DefaultHeaders } from '../http/response-headers.ts'
import type { ErrorReport } from '../reporting/error-report.ts'
import type { Logger } from '../reporting/log.ts'
import { type NameKeys, type NameRule, nameKeys } from '../routing/name-rules.ts'
import type { NamedRoute } from '../routing/named-route.ts'
import { checkedRoutes } from '../routing/route-table.ts'
import type { Router } from '../routing/router.ts'
import { Dispatcher } from './dispatcher.ts'
import {
  DEFAULT_LIMITS,
  type FrontControllerOptions,
  type Limits,
  type OptionsWithMaps,
} from './options.ts'
import { checkPlugin, NO_PLUGINS, type Plugin } from './plugin.ts'

const ROUTER: Kind = [
  'an object with a function "route"',
  (value) => typeof (value as Router | null)?.route === 'function',
]

const OPTIONS: Readonly<Record<keyof FrontControllerOptions, Kind>> = {
  controllers: UNCHECKED,
  modules: UNCHECKED,
  names: UNCHECKED,
  basePath: BASE_PATH,
  router: ROUTER,
  routes: UNCHECKED,
  plugins: UNCHECKED,
  headers: OBJECT,
  limits: OBJECT,
  logger: UNCHECKED,
  onReport: FUNCTION,
  logParams: STRINGS,
  trustProxy: STRINGS,
  development: BOOLEAN,
  showValues: BOOLEAN,
}

/**
 * Checked options with their defaults: every module with its controllers, including the built-in ones.
 * @internal
 */
export interface CheckedOptions {
  readonly modules: readonly (readonly [string, Controllers])[]
  readonly dispatcher: Dispatcher
  readonly names: NameKeys
  readonly basePath: string
  readonly router: Router | undefined
  readonly routes: readonly NamedRoute[]
  readonly plugins: readonly Plugin[]
  readonly headers: DefaultHeaders
  readonly limits: Limits
  readonly logger: Logger | undefined
  readonly onReport: ((report: ErrorReport) => unknown) | undefined
  readonly trusted: BlockList
}

/**
 * Checks options and actions, and adds the defaults.
 *
 * @throws {TypeError | RangeError} If an option is invalid; the message has a line for each.
 * @internal
 */
export function checkedOptions(
  options: OptionsWithMaps,
  errorController: Controller,
): CheckedOptions {
  const { router, routes = {}, plugins = [], logger, trustProxy = [] } = options
  const checks = new Checks()
  checks.run(() => checkOptions<FrontControllerOptions>('options', options, OPTIONS))
  const names = checks.run(() => namesOf(options.names ?? 'exact')) ?? nameKeys.exact
  if (router !== undefined && options.routes !== undefined) {
    checks.add(new TypeError('Expected "routes" or "router", not both'))
  }
  if (options.showValues && !options.development) {
    checks.add(new TypeError('Expected "development" with "showValues"'))
  }
  const modules = allModules(options.controllers, options.modules, names, errorController)
  const checked = {
    modules,
    names,
    basePath: options.basePath ?? '',
    router,
    routes: checks.run(() => checkedRoutes(routes)),
    plugins: checks.run(() => checkedPlugins(plugins)),
    headers: checks.run(() => checkedHeaders(options.headers ?? {})),
    limits: checks.run(() => checkedLimits(DEFAULT_LIMITS, options.limits ?? {})),
    logger: checks.run(() => checkedLogger(logger)),
    onReport: options.onReport,
    trusted: checks.run(() => networks(STRINGS[1](trustProxy) ? trustProxy : [])),
    dispatcher: checks.run(() => new Dispatcher(modules, names)),
  }
  checks.end()
  return checked
}

function checkedPlugins(plugins: readonly Plugin[]): readonly Plugin[] {
  if (!Array.isArray(plugins)) throw new TypeError(NO_PLUGINS)
  const checks = new Checks()
  for (const [i, plugin] of plugins.entries()) {
    checks.run(() => checkPlugin(plugin, `plugins[${i}]`))
  }
  checks.end()
  return plugins
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
