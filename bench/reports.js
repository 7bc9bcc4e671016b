// What an application does with its errors: knows them with their parameters, and counts them by kind.

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

export function report(error) {
  const kind = `${error.name} ${error.controller}`
  counts.set(kind, (counts.get(kind) ?? 0) + 1)
  latest = error
}

/** The logger that Portico is given: it counts what it is told. */
export const logger = {
  info: count('info'),
  warn: count('warn'),
  error: count('error'),
}

/** What was reported: so that nothing of it can be left out. */
export function reported() {
  return { counts: Object.fromEntries(counts), latest: latest?.message }
}

function count(level) {
  return (fields) => {
    counts.set(level, (counts.get(level) ?? 0) + 1)
    latest = fields
  }
}
