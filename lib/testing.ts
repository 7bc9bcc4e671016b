/** @module portico/testing */

import { createServer, type RequestListener, Server } from 'node:http'
import { Agent } from 'undici'
import type { Handler } from './server/handler.ts'
import { createRequestListener } from './server/request-listener.ts'
import { loopback } from './testing/loopback.ts'

export { type Dispatched, dispatched } from './testing/dispatched.ts'

/** The target of a {@link TestAgent}: a front controller, a request listener, or a server, listening or not. */
export type TestTarget = Handler | RequestListener | Server

/** Options of an undici `Agent`, without those that choose a connection. */
export type TestAgentOptions = Omit<Agent.Options, 'connect' | 'factory'>

/**
 * An undici dispatcher that connects to a target in the same process, without a port.
 *
 * The bytes are HTTP/1.1, and `node:http` parses them. A request to any origin goes to the target. As
 * behind a proxy, the target does not see whether the URL began with `https:`.
 *
 * @example
 * const agent = new TestAgent(front)
 * const response = await fetch('http://any.test/news/list', { dispatcher: agent })
 * await agent.close()
 * @throws {TypeError} If the target is not a {@link TestTarget}.
 */
export class TestAgent extends Agent {
  constructor(target: TestTarget, options: TestAgentOptions = {}) {
    const server = serverOf(target)
    super({
      ...options,
      connect(_, callback) {
        const [client, accepted] = loopback()
        server.emit('connection', accepted)
        // Runs one microtask later: undici ignores a connection that arrives before connect() returns. The cast is
        // safe because LoopbackSocket has every member that undici uses.
        queueMicrotask(() => callback(null, client as never))
      },
    })
  }
}

function serverOf(target: TestTarget): Server {
  if (target instanceof Server) return target
  if (typeof target === 'function') return createServer(target)
  if (typeof target?.handle === 'function') return createServer(createRequestListener(target))
  throw new TypeError('Expected a "target" that is a handler, a listener or a server of node:http')
}
