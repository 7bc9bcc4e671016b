// The workloads with Fastify. bench/server.js starts this server.

import formbody from '@fastify/formbody'
import fastify from 'fastify'
import { controllerOf, NOT_FOUND_HEADERS, notFoundPage } from '../page.js'
import { NotFoundError, report } from '../reports.js'
import { controllerNames } from '../workloads.js'

export const packages = ['fastify', '@fastify/formbody']

export async function start({ controllers }) {
  const app = fastify({ logger: false, exposeHeadRoutes: false })
  app.register(formbody)
  app.register(async (routes) => {
    for (const name of controllerNames(controllers)) addController(routes, name)
  })
  app.setNotFoundHandler(notFound)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

function addController(app, name) {
  app.get(`/${name}/list`, (_, reply) => {
    reply.send({ ok: true })
  })
  app.get(`/${name}/view/id/:id`, ({ params, query }, reply) => {
    reply.send({ id: params.id, page: query.page, sort: query.sort, tag: query.tag })
  })
  app.post(`/${name}/save`, ({ body }, reply) => {
    reply.send({ count: Object.keys(body).length })
  })
  app.get(`/${name}/edit/id/:id`, ({ params }, reply) => {
    reply.send({ id: params.id })
  })
  app.post(`/${name}/remove/id/:id`, ({ params }, reply) => {
    reply.send({ id: params.id })
  })
}

function notFound(request, reply) {
  const controller = controllerOf(request.url)
  report(new NotFoundError(controller, request.query))
  reply.code(404).headers(NOT_FOUND_HEADERS).send(notFoundPage(controller))
}
