// node examples/embedding/express.js
// Express 5: Portico handles the requests that have an action in Portico, and Express handles the others.
import express from 'express'
import { createMiddleware, FrontController } from 'portico'

/** @type {Record<string, import('portico').Action>} */
const news = {
  list: (request, response) => response.json({ page: request.param('page') ?? '1' }),
  save: (request, response) => response.text(`Saved ${request.form.get('title')}`),
}

// `basePath` must equal the mount path: Portico routes the whole target and removes `basePath` itself.
const front = new FrontController({
  basePath: '/app',
  controllers: new Map([['news', news]]),
  logger: console,
})

const app = express()
// Mount Portico before the body parsers: a body can be read only once.
app.use('/app', createMiddleware(front, { fallThrough: true }))
app.use(express.urlencoded())
// As text: by default, `send` of Express sends HTML.
app.post('/app/old', (request, response) => {
  response.type('text').send(`Express has ${request.body?.title}`)
})

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${Object(server.address()).port}/app/news/list`)
})
