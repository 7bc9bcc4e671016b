#!/usr/bin/env node
import cluster from 'node:cluster'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { explain } from './lib/inspect/explain.ts'
import { listActions, listRoutes } from './lib/inspect/list-routes.ts'
import { closeApp, createReadyCheck, startApp } from './lib/process/app-file.ts'
import { loadApplication, publicFileOf } from './lib/process/application.ts'
import { onStopMessage } from './lib/process/child.ts'
import { type CommandLine, parseCommandLine } from './lib/process/command-line.ts'
import type { CommandName } from './lib/process/commands.ts'
import { probeHealth } from './lib/process/health.ts'
import { helpText } from './lib/process/help-text.ts'
import { init } from './lib/process/init.ts'
import { listen, listenForHealth, logStart, rejectInheritedSocket } from './lib/process/listen.ts'
import {
  createLog,
  EXIT_FAILURE,
  exit,
  fail,
  jsonText,
  print,
  routesStyle,
  version,
} from './lib/process/output.ts'
import { routesFromIni } from './lib/process/routes-from-ini.ts'
import { explanationText, publicText, routesText } from './lib/process/routes-text.ts'
import { type Config, ConfigError, EXIT_CONFIG } from './lib/process/settings.ts'
import { onHangup, onStopSignal } from './lib/process/signals.ts'
import { Supervisor } from './lib/process/supervisor.ts'
import { logWarnings } from './lib/process/warnings.ts'
import { forwardImports, isWatched, Watcher } from './lib/process/watcher.ts'
import { answerReady, leaveCluster, reportListen, requestSuccessor } from './lib/process/worker.ts'
import { WorkerError } from './lib/process/worker-slot.ts'
import { httpUrl } from './lib/server/serve.ts'

// Parses the command line, and runs the command.

// Minimum time for `close` of an application file: the drain may have used the whole close timeout.
const MIN_CLOSE_MS = 1_000

// The function for each command. If it returns a number, that is the exit code of the process.
const runners: Readonly<Record<CommandName, (line: CommandLine) => unknown>> = {
  help: () => print(helpText()),
  version: () => print(`${version()}\n`),
  check: async (line) => {
    const { config } = await loadApplication(line)
    print(jsonText(config))
    return 0
  },
  healthcheck: async ({ config: { healthPort = 0, host } }) =>
    (await probeHealth(healthPort, host)) ? 0 : EXIT_FAILURE,
  routes: async ({ json, ...line }) => {
    const { front, config, files } = await loadApplication(line)
    const listing = { actions: listActions(front), routes: listRoutes(front) }
    print(json ? jsonText(listing) : routesText(listing, routesStyle()))
    if (!json && files !== undefined) print(publicText(config.public ?? '', files.size))
    return 0
  },
  explain: async ({ json, ...line }) => {
    const application = await loadApplication(line)
    const explanation = explain(application.front, line, publicFileOf(application, line))
    print(json ? jsonText(explanation) : explanationText(explanation, routesStyle()))
    return explanation.error === null ? 0 : EXIT_FAILURE
  },
  watch: ({ config }) => watch(config),
  serve: (line) =>
    line.config.workers > 0 && cluster.isPrimary ? supervise(line.config) : serve(line),
}

const TEMPLATES = fileURLToPath(new URL('templates', import.meta.url))

// A closed or full stdout or stderr must not end the process.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})
// By default, Node opens the inspector on it.
process.on('SIGUSR1', () => {})

try {
  const args = process.argv.slice(2)
  if (args[0] === 'init') await init(args.slice(1), TEMPLATES)
  else if (args[0] === 'routes-from-ini') await exit(routesFromIni(args.slice(1)))
  else await run(args)
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  await fail(EXIT_CONFIG, error.problems)
}

async function run(args: readonly string[]): Promise<void> {
  const readFile = (file: string): string => readFileSync(file, 'utf8')
  const line = parseCommandLine(args, process.env, readFile)
  const exitCode = await runners[line.command](line)
  if (typeof exitCode === 'number') await exit(exitCode)
}

// Serves in this process, which is the only process or a worker.
async function serve(line: CommandLine): Promise<number> {
  const ownLog = createLog(line.config)
  logWarnings(ownLog)
  // A signal or the message of the parent process may come while the controllers load.
  const requested = new Promise<void>((stop) => {
    if (cluster.isWorker || isWatched()) return onStopMessage(stop)
    onStopSignal(stop)
    onHangup(ownLog, stop)
  })
  const application = await Promise.race([loadApplication(line, ownLog), requested])
  if (application === undefined) {
    const message = 'Stopped while the controllers were loading'
    if (!cluster.isWorker) ownLog.info({ event: 'stop' }, message)
    return 0
  }
  const { front, app, config, logger: log = ownLog } = application
  let isServing = true
  let exitCode = 0
  let reason = ''
  // Before the first request may come.
  const stopped = new Promise<void>((stop) => {
    const crash = (error: unknown): void => {
      front.report(error)
      // A worker that is replaced has cut nothing: the exit code of the supervisor does not depend on it.
      if (requestSuccessor()) return
      exitCode = EXIT_FAILURE
      reason = ' by an exception outside of any request'
      stop()
    }
    process.on('uncaughtException', crash).on('unhandledRejection', crash)
    requested.then(stop)
  })
  reportListen()
  const service = await listen(application, log)
  // Before any connection is accepted. A failure is an exception outside of any request.
  startApp(app, service)
  const isAppReady = createReadyCheck(app, (error) => front.report(error))
  const isReady = async (): Promise<boolean> => isServing && isAppReady()
  answerReady(isReady)
  const health = await listenForHealth(config, isReady)
  if (!cluster.isWorker) logStart(log, service.url)
  await stopped
  isServing = false
  await delay(config.drainDelayMs)
  const closeBy = performance.now() + config.closeTimeoutMs
  const { connections, actions } = await service.close()
  await leaveCluster()
  await closeApp(app, Math.max(MIN_CLOSE_MS, closeBy - performance.now())).catch((error) => {
    exitCode = EXIT_FAILURE
    reason ||= ' with an error of `close`'
    front.report(error)
  })
  health?.close()
  if (!cluster.isWorker || connections > 0) {
    const closed = `${connections} connections closed at the deadline, ${actions} actions cut`
    log.info({ event: 'stop', connections, actions }, `Stopped${reason}, ${closed}`)
  }
  return actions > 0 ? EXIT_FAILURE : exitCode
}

// Starts the workers, which serve, and keeps them running.
async function supervise(config: Config): Promise<number> {
  // The cluster would close the socket when the last worker that uses it ends.
  rejectInheritedSocket('--workers')
  const log = createLog(config)
  logWarnings(log)
  const { workers, port, host } = config
  const options = { workers, port, host, logger: log, stopTimeoutMs: stopTimeoutMs(config) }
  const supervisor = new Supervisor(options)
  const stopped = new Promise<void>((stop) => {
    if (isWatched()) onStopMessage(stop, () => supervisor.kill())
    else onStopSignal(stop, () => supervisor.kill())
  })
  const health = await listenForHealth(config, () =>
    config.app === undefined ? supervisor.isReady : supervisor.askReady(),
  )
  process.on('SIGHUP', () => supervisor.reload())
  cluster.on('message', (_worker, message) => forwardImports(message))
  const started = supervisor.start().then(({ address, port }) => {
    logStart(log, httpUrl(address, port))
  })
  try {
    await Promise.race([started, stopped])
  } catch (error) {
    if (!(error instanceof WorkerError)) throw error
    // The worker has printed the problem.
    supervisor.kill()
    return error.exitCode
  }
  await stopped
  const exitCode = await supervisor.stop()
  health?.close()
  log.info({ event: 'stop' }, 'Stopped, and all workers too')
  return exitCode
}

// Runs this program again without --watch, and restarts it when a file of the application changes.
async function watch(config: Config): Promise<number> {
  rejectInheritedSocket('--watch')
  const log = createLog(config)
  const args = process.argv.slice(2).filter((arg) => !/^--watch(?:=|$)/.test(arg))
  const { controllers, public: publicFolder, app } = config
  const paths = (...given: readonly (string | undefined)[]): readonly string[] =>
    given.filter((path) => path !== undefined).map((path) => resolve(path))
  const watcher = new Watcher({
    folders: paths(controllers, publicFolder),
    files: paths(app),
    program: fileURLToPath(import.meta.url),
    args: [...args, `--env=${config.env}`],
    hasWorkers: config.workers > 0,
    logger: log,
    stopTimeoutMs: stopTimeoutMs(config),
  })
  const stop = (): void => watcher.stop()
  onStopSignal(stop, () => watcher.kill())
  onHangup(log, stop)
  return watcher.run()
}

// A child process may use its drain delay, its close timeout, and 3 more seconds to end.
function stopTimeoutMs({ drainDelayMs, closeTimeoutMs }: Config): number {
  return drainDelayMs + closeTimeoutMs + 3_000
}
