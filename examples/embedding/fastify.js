// node examples/embedding/fastify.js
// Fastify with @fastify/middie: it runs before Fastify parses the body, so both sides can read a form.
import middie from '@fastify/middie'
import fastify from 'fastify'
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

const app = fastify()
await app.register(middie)
app.use('/app', createMiddleware(front, { fallThrough: true }))
app.post('/app/old', async (request) => ({ fastifyHas: request.body }))

const url = await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
console.log(`${url}/app/news/list`)
