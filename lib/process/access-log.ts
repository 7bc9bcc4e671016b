import type { BlockList } from 'node:net'
import { stateOf } from '../http/request.ts'
import { proxyIdsOfMessage } from '../http/request-state.ts'
import type { Fields, Logger } from '../reporting/log.ts'
import { safeNames } from '../reporting/request-names.ts'
import type { Access } from '../server/handler.ts'

/**
 * Logs one line for a request: its ids, method, names and outcome. It never logs a value of a parameter.
 *
 * @param trusted The addresses of trusted proxies (default none).
 */
export function logAccess(logger: Logger, access: Access, trusted?: BlockList): void {
  const { method, response, route, bytes, durationMs } = access
  const { status, request } = response
  const message = request && stateOf(request).message
  const fields = {
    event: 'access',
    id: request?.id,
    ...(message && trusted && proxyIdsOfMessage(message, trusted)),
    method,
    ...safeNames(request),
    route,
    ...(message?.isPublicFile && { public: true }),
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    bytes,
  }
  logger.info(fields, [status, method, ...subjectOf(fields)].join(' '))
}

/** Returns a list with the action of a request, or with `public file`; empty for any other request. */
export function subjectOf({ module, controller, action, public: isPublic }: Fields): string[] {
  if (isPublic) return ['public file']
  return controller ? [[module, controller, action].join('/')] : []
}
