import type { Worker } from 'node:cluster'
import type { Logger } from '../reporting/log.ts'
import { stopChild } from './stop-child.ts'

/** Options for the stop of a worker. */
export interface StopOptions {
  readonly logger: Logger
  /** Milliseconds that a worker may take to stop; then it is killed. */
  readonly stopTimeoutMs: number
}

const stopping = new WeakMap<Worker, Promise<number>>()

/**
 * Stops a worker, and logs it if the worker had to be killed: its requests in flight are cut.
 *
 * @returns Its exit code, as that of {@link stopChild}. A second call returns the same promise: the stop of the supervisor also
 * stops a worker that a reload is replacing.
 */
export function stopWorker(worker: Worker, options: StopOptions): Promise<number> {
  const stopped = stopping.get(worker) ?? stopOnce(worker, options)
  stopping.set(worker, stopped)
  return stopped
}

async function stopOnce(
  { process: child }: Worker,
  { logger, stopTimeoutMs }: StopOptions,
): Promise<number> {
  const code = await stopChild(child, stopTimeoutMs)
  const { pid, signalCode: signal } = child
  if (signal === 'SIGKILL') {
    const message = `Worker ${pid} ended (${signal}) while it stopped`
    logger.error({ event: 'worker', pid, signal }, message)
  }
  return code
}
