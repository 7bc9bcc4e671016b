import cluster from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import { closeApp, createReadyCheck, startApp } from '../process/app-file.ts'
import { type Application, loadApplication } from '../process/application.ts'
import { onParentEnd, onStopMessage } from '../process/child.ts'
import type { CommandLine } from '../process/command-line.ts'
import type { Health } from '../process/health.ts'
import { listen, logStart } from '../process/listen.ts'
import { loadHealth } from '../process/load-health.ts'
import { createLog, EXIT_FAILURE } from '../process/output.ts'
import { onHangup, onStopSignal } from '../process/signals.ts'
import { logWarnings } from '../process/warnings.ts'
import { isWatched } from '../process/watched.ts'
import {
  answerReady,
  isSupervised,
  leaveCluster,
  reportListen,
  reportUrl,
  requestSuccessor,
  untilTurn,
} from '../process/worker.ts'
import type { Logger } from '../reporting/log.ts'
import { acceptWaiting, closePort } from '../server/drain.ts'
import type { Service } from '../server/serve.ts'

// Minimum time for `close` of an application file: the drain may have used the whole close timeout.
const MIN_CLOSE_MS = 1_000

// Maximum time to accept the connections that wait, in a worker: one of the parts of stopTimeoutMs() beyond the close timeout.
const ACCEPT_MS = 500

// Maximum time to listen once the stop has begun.
const LISTEN_MS = 500

// Within this time, an exception of the last turn is reported.
const REPORT_MS = 10

/** A stop of this process, before or while it serves. */
interface Stop {
  /** Resolves when the stop begins. */
  readonly begun: Promise<void>
  readonly hasBegun: boolean
  /** The reason of a stop that was not requested; the exit code is then 1. */
  reason: string
  begin(): void
}

/** Serves in this process, which is the only process or a worker. */
export async function run(line: CommandLine): Promise<number> {
  const ownLog = await createLog(line.config)
  logWarnings(ownLog)
  // Begins before the controllers load: a signal or the message of the parent process may come while they do.
  const stop = createStop(ownLog)
  const health = await loadHealth(line.config)
  const application = await Promise.race([loadApplication(line, ownLog), stop.begun])
  const running = application && (await start(application, ownLog, health, stop))
  if (running !== undefined) {
    await stop.begun
    return shutDown(running, stop)
  }
  await delay(REPORT_MS)
  if (!isSupervised) ownLog.info({ event: 'stop' }, `Stopped${stop.reason} before it listened`)
  return stop.reason === '' ? 0 : EXIT_FAILURE
}

/** A process that serves. */
interface Running {
  readonly application: Application
  readonly service: Service
  readonly health: Health | undefined
  readonly log: Logger
  readonly report: (error: unknown) => void
}

// Returns undefined if the stop begins before the process listens.
async function start(
  application: Application,
  ownLog: Logger,
  health: Health | undefined,
  stop: Stop,
): Promise<Running | undefined> {
  const { front, app, logger: log = ownLog } = application
  const report = (error: unknown): void => {
    health?.observer.recordError(error)
    front.report(error)
  }
  const crash = (error: unknown): void => {
    // Reports in a later turn: otherwise, an observer that fails for each report would keep this turn from ending.
    setImmediate(report, error)
    // A worker requests a successor in place of stopping by itself.
    if (!stop.hasBegun && requestSuccessor()) return
    stop.reason = ' by an exception outside of any request'
    stop.begin()
  }
  // Begins before the first request may come.
  process.on('uncaughtException', crash).on('unhandledRejection', crash)
  reportListen()
  const { onAccess } = health?.observer ?? {}
  // A stop waits for the port: a client may connect before listen() settles. It never settles if the supervisor of this worker has
  // ended, or if Node throws in a later turn, as Node 26 does without `--allow-net`.
  const service = await Promise.race([
    listen(application, log, onAccess),
    stop.begun.then(() => delay(LISTEN_MS)),
  ])
  if (service === undefined) return undefined
  health?.observer.watch(service)
  // The application may close the service itself, or its server.
  service.closing.addEventListener('abort', stop.begin)
  // Called before any connection is accepted, and not awaited. If it fails, that is an exception outside of any request.
  startApp(app, service)
  const isAppReady = createReadyCheck(app, report)
  const isReady = async (): Promise<boolean> => !stop.hasBegun && isAppReady()
  answerReady(isReady)
  reportUrl(service.url)
  await health?.listen(isReady)
  if (!isSupervised && !stop.hasBegun) attempt(() => logStart(log, service.url), report)
  return { application, service, health, log, report }
}

// Returns the exit code.
async function shutDown(
  { application: { app, config }, service, health, log, report }: Running,
  stop: Stop,
): Promise<number> {
  await delay(config.drainDelayMs)
  if (isSupervised) {
    await acceptWaiting(service.server, ACCEPT_MS, untilTurn)
    // Closes the port before the clients are told to close their connections, because they connect again at once. node:cluster
    // loses the connections that it sends to a worker after the worker has closed its port.
    closePort(service.server)
    // Waits until the supervisor has handled that, and sends nothing more.
    await untilTurn()
  }
  const closeBy = performance.now() + config.closeTimeoutMs
  const { connections, actions } = await service.close()
  await health?.reportLast()
  await closeApp(app, Math.max(MIN_CLOSE_MS, closeBy - performance.now())).catch((error) => {
    stop.reason ||= ' with an error of `close`'
    report(error)
  })
  // Also closes the servers of the application, so it comes after `close`.
  await leaveCluster()
  await delay(REPORT_MS)
  health?.close()
  const { reason } = stop
  if (!isSupervised || connections + actions > 0) {
    const closed = `${connections} connections closed at the deadline, ${actions} actions cut`
    attempt(
      () => log.info({ event: 'stop', connections, actions }, `Stopped${reason}, ${closed}`),
      report,
    )
  }
  return actions > 0 || reason !== '' ? EXIT_FAILURE : 0
}

// A logger of the application that fails must not keep the process from stopping.
function attempt(write: () => void, report: (error: unknown) => void): void {
  try {
    write()
  } catch (error) {
    report(error)
  }
}

// Creates a stop. It begins at a signal; in a worker, and with --watch, at a message of the parent process.
function createStop(log: Logger): Stop {
  let resolve = (): void => {}
  const begun = new Promise<void>((settle) => {
    resolve = settle
  })
  const begin = (): void => {
    stop.hasBegun = true
    resolve()
  }
  const stop = { begun, hasBegun: false, reason: '', begin }
  if (isSupervised || isWatched()) onStopMessage(begin)
  else {
    if (cluster.isWorker) onParentEnd(begin)
    onStopSignal(begin)
    onHangup(log, begin)
  }
  return stop
}
