// node examples/embedding/several.js
// Two front controllers in one process. Each has its own base path, and they share nothing.
import { createServer } from 'node:http'
import { createRequestListener, FrontController } from 'portico'

/** @param {string} basePath @param {string} name */
const site = (basePath, name) => {
  /** @type {Record<string, import('portico').Action>} */
  const index = {
    index: (_request, response) => response.text(`This is ${name}`),
  }
  return createRequestListener(
    new FrontController({
      basePath,
      controllers: new Map([['index', index]]),
      logger: console,
    }),
  )
}

const app = site('/app', 'the site')
const admin = site('/admin', 'the back office')

// Match whole segments only: /administration does not belong to the back office.
const server = createServer((message, out) => {
  const isAdmin = /^\/admin(?=[/?]|$)/.test(message.url ?? '')
  return isAdmin ? admin(message, out) : app(message, out)
})
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${Object(server.address()).port}/app`)
})
