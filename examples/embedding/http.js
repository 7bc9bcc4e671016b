// node examples/embedding/http.js
// A front controller in your own server, with streams as bodies and access to the message of node:http.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRequestListener, FrontController, incomingMessageOf } from 'portico'

/** @type {Record<string, import('portico').Action>} */
const clock = {
  now(_request, response) {
    response.json({ now: new Date().toISOString() })
  },

  // The body is an async iterable. The signal aborts the sleep when the client disconnects.
  ticks(request, response) {
    response.headers.set('Content-Type', 'text/event-stream')
    response.body = (async function* () {
      for (let tick = 1; tick <= Number(request.param('count') ?? 3); tick++) {
        yield `data: ${tick}\n\n`
        await sleep(10, undefined, { signal: request.signal })
      }
    })()
  },

  // The body is a web stream. It sends the request body back in capital letters.
  shout(request, response) {
    // Without a type, a browser may read the body as HTML.
    response.headers.set('Content-Type', 'text/plain; charset=utf-8')
    response.body = new Response(request.body).body?.pipeThrough(
      new TransformStream({
        transform(chunk, controller) {
          controller.enqueue(new TextDecoder().decode(chunk).toUpperCase())
        },
      }),
    )
  },

  // incomingMessageOf() returns the message of node:http, for data that an HttpRequest does not have.
  wire(request, response) {
    response.json({ httpVersion: incomingMessageOf(request)?.httpVersion })
  },
}

const front = new FrontController({ controllers: new Map([['clock', clock]]), logger: console })
const server = createServer(createRequestListener(front))
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${Object(server.address()).port}/clock/now`)
})
