import type { IncomingMessage, ServerResponse } from 'node:http'
import { HttpRequest } from '../http/request.ts'
import { createRequestListener, type Handler, type ListenerOptions } from './request-listener.ts'

/** What Express, Polka, Connect and `@fastify/middie` take. */
export type Middleware = (
  message: IncomingMessage & { readonly originalUrl?: string | undefined },
  out: ServerResponse,
  next: (error?: unknown) => void,
) => void

/** What a middleware is told beside the handler. */
export interface MiddlewareOptions extends ListenerOptions {
  /**
   * Whether a request that the handler has no action for goes on to `next()`, its body unread and nothing
   * reported (default: it does not, and the error controller answers it).
   *
   * Known by the target alone: plugins are not asked. A method that an action does not take is a 405.
   */
  readonly fallThrough?: boolean | undefined
}

/**
 * A middleware that answers requests through a handler.
 *
 * It goes by the whole target: where a framework has cut the path it is mounted under from `req.url`, by
 * `req.originalUrl`. So mount it under the base path of the front controller, and before what parses bodies.
 *
 * @example
 * const front = new FrontController({ controllers, basePath: '/app' })
 * app.use('/app', createMiddleware(front, { fallThrough: true }))
 * @throws {TypeError} If the handler can't answer, or if requests are to fall through one that can't tell
 * which ones it serves.
 */
export function createMiddleware(handler: Handler, options: MiddlewareOptions = {}): Middleware {
  const { fallThrough = false, ...listenerOptions } = options
  const listener = createRequestListener(handler, listenerOptions)
  if (fallThrough && typeof handler.serves !== 'function') {
    throw new TypeError('Expected a handler with a function "serves", to fall through it')
  }
  return (message, out, next) => {
    const target = message.originalUrl ?? message.url ?? '/'
    if (fallThrough && handler.serves?.(headOf(message, target)) === false) {
      next()
      return
    }
    message.url = target
    listener(message, out)
  }
}

// Without the body: whoever answers it in the end must find it whole.
function headOf({ method, headers, socket }: IncomingMessage, target: string): HttpRequest {
  return new HttpRequest({ method, target, headers, remoteAddress: socket.remoteAddress })
}
