// Error reports as an application would make them: each error has its parameters, and errors are counted by kind.

const counts = new Map()
let latest

export class NotFoundError extends Error {
  name = 'NotFoundError'

  constructor(controller, params) {
    super(`Invalid controller specified (${controller})`)
    this.controller = controller
    this.params = params
  }
}

export function report(error, params = error.params) {
  const kind = `${error.name} ${error.controller}`
  counts.set(kind, (counts.get(kind) ?? 0) + 1)
  latest = { error, params }
}

/** The logger for Portico. It counts the lines and keeps the last one. */
export const logger = {
  info: count('info'),
  warn: count('warn'),
  error: count('error'),
}

/** Returns the reports. With this export, the compiler cannot remove the reports as unused. */
export function reported() {
  return { counts: Object.fromEntries(counts), latest: latest?.error?.message ?? latest?.message }
}

function count(level) {
  return (fields) => {
    counts.set(level, (counts.get(level) ?? 0) + 1)
    latest = fields
  }
}
