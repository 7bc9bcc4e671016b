#!/usr/bin/env node
import cluster from 'node:cluster'
import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'
import {
  type ControllerDirectory,
  loadControllers,
  warningsAbout,
} from './lib/controllers/load-controllers.ts'
import { FrontController } from './lib/dispatch/front-controller.ts'
import type { FrontControllerOptions } from './lib/dispatch/options.ts'
import { explain } from './lib/inspect/explain.ts'
import { listRoutes } from './lib/inspect/list-routes.ts'
import { type Site, siteOf } from './lib/inspect/site.ts'
import { logAccess } from './lib/process/access-log.ts'
import { type Command, ConfigError, helpText, readConfig } from './lib/process/command-line.ts'
import { probeHealth, serveHealth } from './lib/process/health.ts'
import { Log } from './lib/process/log.ts'
import { loadTelling } from './lib/process/parse-failure.ts'
import { explanationText, type RoutesStyle, routesText } from './lib/process/routes-text.ts'
import { type Config, EXIT_CONFIG } from './lib/process/settings.ts'
import { leaveCluster, STOP_MESSAGE, Supervisor, WorkerError } from './lib/process/supervisor.ts'
import { type ListeningMessage, Watcher } from './lib/process/watcher.ts'
import { printable } from './lib/reporting/printable.ts'
import {
  DEFAULT_SERVER_LIMITS,
  httpUrl,
  type ServerLimits,
  type Service,
  serve,
} from './lib/server/serve.ts'

// The process: what comes from outside to a running server, and signals and exit codes back.

const EXIT_FAILURE = 1
const STDIN = 0
// The first of the sockets that systemd hands over (sd_listen_fds(3)).
const FIRST_FD = 3
// Names the process that watches this one, by its id.
const WATCHER = 'PORTICO_WATCHER'

// A closed or full stdout must not end a server.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})
// Node opens the inspector on it otherwise.
process.on('SIGUSR1', () => {})

await main()

async function main(): Promise<void> {
  try {
    const args = process.argv.slice(2)
    await run(readConfig(args, process.env, (file) => readFileSync(file, 'utf8')))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    fail(EXIT_CONFIG, error.problems)
  }
}

async function run(command: Command): Promise<void> {
  switch (command.name) {
    case 'help':
      return tell(helpText())
    case 'version':
      return tell(`${version()}\n`)
    case 'healthcheck':
      return exitHealthy(command.config)
    case 'check':
      await createSite(command.config)
      tell(jsonText(command.config))
      // A controller may have timers that would keep the process.
      return process.exit()
    case 'routes': {
      const routes = listRoutes(await createSite(command.config))
      tell(command.json ? jsonText(routes) : routesText(routes, createStyle()))
      return process.exit()
    }
    case 'explain': {
      const explanation = explain(await createSite(command.config), command)
      tell(command.json ? jsonText(explanation) : explanationText(explanation, createStyle()))
      return process.exit(explanation.error === null ? 0 : EXIT_FAILURE)
    }
    case 'watch':
      return watch(command.config)
    case 'run':
      return command.config.workers > 0 && cluster.isPrimary
        ? supervise(command.config)
        : answer(command.config)
  }
}

// The one process, or a worker among several.
async function answer(config: Config): Promise<void> {
  const log = createLog(config)
  const front = await createFront(config, log)
  let ready = true
  const service = await listen(front, config, log)
  const health = await listenForHealth(config, () => ready)
  let exitCode = 0
  const stop = once(async () => {
    ready = false
    await delay(config.drainDelayMs)
    const destroyed = await service.close()
    await leaveCluster()
    health?.close()
    if (!cluster.isWorker || destroyed > 0) {
      const why = exitCode === 0 ? '' : ' by an exception outside of any request'
      log.info({ event: 'stop', destroyed }, `Stopped${why}, ${destroyed} connections destroyed`)
    }
    process.exit(destroyed > 0 ? EXIT_FAILURE : exitCode)
  })
  const crash = (error: unknown): void => {
    exitCode = EXIT_FAILURE
    front.report(error)
    stop()
  }
  process.on('uncaughtException', crash).on('unhandledRejection', crash)
  if (cluster.isWorker || isWatched()) obeySupervisor(stop)
  else {
    obeySignals(stop)
    obeyHangup(log, stop)
  }
  if (!cluster.isWorker) logStart(log, service.url)
}

// The process above the workers.
async function supervise(config: Config): Promise<void> {
  // It would be closed with the last worker that uses it.
  if (inheritedFd() !== undefined) {
    throw new ConfigError(['--workers can not share a socket that was handed over (LISTEN_FDS)'])
  }
  const log = createLog(config)
  const { workers, drainDelayMs, closeTimeoutMs } = config
  const stopTimeoutMs = drainDelayMs + closeTimeoutMs + 2_000
  const supervisor = new Supervisor({ workers, logger: log, stopTimeoutMs })
  const health = await listenForHealth(config, () => supervisor.isReady)
  const stop = once(async () => {
    const exitCode = await supervisor.stop()
    health?.close()
    log.info({ event: 'stop' }, 'Stopped, with all workers')
    process.exit(exitCode)
  })
  if (isWatched()) obeySupervisor(stop)
  else obeySignals(stop, () => supervisor.kill())
  process.on('SIGHUP', () => supervisor.reload())
  try {
    const { address, port } = await supervisor.start()
    logStart(log, httpUrl(address, port))
  } catch (error) {
    if (!(error instanceof WorkerError)) throw error
    // It has said itself what was wrong.
    supervisor.kill()
    process.exit(error.exitCode)
  }
}

// The process above the one that answers, in development.
async function watch(config: Config): Promise<void> {
  if (inheritedFd() !== undefined) {
    throw new ConfigError(['--watch can not use a socket that was handed over (LISTEN_FDS)'])
  }
  const { controllers = '', drainDelayMs, closeTimeoutMs } = config
  const folder = resolve(controllers)
  const log = createLog(config)
  const watcher = new Watcher({
    folder,
    program: fileURLToPath(import.meta.url),
    args: [...process.argv.slice(2).filter((arg) => !isWatchFlag(arg)), `--env=${config.env}`],
    env: { ...process.env, [WATCHER]: String(process.pid) },
    logger: log,
    stopTimeoutMs: drainDelayMs + closeTimeoutMs + 2_000,
  })
  const stop = (): void => watcher.stop()
  obeySignals(stop, () => watcher.kill())
  obeyHangup(log, stop)
  try {
    process.exit(await watcher.run())
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError([`The folder of controllers "${folder}" can't be watched: ${code}`])
  }
}

function isWatchFlag(arg: string): boolean {
  return arg === '--watch' || arg.startsWith('--watch=')
}

// Whether this is the program that a watcher runs, and not one that such a program runs.
function isWatched(): boolean {
  return process.env[WATCHER] === String(process.ppid) && process.send !== undefined
}

function obeySignals(stop: () => void, onSecond = (): void => {}): void {
  let stopping = false
  const onSignal = (): void => {
    if (stopping) {
      // Whoever asks twice does not want to wait.
      onSecond()
      process.exit(EXIT_FAILURE)
    }
    stopping = true
    stop()
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
}

// Who was told to reload serves on, and says why nothing was; whose terminal has gone stops.
function obeyHangup(log: Log, stop: () => void): void {
  process.on('SIGHUP', () => {
    if (isatty(STDIN)) stop()
    else log.warn({ event: 'hangup' }, 'SIGHUP replaces workers, and there are none: see --workers')
  })
}

// A terminal and systemd signal every process of a group; a worker waits for its supervisor's word.
function obeySupervisor(stop: () => void): void {
  process
    .on('SIGTERM', () => {})
    .on('SIGINT', () => {})
    .on('SIGHUP', () => {})
  process.on('message', (message) => {
    if (message === STOP_MESSAGE) stop()
  })
  process.on('disconnect', stop)
  // It has died while the controllers were loaded.
  if (!process.connected) stop()
}

function createLog({ logLevel }: Config): Log {
  const stream = process.stdout
  return new Log({
    stream,
    level: logLevel,
    pretty: stream.isTTY,
    color: hasColors(stream),
  })
}

function logStart(log: Log, url: string): void {
  const fields = { event: 'start', version: version(), url, pid: process.pid }
  log.info(fields, `Portico ${version()} listens on ${url}`)
  const message: ListeningMessage = { listening: { port: Number(new URL(url).port) } }
  if (isWatched()) process.send?.(message)
}

function createStyle(): RoutesStyle {
  return {
    color: hasColors(process.stdout),
    shownFile: (file) => {
      const path = relative(process.cwd(), file)
      return path.startsWith('..') ? file : path
    },
  }
}

// https://no-color.org
function hasColors({ isTTY }: { readonly isTTY?: boolean }): boolean {
  return isTTY === true && !process.env.NO_COLOR
}

async function createFront(config: Config, logger: Log): Promise<FrontController> {
  // The inspector is nothing for production.
  const load = config.env === 'production' ? loadControllers : loadToTell
  return configured(async () => new FrontController(await loadOptions(config, load, logger)))
}

async function createSite(config: Config): Promise<Site> {
  return configured(async () => siteOf(await loadOptions(config, loadToTell)))
}

function loadToTell(directory: string): Promise<ControllerDirectory> {
  return loadTelling(process.execPath, directory)
}

async function loadOptions(
  config: Config,
  load: (directory: string) => Promise<ControllerDirectory>,
  logger?: Log,
): Promise<FrontControllerOptions> {
  const { controllers, names, basePath, env, logParams, trustProxy } = config
  const { maxBodyBytes, maxFields, maxTargetBytes, actionTimeoutMs } = config
  const loaded = controllers === undefined ? undefined : await load(controllers)
  for (const doubt of loaded === undefined ? [] : warningsAbout(loaded)) {
    if (logger !== undefined) logger.warn({ event: 'doubt' }, doubt)
    else process.stderr.write(`portico: ${printable(doubt)}\n`)
  }
  return {
    ...loaded,
    names,
    basePath,
    logger,
    logParams,
    trustProxy,
    development: env === 'development',
    limits: { maxBodyBytes, maxFields, maxTargetBytes, actionTimeoutMs },
  }
}

async function configured<T>(create: () => Promise<T>): Promise<T> {
  try {
    return await create()
  } catch (error) {
    throw new ConfigError([(error as Error).message])
  }
}

async function listen(front: FrontController, config: Config, log: Log): Promise<Service> {
  const { port, host, accessLog, closeTimeoutMs } = config
  const onAccess = accessLog ? logAccess.bind(undefined, log) : undefined
  try {
    return await serve(front, {
      port,
      host,
      fd: inheritedFd(),
      onAccess,
      closeTimeoutMs,
      limits: serverLimits(config),
    })
  } catch (error) {
    return failToListen(host, port, error)
  }
}

function serverLimits(config: Config): ServerLimits {
  const names = Object.keys(DEFAULT_SERVER_LIMITS) as (keyof ServerLimits)[]
  return Object.fromEntries(names.map((name) => [name, config[name]])) as unknown as ServerLimits
}

async function listenForHealth({ healthPort, host }: Config, isReady: () => boolean) {
  if (healthPort === undefined || cluster.isWorker) return undefined
  try {
    return await serveHealth(isReady, healthPort, host)
  } catch (error) {
    return failToListen(host, healthPort, error)
  }
}

function failToListen(host: string, port: number, error: unknown): never {
  const { code } = error as NodeJS.ErrnoException
  const hint = code === 'EADDRINUSE' ? ', another program listens there; see --port' : ''
  return fail(EXIT_FAILURE, [`Can't listen on ${host}, port ${port}: ${code}${hint}`])
}

async function exitHealthy({ healthPort, host }: Config): Promise<void> {
  if (healthPort === undefined) throw new ConfigError(['--healthcheck needs --health-port'])
  // Who listens everywhere is asked here.
  const address = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  process.exit((await probeHealth(healthPort, address)) ? 0 : EXIT_FAILURE)
}

// Socket activation: systemd, or whatever speaks its protocol, listens for us.
function inheritedFd(): number | undefined {
  const { LISTEN_FDS, LISTEN_PID } = process.env
  return LISTEN_PID === String(process.pid) && Number(LISTEN_FDS) > 0 ? FIRST_FD : undefined
}

function once(stop: () => Promise<void>): () => void {
  let stopping = false
  return () => {
    if (!stopping) stop()
    stopping = true
  }
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function tell(text: string): void {
  process.stdout.write(text)
}

function fail(code: number, problems: readonly string[]): never {
  for (const problem of problems) process.stderr.write(`portico: ${printable(problem)}\n`)
  // At once: a controller that was loaded may have timers that would keep the process.
  process.exit(code)
}

function version(): string {
  const file = readFileSync(new URL(import.meta.resolve('portico/package.json')), 'utf8')
  return JSON.parse(file).version
}
