// The workloads with Polka. bench/server.js starts this server.

import { once } from 'node:events'
import { parse } from 'node:querystring'
import polka from 'polka'
import { controllerOf } from '../page.js'
import { sendJson, sendNotFound } from '../responses.js'
import { controllerNames } from '../workloads.js'

export const packages = ['polka']

export async function start({ controllers }) {
  const app = polka({ onNoMatch })
  for (const name of controllerNames(controllers)) addController(app, name)
  app.listen(0, '127.0.0.1')
  await once(app.server, 'listening')
  return app.server
}

function addController(app, name) {
  app.get(`/${name}/list`, (_, response) => {
    sendJson(response, { ok: true })
  })
  app.get(`/${name}/view/id/:id`, ({ params, query }, response) => {
    sendJson(response, { id: params.id, page: query.page, sort: query.sort, tag: query.tag })
  })
  app.post(`/${name}/save`, parseForm, ({ body }, response) => {
    sendJson(response, { count: Object.keys(body).length })
  })
  app.get(`/${name}/edit/id/:id`, ({ params }, response) => {
    sendJson(response, { id: params.id })
  })
  app.post(`/${name}/remove/id/:id`, ({ params }, response) => {
    sendJson(response, { id: params.id })
  })
}

// Polka has no body parser.
function parseForm(request, _, next) {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    request.body = parse(body)
    next()
  })
}

function onNoMatch(request, response) {
  sendNotFound(response, controllerOf(request.path), request.query)
}
