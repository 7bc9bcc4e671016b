import type { IncomingMessage, ServerResponse } from 'node:http'
import { BOOLEAN, checkObject, checkOptions } from '../http/check-options.ts'
import { HttpRequest } from '../http/request.ts'
import { protocolOf } from './connection.ts'
import type { Handler, ListenerOptions } from './handler.ts'
import { createRequestListener } from './request-listener.ts'

/** A middleware as Express, Polka, Connect and `@fastify/middie` accept it. */
export type Middleware = (
  message: IncomingMessage & { readonly originalUrl?: string | undefined },
  out: ServerResponse,
  next: (error?: unknown) => void,
) => void

/** Options of {@link createMiddleware}. */
export interface MiddlewareOptions extends ListenerOptions {
  /**
   * Whether to call `next()` for a request without an action (default: no, the error controller
   * responds). The body of the request then stays unread, and nothing is reported.
   *
   * Only the names in the target decide: no plugin runs before `next()`. A method that an action
   * does not allow gets a 405. A malformed target gets a 400 if it names an action.
   */
  readonly fallThrough?: boolean | undefined
}

/**
 * Creates a middleware that responds to requests with a handler.
 *
 * It uses the whole request target: `req.originalUrl` if a framework has removed the mount path
 * from `req.url`. Mount it under the base path of the front controller, before any body parser.
 *
 * @throws {TypeError} If the handler has no `handle`, or no `serves` with `fallThrough`; if an option is unknown or invalid.
 */
export function createMiddleware(handler: Handler, options: MiddlewareOptions = {}): Middleware {
  checkObject('options', options)
  const { fallThrough = false, ...listenerOptions } = options
  const listener = createRequestListener(handler, listenerOptions)
  checkOptions('options', { fallThrough }, { fallThrough: BOOLEAN })
  if (fallThrough && typeof handler.serves !== 'function') {
    throw new TypeError('Expected a handler with a function "serves" for the option "fallThrough"')
  }
  return (message, out, next) => {
    const target = message.originalUrl ?? message.url ?? '/'
    if (fallThrough && handler.serves?.(bodilessRequest(message, target)) === false) {
      next()
      return
    }
    message.url = target
    listener(message, out)
  }
}

// The request has no body: the middleware that responds must be able to read it.
function bodilessRequest(message: IncomingMessage, target: string): HttpRequest {
  const { method, headers, socket } = message
  const { remoteAddress } = socket
  return new HttpRequest({ method, target, headers, remoteAddress, protocol: protocolOf(socket) })
}
