import type { RequestListener } from 'node:http'
import {
  checkedLimits,
  checkOptions,
  FUNCTION,
  type Kind,
  OBJECT,
  UNCHECKED,
} from '../http/check-options.ts'
import { ID_HEADER } from '../http/response-headers.ts'
import { inThisContext, isolated, isolateRequests } from '../http/retention.ts'
import { checkedBefore } from './before.ts'
import { connectionOf } from './connection.ts'
import { Exchange } from './exchange.ts'
import { DEFAULT_HEADER_LIMITS } from './framing.ts'
import type { Handler, ListenerOptions } from './handler.ts'
import { ServerStop } from './server-stop.ts'

const OPTIONS: Readonly<Record<keyof ListenerOptions, Kind>> = {
  headerLimits: OBJECT,
  closing: UNCHECKED,
  onAccess: FUNCTION,
  before: UNCHECKED,
  idHeader: ID_HEADER,
}

/**
 * Creates a listener for `node:http` that responds to every request with a handler.
 *
 * @throws {TypeError | RangeError} If the handler has no `handle`, or an option is unknown or invalid.
 */
export function createRequestListener(
  handler: Handler,
  options: ListenerOptions = {},
): RequestListener {
  if (typeof handler?.handle !== 'function') {
    throw new TypeError('Expected a handler with a function "handle", such as a FrontController')
  }
  checkOptions('options', options, OPTIONS)
  const headerLimits = checkedLimits(DEFAULT_HEADER_LIMITS, options.headerLimits ?? {})
  const stop = ServerStop.of(options.closing)
  const before = checkedBefore(options.before)
  if (before !== undefined) isolateRequests()
  const exchangeOptions = { ...options, headerLimits, stop, before }
  const respond: RequestListener = (message, out) =>
    isolated(() => new Exchange(message, out, handler, exchangeOptions).start())
  return (message, out) => {
    // HTTP/2: its requests share a socket that a program may not pause.
    if ('createPushResponse' in out) out.writeHead(505).end()
    else if (connectionOf(message.socket).isAnonymous) message.socket.destroy()
    else if (!connectionOf(message.socket).ignoreBehindLast(out)) respond(message, out)
    // A response that gets the socket later belongs to a request that the last one has overtaken.
    else if (out.socket === null)
      out.once(
        'socket',
        inThisContext(() => respond(message, out)),
      )
  }
}
