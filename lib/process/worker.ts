import cluster from 'node:cluster'

/** The message of a worker that is about to listen. */
export const LISTEN_MESSAGE = 'portico:listen'

/** The message of a worker that asks for a successor. It serves until it gets the stop message. */
export const REPLACE_MESSAGE = 'portico:replace'

/** Reports to the supervisor, if there is one, that this process is about to listen. */
export function reportListen(): void {
  if (cluster.isWorker) process.send?.(LISTEN_MESSAGE)
}

/**
 * Asks the supervisor for a successor of this process. The supervisor sends the stop message when the
 * successor listens, or does not start.
 *
 * @returns false if there is no supervisor.
 */
export function requestSuccessor(): boolean {
  if (!cluster.isWorker || !process.connected) return false
  // The channel may close in the meantime: the process then stops anyway.
  process.send?.(REPLACE_MESSAGE, undefined, undefined, () => {})
  return true
}

/** Leaves the cluster, in a worker: connections that it has not accepted yet go to another worker. */
export function leaveCluster(): Promise<void> {
  const { worker } = cluster
  return new Promise((resolve) => {
    if (worker?.isConnected() !== true) return resolve()
    worker.once('disconnect', resolve)
    worker.disconnect()
  })
}
