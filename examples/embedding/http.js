// node examples/embedding/http.js
// A front controller in a server of one's own, and what an action has of the wire.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRequestListener, FrontController, incomingMessageOf } from 'portico'

/** @type {Record<string, import('portico').Action>} */
const clock = {
  now(_request, response) {
    response.json({ now: new Date().toISOString() })
  },

  // An async iterable as the body; the signal ends the wait when the client has gone away.
  ticks(request, response) {
    response.headers.set('Content-Type', 'text/event-stream')
    response.body = (async function* () {
      for (let tick = 1; tick <= Number(request.param('count') ?? 3); tick++) {
        yield `data: ${tick}\n\n`
        await sleep(10, undefined, { signal: request.signal })
      }
    })()
  },

  // A web stream as the body: what came is sent back in capitals.
  shout(request, response) {
    response.body = new Response(request.body).body?.pipeThrough(
      new TransformStream({
        transform(chunk, controller) {
          controller.enqueue(new TextDecoder().decode(chunk).toUpperCase())
        },
      }),
    )
  },

  // The message of node:http, for what a request does not tell itself.
  wire(request, response) {
    response.json({ httpVersion: incomingMessageOf(request)?.httpVersion })
  },
}

const front = new FrontController({ controllers: new Map([['clock', clock]]) })
const server = createServer(createRequestListener(front))
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${Object(server.address()).port}/clock/now`)
})
