import { setImmediate as immediate } from 'node:timers/promises'
import type { Controllers } from '../controllers/controller.ts'
import {
  type ControllerDirectory,
  loadControllers,
  warningAboutFolder,
  warningsAbout,
} from '../controllers/load-controllers.ts'
import { lineOf } from '../controllers/load-file.ts'
import { FrontController, partsOf } from '../dispatch/front-controller.ts'
import { DEFAULT_LIMITS, type FrontControllerOptions, withMaps } from '../dispatch/options.ts'
import { nearestName } from '../http/check-options.ts'
import { toError } from '../http/exceptions.ts'
import { HttpRequest } from '../http/request.ts'
import { rejectLongTarget } from '../http/request-line.ts'
import { fullName } from '../http/route.ts'
import type { Logger } from '../reporting/log.ts'
import { nameKeys } from '../routing/name-rules.ts'
import { routeNames } from '../routing/route-target.ts'
import type { Handler } from '../server/handler.ts'
import { publicPathOf, sendFiles } from '../server/public-files.ts'
import { listPublicFolder, type PublicFile } from '../server/public-folder.ts'
import { type AppFile, loadAppFile, NO_APP } from './app-file.ts'
import type { CommandLine } from './command-line.ts'
import { contradictions } from './contradictions.ts'
import { printProblems } from './output.ts'
import { type Config, ConfigError } from './settings.ts'
import { isSupervised } from './worker.ts'

/** An application that is loaded: its folder of controllers, its application file and its settings. */
export interface Application {
  readonly front: FrontController
  /** The front controller, behind the public files if there are any. */
  readonly handler: Handler
  /** The public files by their decoded paths in URLs; undefined if there is no folder of them. */
  readonly files: ReadonlyMap<string, PublicFile> | undefined
  /** The exports of the application file. */
  readonly app: AppFile
  /** The settings, with those of the application file. */
  readonly config: Config
  /** The log of the application file, else of the program. */
  readonly logger: Logger | undefined
}

/** The part of a command line that {@link loadApplication} reads. */
type ApplicationLine = Pick<CommandLine, 'config' | 'given'> &
  Partial<Pick<CommandLine, 'warnings'>>

/**
 * Loads the application file and the controllers, and creates the front controller.
 *
 * @param logger The log for errors, and for warnings about controllers. Without it, warnings go to stderr.
 * @throws {ConfigError} If a file does not load, an option or a name is invalid, or a timer throws.
 */
export async function loadApplication(
  line: ApplicationLine,
  logger?: Logger,
): Promise<Application> {
  let fail = (_: unknown): void => {}
  const failed = new Promise<never>((_, reject) => {
    fail = (thrown) => {
      reject(new ConfigError([`The application does not load: ${lineOf(toError(thrown))}`]))
    }
  })
  process.on('uncaughtException', fail).on('unhandledRejection', fail)
  try {
    return await Promise.race([load(line, logger), failed])
  } finally {
    process.off('uncaughtException', fail).off('unhandledRejection', fail)
  }
}

async function load(
  { config: own, given, warnings = [] }: ApplicationLine,
  logger: Logger | undefined,
): Promise<Application> {
  try {
    const app = own.app === undefined ? NO_APP : await loadAppFile(own.app)
    const { options } = app
    const config = withOptions(own, given, options)
    const problems = contradictions(config, options.logger)
    if (problems.length > 0) throw new ConfigError(problems)
    const warn = (warning: string): void => {
      if (logger === undefined) printProblems([warning])
      else logger.warn({ event: 'warning' }, warning)
    }
    const controllers = joined(withMaps(options), await loadFolder(config, warn), config)
    const { names, basePath, env, showValues, logParams, trustProxy } = config
    const limits = limitsOf(DEFAULT_LIMITS, config)
    const log = options.logger ?? logger
    const front = new FrontController({
      ...options,
      ...controllers,
      ...{ names, basePath, logParams, trustProxy, limits, showValues },
      logger: log,
      development: env === 'development',
    })
    // The supervisor of a worker logs those of the command line.
    const ownWarnings = isSupervised ? [] : warnings
    for (const warning of [...ownWarnings, ...warningsAbout(controllers)]) warn(warning)
    warnAboutLimits(front, config, warn)
    warnAboutRoutes(front, warn)
    const { public: folder, publicCacheControl: cacheControl } = config
    const files = folder === undefined ? undefined : listPublicFolder(folder, basePath)
    const { headers } = options
    const handler = files === undefined ? front : sendFiles(front, files, { cacheControl, headers })
    // Waits for a turn: only after it does Node report a rejected promise of the application as an event.
    await immediate()
    return { front, handler, files, app, config, logger: log }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError((error as Error).message.split('\n'))
  }
}

// A flag or a variable takes precedence over the application file.
function withOptions(
  config: Config,
  given: ReadonlySet<string>,
  {
    names,
    basePath,
    limits,
    logParams,
    trustProxy,
    development,
    showValues,
  }: FrontControllerOptions,
): Config {
  const env = development === undefined ? undefined : development ? 'development' : 'production'
  const options = { names, basePath, ...limits, logParams, trustProxy, env, showValues }
  const applied = Object.entries(options).filter(
    ([name, value]) => value !== undefined && !given.has(name),
  )
  return Object.freeze({ ...config, ...Object.fromEntries(applied) })
}

/** Returns the public file that responds to a request; undefined if none does. */
export function publicFileOf(
  { config, files }: Pick<Application, 'config' | 'files'>,
  { method, target }: Pick<HttpRequest, 'method' | 'target'>,
): string | undefined {
  const rejection = rejectLongTarget(target, config.maxTargetBytes)
  const path = publicPathOf(new HttpRequest({ method, target, rejection }))
  return files?.get(path)?.file
}

async function loadFolder(
  { controllers: folder }: Config,
  warn: (warning: string) => void,
): Promise<ControllerDirectory> {
  if (folder === undefined) return { controllers: new Map(), modules: new Map() }
  const loaded = await loadControllers(folder)
  const empty = warningAboutFolder(folder, loaded)
  if (empty !== undefined) warn(empty)
  return loaded
}

// Warns about actions that may be silent for longer than the socket timeout. An action with its own `maxBodyBytes` receives an
// upload, and is not silent.
function warnAboutLimits(
  front: FrontController,
  { socketTimeoutMs }: Config,
  warn: (warning: string) => void,
): void {
  const late = partsOf(front).dispatcher.actions.filter(
    ({ limits: { timeoutMs = 0, maxBodyBytes } = {} }) =>
      timeoutMs >= socketTimeoutMs && maxBodyBytes === undefined,
  )
  if (late.length === 0) return
  const limit = `--socket-timeout-ms, "${socketTimeoutMs}"`
  warn(`The "timeoutMs" of ${late.map(fullName).join(', ')} is not less than ${limit}`)
}

// Warns about routes that lead to no action, such as by the name of a function, `userAdmin`, in place of its name in URLs.
function warnAboutRoutes(front: FrontController, warn: (warning: string) => void): void {
  const { dispatcher, router } = partsOf(front)
  for (const { name, defaults, variables, isAbstract, isRest } of router.named.values()) {
    if (isAbstract || isRest || routeNames.some((each) => variables.has(each))) continue
    const target = { ...defaults, pairs: undefined }
    if (dispatcher.nameOf(target) !== undefined) continue
    const nearest = nearestName(fullName(target), dispatcher.registered)
    const hint = nearest === undefined ? '' : `: did you mean "${nearest}"?`
    warn(`The route "${name}" leads to "${fullName(target)}", which does not exist${hint}`)
  }
}

// Joins the controllers of the application file and of the folder.
function joined(
  app: ControllerDirectory,
  folder: ControllerDirectory,
  config: Config,
): ControllerDirectory {
  const toKey = nameKeys[config.names].controller
  const join = (module: string, one: Controllers, other: Controllers): Controllers => {
    const keys = new Set([...one.keys()].map(toKey))
    const name = [...other.keys()].find((each) => keys.has(toKey(each)))
    if (name === undefined) return new Map([...one, ...other])
    throw new Error(
      `The controller "${module}${name}" is in the application file "${config.app}" and in the folder "${config.controllers}"`,
    )
  }
  const modules = new Map(app.modules)
  for (const [name, each] of folder.modules) {
    modules.set(name, join(`${name}/`, modules.get(name) ?? new Map(), each))
  }
  return { controllers: join('', app.controllers, folder.controllers), modules }
}

/** Returns the settings with the names of the defaults. */
export function limitsOf<T extends object>(defaults: T, config: T): T {
  const names = Object.keys(defaults) as (keyof T)[]
  return Object.fromEntries(names.map((name) => [name, config[name]])) as T
}
