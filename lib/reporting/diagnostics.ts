import { type Channel, channel } from 'node:diagnostics_channel'
import type { ErrorType } from '../http/errors.ts'
import { copied } from '../http/params.ts'
import type { HttpRequest } from '../http/request.ts'
import { safeNames } from './request-names.ts'

/**
 * The channels of `node:diagnostics_channel`. A message contains safe names and no values:
 *
 * | channel                     | message                                                      |
 * |-----------------------------|--------------------------------------------------------------|
 * | `portico:dispatch:start`    | {@link DispatchMessage}                                      |
 * | `portico:dispatch:end`      | the same with the `status`; only if the action did not fail  |
 * | `portico:dispatch:error`    | an {@link ErrorReport}, when the response is ready           |
 * | `portico:error:redispatch`  | {@link DispatchMessage} of the original, with the `type`     |
 */
export const channels: Readonly<Record<'start' | 'end' | 'error' | 'redispatch', Channel>> = {
  start: channel('portico:dispatch:start'),
  end: channel('portico:dispatch:end'),
  error: channel('portico:dispatch:error'),
  redispatch: channel('portico:error:redispatch'),
}

/** The message of a channel about a dispatch. */
export interface DispatchMessage {
  /** The UUID of the request, the same as in its {@link ErrorReport}. */
  readonly id: string
  /** The method, such as `GET`. */
  readonly method: string
  /** The module as requested, such as `default`; a shape, `token(21)`, if it may be secret. */
  readonly module: string
  /** The controller as requested, shown as the module is. */
  readonly controller: string
  /** The action as requested, shown as the module is. */
  readonly action: string
  /** The {@link HttpRequest.route} of the request, such as `news/list`: a label for metrics, a name for spans. */
  readonly route: string | null
  /** The status of the response; only at the end of a dispatch. */
  readonly status: number | undefined
  /** The kind of the error; only at a re-dispatch. */
  readonly type: ErrorType | undefined
}

/** Publishes a request to a channel; before a re-dispatch, the original request. */
export function publish(channel: Channel, request: HttpRequest, status?: number): void {
  // Without a subscriber, no message is created.
  if (!channel.hasSubscribers) return
  const handler = channel === channels.redispatch ? request.errorHandler : undefined
  const subject = handler?.request ?? request
  const { id, method, route } = subject
  channel.publish(copied({ id, method, ...safeNames(subject), route, status, type: handler?.type }))
}
