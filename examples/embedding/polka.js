// node examples/embedding/polka.js
// Polka: requests without an action in Portico go to the routes of Polka.
import { createServer } from 'node:http'
import polka from 'polka'
import { createMiddleware, FrontController } from 'portico'

/** @type {Record<string, import('portico').Action>} */
const news = {
  list: (request, response) => response.json({ page: request.param('page') ?? '1' }),
}

const front = new FrontController({
  basePath: '/app',
  controllers: new Map([['news', news]]),
  logger: console,
})
const server = createServer()

polka({ server })
  .use('/app', createMiddleware(front, { fallThrough: true }))
  .get('/app/old', (_request, response) => void response.end('Polka has it'))
  .listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${Object(server.address()).port}/app/news/list`)
  })
