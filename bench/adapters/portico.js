// The workloads with Portico, behind createServer() as for the frameworks. bench/server.js starts this server.

import { createServer } from 'node:http'
import { createRequestListener, FrontController } from '../../dist/lib/index.js'
import { listen } from '../listen.js'
import { logger } from '../reports.js'
import { controllerNames } from '../workloads.js'

export const packages = ['portico']

export function start(workload) {
  return listen(createServer(createRequestListener(createFront(workload))))
}

export function createFront({ controllers }) {
  const named = controllerNames(controllers).map((name) => [name, createController()])
  return new FrontController({ controllers: new Map(named), logger })
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
