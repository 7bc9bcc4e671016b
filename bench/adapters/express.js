// The workloads with Express. bench/server.js starts this server.

import { createServer } from 'node:http'
import express from 'express'
import { listen } from '../listen.js'
import { controllerOf, NOT_FOUND_HEADERS, notFoundPage } from '../page.js'
import { NotFoundError, report } from '../reports.js'
import { controllerNames } from '../workloads.js'

export const packages = ['express']

export function start({ controllers }) {
  const app = express().disable('x-powered-by').disable('etag')
  app.use(express.urlencoded({ extended: false }))
  for (const name of controllerNames(controllers)) app.use(`/${name}`, createController())
  app.use(notFound)
  return listen(createServer(app))
}

function createController() {
  const router = express.Router()
  router.get('/list', (_, response) => {
    response.json({ ok: true })
  })
  router.get('/view/id/:id', ({ params, query }, response) => {
    response.json({ id: params.id, page: query.page, sort: query.sort, tag: query.tag })
  })
  router.post('/save', ({ body }, response) => {
    response.json({ count: Object.keys(body).length })
  })
  router.get('/edit/id/:id', ({ params }, response) => {
    response.json({ id: params.id })
  })
  router.post('/remove/id/:id', ({ params }, response) => {
    response.json({ id: params.id })
  })
  return router
}

function notFound(request, response) {
  const controller = controllerOf(request.path)
  report(new NotFoundError(controller, request.query))
  response.status(404).set(NOT_FOUND_HEADERS).send(notFoundPage(controller))
}
