import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { KILL_MESSAGE, STOP_MESSAGE } from '../process/child.ts'
import type { Config } from '../process/settings.ts'

const RESEND_MS = 100

/** Returns the milliseconds that a child process may take to stop: its drain delay, its close timeout, and 3 more seconds. */
export function stopTimeoutMs({ drainDelayMs, closeTimeoutMs }: Config): number {
  return drainDelayMs + closeTimeoutMs + 3_000
}

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
