import { createServer, type RequestListener, Server } from 'node:http'
import { Agent } from 'undici'
import { createRequestListener, type Handler } from './server/request-listener.ts'
import { loopback } from './testing/loopback.ts'

export { type Dispatched, dispatched } from './testing/dispatched.ts'

/** What a {@link TestAgent} speaks to: a front controller, a listener, or a server, which need not listen. */
export type TestTarget = Handler | RequestListener | Server

/** The options of an undici `Agent`, but for how it connects. */
export type TestAgentOptions = Omit<Agent.Options, 'connect' | 'factory'>

/**
 * An undici dispatcher whose connections end in the same process, and need no port. The bytes are those
 * of HTTP/1.1, and `node:http` reads them. Every origin leads to the target; of `https:` it is told
 * nothing, as behind a proxy.
 *
 * @example
 * const agent = new TestAgent(front)
 * const response = await fetch('http://any.test/news/list', { dispatcher: agent })
 * await agent.close()
 * @throws {TypeError} If the target is none.
 */
export class TestAgent extends Agent {
  constructor(target: TestTarget, options: TestAgentOptions = {}) {
    const server = serverOf(target)
    super({
      ...options,
      connect(_, callback) {
        const [client, accepted] = loopback()
        server.emit('connection', accepted)
        // Not at once: undici, in the midst of asking for a connection, would not see that it has one. All
        // that it asks of a socket is there.
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
