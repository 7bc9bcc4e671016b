import { type Channel, channel } from 'node:diagnostics_channel'
import type { ErrorType } from '../http/errors.ts'
import type { HttpRequest } from '../http/request.ts'
import { safeNames } from './request-names.ts'

/**
 * The channels of `node:diagnostics_channel` that tell of requests under way. A message holds names,
 * shown as a report shows them, and no values:
 *
 * | channel                     | message                                                       |
 * |-----------------------------|---------------------------------------------------------------|
 * | `portico:dispatch:start`    | {@link DispatchMessage}                                       |
 * | `portico:dispatch:end`      | the same, and the `status`; only where the action did not fail |
 * | `portico:dispatch:error`    | an {@link ErrorReport}, when the request has been answered    |
 * | `portico:error:redispatch`  | {@link DispatchMessage} of the original, and the `type`       |
 */
export const channels: Readonly<Record<'start' | 'end' | 'error' | 'redispatch', Channel>> = {
  start: channel('portico:dispatch:start'),
  end: channel('portico:dispatch:end'),
  error: channel('portico:dispatch:error'),
  redispatch: channel('portico:error:redispatch'),
}

/** What a channel tells of a dispatch. */
export interface DispatchMessage {
  /** The UUID of the request: the one in its report. */
  readonly id: string
  /** Such as `GET`. */
  readonly method: string
  /** As requested, such as `default`; a name that may be a secret by its shape, as `token(2)`. */
  readonly module: string
  /** As requested, shown as the module is. */
  readonly controller: string
  /** As requested, shown as the module is. */
  readonly action: string
  /** Of the response, at the end of a dispatch. */
  readonly status: number | undefined
  /** Of the error, at a re-dispatch. */
  readonly type: ErrorType | undefined
}

/** Tells a channel of a request; of the original one where it is about to be dispatched again. */
export function publish(channel: Channel, request: HttpRequest, status?: number): void {
  // Nothing is made where nobody listens.
  if (!channel.hasSubscribers) return
  const redispatched = channel === channels.redispatch ? request.errorHandler : undefined
  const told = redispatched?.request ?? request
  const { id, method } = told
  channel.publish({ id, method, ...safeNames(told), status, type: redispatched?.type })
}
