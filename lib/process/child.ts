import type { ChildProcess } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'

/** The message that stops a child process. A signal could also come from elsewhere, and twice. */
export const STOP_MESSAGE = 'portico:stop'

/** The message that makes a supervisor kill its workers at once. If it were killed itself, a busy worker would stay. */
const KILL_MESSAGE = 'portico:kill'

const RESEND_MS = 100

/** Returns the exit code of a child process: undefined while it runs, 1 if a signal ended it. */
export function exitCodeOf({ exitCode, signalCode }: ChildProcess): number | undefined {
  return exitCode ?? (signalCode === null ? undefined : 1)
}

/** Kills a child process. One with workers kills these, and then ends. */
export function killChild(child: ChildProcess, hasWorkers: boolean): void {
  if (!hasWorkers) child.kill('SIGKILL')
  else if (child.connected) child.send(KILL_MESSAGE, () => {})
}

/**
 * Sends the stop message to a child process, and kills the process if it does not end in time.
 *
 * @param hasWorkers Whether the process is a supervisor (default no).
 * @returns Its exit code.
 */
export async function stopChild(
  child: ChildProcess,
  timeoutMs: number,
  hasWorkers = false,
): Promise<number> {
  const timer = setTimeout(() => killChild(child, hasWorkers), timeoutMs)
  // Sends no signal: the terminal may have sent one, and a second one ends the process at once.
  const send = (): void => void (child.connected && child.send(STOP_MESSAGE, () => {}))
  // Repeats: node:cluster drops a message for a worker whose program has not started yet.
  const interval = setInterval(send, RESEND_MS)
  send()
  if (exitCodeOf(child) === undefined) await once(child, 'exit')
  clearInterval(interval)
  clearTimeout(timer)
  return exitCodeOf(child) ?? 1
}

/**
 * Calls `stop` when the parent process sends the stop message or ends, and ignores signals: a terminal
 * and systemd send them to every process of a group, but a child must stop only when its parent decides.
 *
 * @param kill Called when the parent process kills the workers of this one.
 */
export function onStopMessage(stop: () => void, kill = (): void => {}): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})
  process.on('message', (message) => {
    if (message === STOP_MESSAGE) stop()
    if (message === KILL_MESSAGE) kill()
  })
  // Without this, node:cluster ends a worker at once when the supervisor dies.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true
  process.on('disconnect', stop)
  // The parent may have ended while the controllers were loading.
  if (!process.connected) stop()
}
