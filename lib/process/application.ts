import cluster from 'node:cluster'
import type { Server } from 'node:http'
import { loadControllers, warningsAbout } from '../controllers/load-controllers.ts'
import { FrontController } from '../dispatch/front-controller.ts'
import { DEFAULT_LIMITS } from '../dispatch/options.ts'
import type { Logger } from '../reporting/logger.ts'
import { DEFAULT_SERVER_LIMITS, type Service, serve } from '../server/serve.ts'
import { logAccess } from './access-log.ts'
import { serveHealth } from './health.ts'
import { EXIT_FAILURE, fail, printProblems, version } from './output.ts'
import { type Config, ConfigError } from './settings.ts'
import { reportListening } from './watcher.ts'

// The first file descriptor that systemd passes on (sd_listen_fds(3)).
const FIRST_FD = 3

const NO_CONTROLLERS = { controllers: new Map(), modules: new Map() }

/**
 * Loads the controllers and creates the front controller.
 *
 * @param logger The log for errors, and for warnings about controllers. Without it, warnings go to stderr.
 * @throws {ConfigError} If a controller does not load, or a name can't be registered.
 */
export async function createFrontController(
  config: Config,
  logger?: Logger,
): Promise<FrontController> {
  const { controllers, names, basePath, env, showValues, logParams, trustProxy } = config
  try {
    const loaded = controllers === undefined ? NO_CONTROLLERS : await loadControllers(controllers)
    const warnings = warningsAbout(loaded)
    if (logger === undefined) printProblems(warnings)
    else for (const warning of warnings) logger.warn({ event: 'warning' }, warning)
    const development = env === 'development'
    const limits = limitsOf(DEFAULT_LIMITS, config)
    const shared = { names, basePath, logger, logParams, trustProxy, limits }
    return new FrontController({ ...loaded, ...shared, development, showValues })
  } catch (error) {
    throw new ConfigError([(error as Error).message])
  }
}

/** Listens on the configured port, or on the inherited socket; ends the process if that fails. */
export async function listen(
  front: FrontController,
  config: Config,
  logger: Logger,
): Promise<Service> {
  const { port, host, accessLog, closeTimeoutMs } = config
  const onAccess = accessLog ? logAccess.bind(undefined, logger) : undefined
  const limits = limitsOf(DEFAULT_SERVER_LIMITS, config)
  const options = { port, host, fd: inheritedSocket(), onAccess, closeTimeoutMs, limits }
  return serve(front, options).catch((error) => failToListen(host, port, '--port', error))
}

/** Listens on the health port if one is set, but not in a worker; ends the process if that fails. */
export async function listenForHealth(
  { healthPort: port, host }: Config,
  isReady: () => boolean,
): Promise<Server | undefined> {
  if (port === undefined || cluster.isWorker) return undefined
  return serveHealth(isReady, port, host).catch((error) =>
    failToListen(host, port, '--health-port', error),
  )
}

function failToListen(
  host: string,
  port: number,
  flag: string,
  { code }: NodeJS.ErrnoException,
): never {
  const hint = code === 'EADDRINUSE' ? `, another program listens there; see ${flag}` : ''
  return fail(EXIT_FAILURE, [`Can't listen on ${host}, port ${port}: ${code}${hint}`])
}

// The settings that have these defaults.
function limitsOf<T extends object>(defaults: T, config: T): T {
  const names = Object.keys(defaults) as (keyof T)[]
  return Object.fromEntries(names.map((name) => [name, config[name]])) as T
}

/**
 * Rejects a socket inherited by socket activation, for a flag that can't use it.
 *
 * @throws {ConfigError} If there is an inherited socket.
 */
export function rejectInheritedSocket(flag: string): void {
  if (inheritedSocket() === undefined) return
  throw new ConfigError([`${flag} cannot be used with an inherited socket (LISTEN_FDS)`])
}

// Socket activation: systemd, or a program with the same protocol, opens the socket and passes it on.
function inheritedSocket(): number | undefined {
  const { LISTEN_FDS, LISTEN_PID } = process.env
  return LISTEN_PID === String(process.pid) && Number(LISTEN_FDS) > 0 ? FIRST_FD : undefined
}

/** Logs that the program listens, and reports it to a watcher. */
export function logStart(logger: Logger, url: string): void {
  const fields = { event: 'start', version: version(), url, pid: process.pid }
  logger.info(fields, `Portico ${version()} listens on ${url}`)
  reportListening(Number(new URL(url).port))
}
