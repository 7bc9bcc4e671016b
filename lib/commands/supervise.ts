import cluster from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import { onStopMessage, stopTimeoutMs } from '../process/child.ts'
import type { CommandLine } from '../process/command-line.ts'
import { logStart, rejectInheritedSocket } from '../process/listen.ts'
import { loadHealth } from '../process/load-health.ts'
import { createLog, EXIT_FAILURE } from '../process/output.ts'
import { type Config, settings } from '../process/settings.ts'
import { onStopSignal } from '../process/signals.ts'
import { logWarnings } from '../process/warnings.ts'
import { isWatched } from '../process/watched.ts'
import { answerTurn } from '../process/worker.ts'
import { Supervisor } from './supervisor.ts'
import { forwardImports } from './watcher.ts'
import { WorkerError } from './worker-slot.ts'

const SIGNAL_DELAY_MS = 500

/** Serves with `--workers`: starts the workers, which serve, and keeps them running. */
export async function run({ config, given, warnings }: CommandLine): Promise<number> {
  // The cluster would close the socket when the last worker that uses it ends.
  rejectInheritedSocket('--workers')
  // A worker may start much later: it must not read other settings in the file of --env-file. With `node --env-file`, Node reads the
  // file in each worker.
  cluster.setupPrimary({
    args: Object.entries(settings)
      .filter(([name]) => given.has(name))
      .map(([name, { flag }]) => `--${flag}=${config[name as keyof Config]}`),
  })
  const log = await createLog(config)
  logWarnings(log)
  for (const warning of warnings) log.warn({ event: 'warning' }, warning)
  const options = { ...config, logger: log, stopTimeoutMs: stopTimeoutMs(config) }
  const supervisor = new Supervisor(options)
  const stopped = new Promise<void>((stop) => {
    if (isWatched()) onStopMessage(stop, () => supervisor.kill())
    else onStopSignal(stop, () => supervisor.kill())
  })
  process.on('SIGHUP', () => supervisor.reload())
  const health = await loadHealth(config)
  await health?.listenForWorkers(() =>
    config.app === undefined ? supervisor.isReady : supervisor.askReady(),
  )
  cluster.on('message', (worker, message) => {
    answerTurn(worker, message)
    forwardImports(message)
  })
  const started = supervisor.start().then(
    (url) => {
      if (url !== undefined) logStart(log, url)
    },
    async (error) => {
      // A signal to all processes may end a worker before this process receives it.
      if (error.exitCode === 0) await delay(SIGNAL_DELAY_MS)
      throw error
    },
  )
  try {
    await Promise.race([started, stopped])
  } catch (error) {
    if (!(error instanceof WorkerError)) throw error
    if (error.exitCode < 1) log.error({ event: 'worker' }, error.message)
    await supervisor.stop()
    return Math.max(error.exitCode, EXIT_FAILURE)
  }
  await stopped
  const exitCode = await supervisor.stop()
  health?.close()
  log.info({ event: 'stop' }, 'Stopped, and all workers too')
  return exitCode
}
