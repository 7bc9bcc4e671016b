import type { Controller, Controllers } from './controller.ts'
import { errorController } from './error-controller.ts'
import type { FormLimits } from './form-body.ts'
import { indexController } from './index-controller.ts'
import { type NameRule, type Names, nameRules } from './names.ts'
import type { Plugin } from './plugin.ts'
import type { Router } from './router.ts'

/** What one request may take (SPEC section 7). */
export interface Limits extends FormLimits {
  /** Milliseconds for an action, and for a plugin's moment (default 25,000); beyond it 503. */
  readonly actionTimeoutMs: number
}

// What a timer takes, in milliseconds; one for longer would fire at once.
const MOST = 2 ** 31 - 1

const DEFAULT_LIMITS: Limits = {
  maxBodyBytes: 1_048_576,
  maxFields: 1_000,
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
  readonly plugins?: readonly Plugin[] | undefined
  readonly limits?: Partial<Limits> | undefined
}

/** The options, checked and whole: every module with its controllers, the built-in ones among them. */
export interface CheckedOptions {
  readonly modules: readonly (readonly [string, Controllers])[]
  readonly names: Names
  readonly basePath: string
  readonly router: Router | undefined
  readonly plugins: readonly Plugin[]
  readonly limits: Limits
}

/** @throws {TypeError | RangeError} With the name of the option that is not what it should be. */
export function checkedOptions(options: FrontControllerOptions): CheckedOptions {
  const { controllers = new Map(), modules = new Map(), router, plugins = [] } = options
  const names = namesOf(options.names ?? 'exact')
  if (router !== undefined && typeof router.route !== 'function') {
    throw new TypeError('Expected a "router" with a function "route"')
  }
  if (!Array.isArray(plugins) || plugins.some((plugin) => Object(plugin) !== plugin)) {
    throw new TypeError('Expected "plugins" to be a list of objects')
  }
  return {
    modules: allModules(controllers, modules, names),
    names,
    basePath: checkedBasePath(options.basePath ?? ''),
    router,
    plugins,
    limits: checkedLimits(options.limits ?? {}),
  }
}

function namesOf(rule: NameRule): Names {
  if (!Object.hasOwn(nameRules, rule)) {
    throw new RangeError(`Expected "names" to be "exact" or "zf1", got "${rule}"`)
  }
  return nameRules[rule]
}

function allModules(
  controllers: Controllers,
  modules: ReadonlyMap<string, Controllers>,
  names: Names,
): readonly (readonly [string, Controllers])[] {
  checkMap(controllers, 'controllers')
  checkMap(modules, 'modules')
  for (const [name, each] of modules) checkMap(each, `modules.get('${name}')`)
  const builtIn = new Map<string, Controller>([['error', errorController]])
  // Nothing to be served yet: a page that tells how to begin.
  if (controllers.size + modules.size === 0) builtIn.set('index', indexController)
  const taken = new Set([...controllers.keys()].map(names.controller))
  const missing = [...builtIn].filter(([name]) => !taken.has(names.controller(name)))
  return [['default', new Map([...missing, ...controllers])], ...modules]
}

function checkMap(value: unknown, name: string): void {
  if (!(value instanceof Map)) throw new TypeError(`Expected "${name}" to be a Map`)
}

function checkedBasePath(basePath: string): string {
  if (!/^(\/[\w.~-]+)*$/.test(basePath)) {
    throw new TypeError(`Expected a "basePath" such as "/app", got "${basePath}"`)
  }
  return basePath
}

function checkedLimits(limits: Partial<Limits>): Limits {
  const all = { ...DEFAULT_LIMITS, ...limits }
  for (const [name, value] of Object.entries(all)) {
    if (!Number.isInteger(value) || value < 1 || value > MOST) {
      throw new RangeError(
        `Expected "${name}" to be a whole number from 1 to ${MOST}, got "${value}"`,
      )
    }
  }
  return all
}
