import type { Logger } from '../reporting/logger.ts'
import { safeNames } from '../reporting/request-names.ts'
import type { Access } from '../server/handler.ts'

/** Logs one line for a request, with its id, method, its names and the outcome. It never logs a value of a parameter. */
export function logAccess(logger: Logger, { method, response, bytes, durationMs }: Access): void {
  const { status, request } = response
  const names = safeNames(request)
  const roundedMs = Math.round(durationMs * 10) / 10
  const fields = {
    event: 'access',
    id: request?.id,
    method,
    ...names,
    status,
    durationMs: roundedMs,
    bytes,
  }
  logger.info(fields, `${status} ${method} ${names.module}/${names.controller}/${names.action}`)
}
