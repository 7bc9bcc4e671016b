import { isatty } from 'node:tty'
import type { Logger } from '../reporting/logger.ts'
import { EXIT_FAILURE } from './output.ts'
import { STOP_MESSAGE } from './supervisor.ts'

const STDIN = 0

/** Ignores SIGUSR1: by default, Node opens the inspector on it. */
export function ignoreInspectorSignal(): void {
  process.on('SIGUSR1', () => {})
}

/**
 * Calls `stop` at the first SIGTERM or SIGINT. A second one ends the process at once, with exit code 1.
 *
 * @param onSecond Called before the process ends.
 */
export function onStopSignal(stop: () => void, onSecond = (): void => {}): void {
  let isStopping = false
  const onSignal = (): void => {
    if (isStopping) {
      onSecond()
      process.exit(EXIT_FAILURE)
    }
    isStopping = true
    stop()
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
}

/**
 * Calls `stop` at a SIGHUP if the process runs in a terminal: the terminal was closed. Without a terminal, a
 * SIGHUP is a request to reload. The process then logs that it has no workers to replace.
 */
export function onHangup(logger: Logger, stop: () => void): void {
  process.on('SIGHUP', () => {
    if (isatty(STDIN)) return stop()
    const message = 'SIGHUP replaces workers, and there are none: see --workers'
    logger.warn({ event: 'hangup' }, message)
  })
}

/**
 * Calls `stop` when the parent process sends the stop message or ends, and ignores signals: a terminal and
 * systemd send them to every process of a group, but a child must stop only when its parent decides.
 */
export function onStopMessage(stop: () => void): void {
  process
    .on('SIGTERM', () => {})
    .on('SIGINT', () => {})
    .on('SIGHUP', () => {})
  process.on('message', (message) => {
    if (message === STOP_MESSAGE) stop()
  })
  process.on('disconnect', stop)
  // The parent may have ended while the controllers were loading.
  if (!process.connected) stop()
}

/** Returns a function that calls `stop` the first time only. */
export function once(stop: () => Promise<void>): () => void {
  let isStopping = false
  return () => {
    if (!isStopping) stop()
    isStopping = true
  }
}
