import cluster from 'node:cluster'
import { MAX_TIMER_MS } from '../http/check-options.ts'
import type { Config } from './settings.ts'

/** The message that stops a child process. A signal could also come from elsewhere, and twice. */
export const STOP_MESSAGE = 'portico:stop'

/** The message that makes a supervisor kill its workers at once. If it were killed itself, a busy worker would stay. */
export const KILL_MESSAGE = 'portico:kill'

/** The signals that end a process that does not listen for them. A terminal sends the last two to all processes. */
export const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP']

/** Returns the milliseconds that a child process may take to stop: its drain delay, its close timeout, and 3 more seconds. */
export function stopTimeoutMs({
  drainDelayMs,
  closeTimeoutMs,
}: Pick<Config, 'drainDelayMs' | 'closeTimeoutMs'>): number {
  return Math.min(drainDelayMs + closeTimeoutMs + 3_000, MAX_TIMER_MS)
}

/** Sends a message of a child process to its parent, and waits until it is sent. Ignores a failure: the parent has then ended. */
export function sendToParent(message: unknown): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()))
}

/** Returns what a message has under a name. The application may send messages too, of any kind. */
export function contentOf(message: unknown, name: string): unknown {
  return (message as Readonly<Record<string, unknown>> | null)?.[name]
}

/**
 * Calls `stop` when the parent process sends the stop message or ends, and ignores signals: a terminal
 * and systemd send them to every process of a group, but a child must stop only when its parent decides.
 *
 * @param kill Called when the parent process kills the workers of this one.
 */
export function onStopMessage(stop: () => void, kill = (): void => {}): void {
  for (const signal of STOP_SIGNALS) process.on(signal, () => {})
  process.on('message', (message) => {
    if (message === STOP_MESSAGE) stop()
    if (message === KILL_MESSAGE) kill()
  })
  onParentEnd(stop)
}

/** Calls `stop` when the parent process ends, and lets a worker of `node:cluster` complete its requests then. */
export function onParentEnd(stop: () => void): void {
  // Without the listener, a failed write to the parent would be an exception. Without the property, node:cluster would end the
  // worker at once when the parent dies.
  if (cluster.worker) cluster.worker.on('error', () => {}).exitedAfterDisconnect = true
  process.on('disconnect', stop)
  // The parent may have ended while the controllers were loading.
  if (!process.connected) stop()
}
