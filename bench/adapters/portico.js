// The workloads with Portico, behind createServer() as for the frameworks. bench/server.js starts this server.

import { createServer } from 'node:http'
import { createRequestListener, FrontController } from '../../dist/lib/index.js'
import { listen } from '../listen.js'
import { NOT_FOUND_HEADERS, notFoundPage } from '../page.js'
import { logger, report } from '../reports.js'
import { controllerNames } from '../workloads.js'

export const packages = ['portico']

export function start(workload) {
  return listen(createServer(createRequestListener(createFront(workload))))
}

/** Returns the front controller for a workload. */
export function createFront({ controllers, readsParameters }, options = {}) {
  const named = controllerNames(controllers).map((name) => [name, createController()])
  if (readsParameters) named.push(['error', { error: showError }])
  return new FrontController({ controllers: new Map(named), logger, ...options })
}

// The error action of an application that shows an error as the other servers do, and reads the parameters for its own report.
function showError({ errorHandler: { exception, request } }, response) {
  const { controller } = exception
  report(exception, request.params)
  response.status = 404
  response.html(notFoundPage(controller))
  for (const [name, value] of Object.entries(NOT_FOUND_HEADERS)) response.headers.set(name, value)
}

function createController() {
  return {
    list(_, response) {
      response.json({ ok: true })
    },
    view(request, response) {
      response.json({
        id: request.param('id'),
        page: request.param('page'),
        sort: request.param('sort'),
        tag: request.param('tag'),
      })
    },
    save(request, response) {
      response.json({ count: request.form.size })
    },
    edit(request, response) {
      response.json({ id: request.param('id') })
    },
    remove(request, response) {
      response.json({ id: request.param('id') })
    },
  }
}
