import cluster, { type Worker } from 'node:cluster'
import { contentOf, sendToParent } from './child.ts'

/** Holds the process id of the supervisor, in the environment of its workers. */
export const SUPERVISOR_VARIABLE = 'PORTICO_SUPERVISOR'

/**
 * Whether a supervisor started this process. A process manager that uses `node:cluster`, such as PM2, does not send the messages of
 * a supervisor.
 */
export const isSupervised: boolean =
  cluster.isWorker && process.env[SUPERVISOR_VARIABLE] === String(process.ppid)

/** The message of a worker that is about to listen. */
export const LISTEN_MESSAGE = 'portico:listen'

/** The message of a worker that asks for a successor. It serves until it gets the stop message. */
export const REPLACE_MESSAGE = 'portico:replace'

/** Reports to the supervisor, if there is one, that this process is about to listen. */
export function reportListen(): void {
  if (isSupervised) sendToParent(LISTEN_MESSAGE)
}

/** The name in a message that has the URL of a worker. The event `listening` also comes from servers of the application. */
export const URL_MESSAGE = 'portico:url'

/** Reports to the supervisor, if there is one, the URL that this process listens on. */
export function reportUrl(url: string): void {
  if (isSupervised) sendToParent({ [URL_MESSAGE]: url })
}

/**
 * Asks the supervisor for a successor of this process. The supervisor sends the stop message when the
 * successor listens, or does not start.
 *
 * @returns false if there is no supervisor.
 */
export function requestSuccessor(): boolean {
  if (!isSupervised || !process.connected) return false
  sendToParent(REPLACE_MESSAGE)
  return true
}

const TURN_MESSAGE = 'portico:turn'

/** Waits, in a worker, until the supervisor has sent the connections that it has accepted before. */
export function untilTurn(): Promise<unknown> {
  return ask(process, TURN_MESSAGE, 2_000)
}

/** Answers a worker that waits for its turn. */
export function answerTurn({ process: child }: Worker, message: unknown): void {
  if (message === TURN_MESSAGE) child.send({ [TURN_MESSAGE]: true }, () => {})
}

// A server that the application has not closed would otherwise keep the worker until its last connection ends.
const LEAVE_TIMEOUT_MS = 200

/** Leaves the cluster, in a worker: connections that it has not accepted yet go to another worker. */
export function leaveCluster(): Promise<void> {
  const { worker } = cluster
  return new Promise((resolve) => {
    if (worker?.isConnected() !== true) return resolve()
    setTimeout(resolve, LEAVE_TIMEOUT_MS)
    worker.once('disconnect', resolve)
    worker.disconnect()
  })
}

const READY_MESSAGE = 'portico:ready'

// Longer than `ready` of a worker may take (2 seconds), and shorter than the health port waits (3 seconds).
const READY_TIMEOUT_MS = 2_500

/** Answers the supervisor, if there is one, when it asks whether this process is ready. */
export function answerReady(isReady: () => Promise<boolean>): void {
  if (!isSupervised) return
  process.on('message', async (message) => {
    if (message === READY_MESSAGE) sendToParent({ [READY_MESSAGE]: await isReady() })
  })
}

/** Asks a worker whether it is ready. Returns false if it does not answer within 2.5 seconds. */
export async function askReady(worker: Worker): Promise<boolean> {
  return (await ask(worker, READY_MESSAGE, READY_TIMEOUT_MS)) === true
}

/**
 * Sends a message to another process, and waits until one comes back that has content under this name.
 *
 * @returns The content; undefined after the timeout, or if the channel closes.
 */
export function ask(
  peer: Worker | NodeJS.Process,
  question: string,
  timeoutMs: number,
): Promise<unknown> {
  return new Promise((resolve) => {
    const settle = (answer?: unknown): void => {
      clearTimeout(timer)
      peer.off('message', onMessage).off('disconnect', onEnd)
      resolve(answer)
    }
    const onEnd = (): void => settle()
    const onMessage = (message: unknown): void => {
      const answer = contentOf(message, question)
      if (answer !== undefined) settle(answer)
    }
    const timer = setTimeout(onEnd, timeoutMs)
    peer.on('message', onMessage).on('disconnect', onEnd)
    peer.send?.(question, undefined, undefined, (error) => error && onEnd())
  })
}
