import type { Controller, Controllers, NamedControllers } from '../controllers/controller.ts'
import { checkObject, isRecord } from '../http/check-options.ts'
import type { FormLimits } from '../http/form-body.ts'
import type { HeaderValue } from '../http/response-headers.ts'
import { kebabCase } from '../http/route.ts'
import type { ErrorReport } from '../reporting/error-report.ts'
import type { Logger } from '../reporting/log.ts'
import type { NameRule } from '../routing/name-rules.ts'
import type { RoutePatterns } from '../routing/route-pattern.ts'
import type { Router } from '../routing/router.ts'
import type { Plugin } from './plugin.ts'

/** Limits of one request. */
export interface Limits extends FormLimits {
  /** Maximum bytes of a request target (default 8,192); beyond it 414. */
  readonly maxTargetBytes: number
  /** Maximum milliseconds of an action, and of a hook of a plugin (default 25,000); beyond it 503, or 408 if it still reads the body. */
  readonly actionTimeoutMs: number
}

export const DEFAULT_LIMITS: Limits = {
  maxBodyBytes: 1_048_576,
  maxFields: 1_000,
  maxTargetBytes: 8_192,
  actionTimeoutMs: 25_000,
}

/** Options of a {@link FrontController}. */
export interface FrontControllerOptions {
  /**
   * The controllers of the module `default` by name, in an object or a Map; `error` replaces the built-in error controller.
   */
  readonly controllers?: NamedControllers | undefined
  /** The controllers of each other module, by the name of the module. */
  readonly modules?:
    | ReadonlyMap<string, NamedControllers>
    | Readonly<Record<string, NamedControllers>>
    | undefined
  /** How a requested name matches a registered one (default `exact`). */
  readonly names?: NameRule | undefined
  /** The path prefix of all URLs, in whole segments, such as `/app` (default none). */
  readonly basePath?: string | undefined
  /** A custom router, in place of the one for `/module/controller/action/key/value`. */
  readonly router?: Router | undefined
  /**
   * Named routes of all kinds of ZF1, tried before the default route, the last one first (default none).
   */
  readonly routes?: RoutePatterns | undefined
  /** Plugins, whose hooks run in this order (default none). */
  readonly plugins?: readonly Plugin[] | undefined
  /**
   * Headers of every response, also to errors, such as those for security (default none). One that an action sets takes
   * precedence.
   */
  readonly headers?: Readonly<Record<string, HeaderValue>> | undefined
  /** Limits of one request; a missing one has its default. */
  readonly limits?: Partial<Limits> | undefined
  /** The log for errors, such as pino or `console` (default none). */
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
   * Whether that response shows the values of the parameters, not their shapes, to clients on the same machine
   * (default false). Needs `development`.
   */
  readonly showValues?: boolean | undefined
}

/** Options whose controllers and modules are Maps. @internal */
export interface OptionsWithMaps extends FrontControllerOptions {
  readonly controllers: Controllers
  readonly modules: ReadonlyMap<string, Controllers>
}

/** Lists the controllers of the application in all modules. @internal */
export function controllersOf({ controllers, modules }: OptionsWithMaps): readonly Controller[] {
  return [controllers, ...modules.values()].flatMap((each) => [...each.values()])
}

/**
 * Converts the controllers and modules of options to Maps.
 *
 * @throws {TypeError} If they are neither objects nor Maps, or two names of an object are one in URLs.
 * @internal
 */
export function withMaps(options: FrontControllerOptions): OptionsWithMaps {
  checkObject('options', options)
  const modules = toMap<NamedControllers>(options.modules ?? {}, 'modules')
  return {
    ...options,
    controllers: toMap<Controller>(options.controllers ?? {}, 'controllers'),
    modules: new Map(
      [...modules].map(([name, each]) => [name, toMap<Controller>(each, `modules.${name}`)]),
    ),
  }
}

// The keys of an object are names of JavaScript, such as `userAdmin`.
function toMap<T>(
  value: ReadonlyMap<string, T> | Readonly<Record<string, T>>,
  name: string,
): ReadonlyMap<string, T> {
  if (value instanceof Map) return value
  // An instance of a class is a controller in place of the controllers.
  if (!isRecord(value)) throw new TypeError(`Expected "${name}" to be an object or a Map`)
  const map = new Map<string, T>()
  for (const [key, each] of Object.entries(value)) {
    const kebab = kebabCase(key)
    if (map.has(kebab)) throw new TypeError(`"${name}" has two keys for the name "${kebab}"`)
    map.set(kebab, each)
  }
  return map
}
