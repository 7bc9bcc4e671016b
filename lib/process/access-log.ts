import type { Logger } from '../reporting/logger.ts'
import { safeNames } from '../reporting/request-names.ts'
import type { Access } from '../server/exchange.ts'

/** Logs one line for a request, with its method, its names and the outcome. It never logs a value of a parameter. */
export function logAccess(logger: Logger, { method, response, bytes, durationMs }: Access): void {
  const { module, controller, action } = safeNames(response.request)
  logger.info(
    {
      event: 'access',
      method,
      module,
      controller,
      action,
      status: response.status,
      durationMs: Math.round(durationMs * 10) / 10,
      bytes,
    },
    `${response.status} ${method} ${module}/${controller}/${action}`,
  )
}
