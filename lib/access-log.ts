import type { Access } from './exchange.ts'
import type { Logger } from './logger.ts'
import { shownName } from './shape.ts'

/** Writes a line for each request: its method and names, and how it was answered; never a value. */
export function logAccess(logger: Logger, { method, response, bytes, durationMs }: Access): void {
  const { module = '', controller = '', action = '' } = response.request ?? {}
  const names = [module, controller, action].map(shownName)
  logger.info(
    {
      event: 'access',
      method,
      module: names[0],
      controller: names[1],
      action: names[2],
      status: response.status,
      durationMs: Math.round(durationMs * 10) / 10,
      bytes,
    },
    `${response.status} ${method} ${names.join('/')}`,
  )
}
