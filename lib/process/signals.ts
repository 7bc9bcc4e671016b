import type { Logger } from '../reporting/log.ts'
import { EXIT_FAILURE } from './output.ts'

const STDIN = 0

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
  // Checks this now, because the terminal is gone when the signal comes. `node:tty` is not imported: most commands do not need it.
  const isTerminal = process.getBuiltinModule('node:tty').isatty(STDIN)
  process.on('SIGHUP', () => {
    if (isTerminal) return stop()
    const message =
      'SIGHUP replaces workers, and this process has none: use --workers without --watch'
    logger.warn({ event: 'hangup' }, message)
  })
}
