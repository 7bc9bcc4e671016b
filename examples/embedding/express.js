// node examples/embedding/express.js
// In Express 5: Portico takes what it has an action for, Express the rest.
import express from 'express'
import { createMiddleware, FrontController } from 'portico'

/** @type {Record<string, import('portico').Action>} */
const news = {
  list: (request, response) => response.json({ page: request.param('page') ?? '1' }),
  save: (request, response) => response.text(`Saved ${request.form.get('title')}`),
}

// Under one path, named twice: the whole target is routed, and the front controller takes the path off.
const front = new FrontController({ basePath: '/app', controllers: new Map([['news', news]]) })

const app = express()
// Before what parses bodies: a body comes in once.
app.use('/app', createMiddleware(front, { fallThrough: true }))
app.use(express.urlencoded())
app.post('/app/old', (request, response) => void response.send(`Express has ${request.body.title}`))

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${Object(server.address()).port}/app/news/list`)
})
