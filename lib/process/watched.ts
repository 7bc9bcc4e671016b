import { sendToParent } from './child.ts'

/** Holds the process id of the watcher, in the environment of the program that it runs. */
export const WATCHER_VARIABLE = 'PORTICO_WATCHER'

/** Reports whether a watcher started this process. Checks the parent, because a child inherits the environment. */
export function isWatched(): boolean {
  return process.env[WATCHER_VARIABLE] === String(process.ppid) && process.send !== undefined
}

/** The name in a message that has the port of the program. */
export const PORT_MESSAGE = 'portico:port'

/** Reports to the watcher, if there is one, that this process listens. */
export function reportListening(port: number): void {
  if (isWatched()) sendToParent({ [PORT_MESSAGE]: port })
}
