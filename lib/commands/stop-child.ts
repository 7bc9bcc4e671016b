import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { KILL_MESSAGE, STOP_MESSAGE, STOP_SIGNALS } from '../process/child.ts'

const RESEND_MS = 100

/** Returns the exit code of a child process: undefined while it runs, 1 if a signal ended it, negative if it was not created. */
export function exitCodeOf({ exitCode, signalCode }: ChildProcess): number | undefined {
  return exitCode ?? (signalCode === null ? undefined : 1)
}

/**
 * Waits until a child process has ended, or until the system has failed to create it, which emits only `error`. node:cluster also
 * emits `error` if it replies to a worker that has just died.
 */
export async function untilExit(child: ChildProcess): Promise<void> {
  while (exitCodeOf(child) === undefined) await once(child, 'exit').catch(() => {})
}

/**
 * Keeps stdout and stderr non-blocking, which a child process shares. libuv makes them blocking for the child, and Node restores
 * at its exit what it found: a stalled reader of the log would then block all processes.
 */
export function keepUnblocked(child: ChildProcess): void {
  unblockOutput()
  // Called before any listener that logs.
  child.prependOnceListener('exit', unblockOutput)
}

function unblockOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    const { _handle } = stream as { readonly _handle?: { setBlocking?(isBlocking: boolean): void } }
    if (!stream.isTTY) _handle?.setBlocking?.(false)
  }
}

/** Kills a child process. A supervisor kills its workers, and then ends. */
export function killChild(child: ChildProcess, hasWorkers: boolean): void {
  if (!hasWorkers) child.kill('SIGKILL')
  else if (child.connected) child.send(KILL_MESSAGE, () => {})
}

/**
 * Sends the stop message to a child process, and kills the process if it does not end in time.
 *
 * @param hasWorkers Whether the process is a supervisor (default no).
 * @returns Its exit code; 0 if a stop signal ended it: a child that serves ignores these, so this one has served nothing.
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
  await untilExit(child)
  clearInterval(interval)
  clearTimeout(timer)
  return STOP_SIGNALS.some((signal) => signal === child.signalCode) ? 0 : (exitCodeOf(child) ?? 1)
}
