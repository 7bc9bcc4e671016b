import type { Logger } from '../reporting/logger.ts'
import { safeNames } from '../reporting/request-names.ts'
import type { Access } from '../server/exchange.ts'

/** Logs one line for a request: its method and names, and the outcome; never a value. */
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
