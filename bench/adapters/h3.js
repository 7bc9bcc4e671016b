// The workloads with h3. bench/server.js starts this server.

import { createServer } from 'node:http'
import { getQuery, getRouterParam, H3, HTTPResponse, readBody } from 'h3'
import { toNodeHandler } from 'h3/node'
import { listen } from '../listen.js'
import { controllerOf, NOT_FOUND_HEADERS, notFoundPage } from '../page.js'
import { NotFoundError, report } from '../reports.js'
import { controllerNames } from '../workloads.js'

export const packages = ['h3']

export function start({ controllers }) {
  const app = new H3()
  for (const name of controllerNames(controllers)) addController(app, name)
  app.all('/**', notFound)
  return listen(createServer(toNodeHandler(app)))
}

function addController(app, name) {
  app.get(`/${name}/list`, () => ({ ok: true }))
  app.get(`/${name}/view/id/:id`, (event) => {
    const { page, sort, tag } = getQuery(event)
    return { id: getRouterParam(event, 'id'), page, sort, tag }
  })
  app.post(`/${name}/save`, async (event) => {
    const body = await readBody(event)
    return { count: Object.keys(body).length }
  })
  app.get(`/${name}/edit/id/:id`, (event) => ({ id: getRouterParam(event, 'id') }))
  app.post(`/${name}/remove/id/:id`, (event) => ({ id: getRouterParam(event, 'id') }))
}

function notFound(event) {
  const controller = controllerOf(event.url.pathname)
  report(new NotFoundError(controller, getQuery(event)))
  return new HTTPResponse(notFoundPage(controller), { status: 404, headers: NOT_FOUND_HEADERS })
}
