// The workloads with bare `node:http`: the least code for the same responses, for any number of controllers.
// bench/server.js starts this server.

import { createServer } from 'node:http'
import { listen } from '../listen.js'
import { controllerOf } from '../page.js'
import { sendJson, sendNotFound } from '../responses.js'

export const packages = []

export function start() {
  return listen(createServer(handle))
}

function handle(request, response) {
  switch (request.url) {
    case '/news/list':
      return sendJson(response, { ok: true })
    case '/news/save':
      return save(request, response)
    default:
      return handleWithParameters(request, response)
  }
}

function handleWithParameters({ url }, response) {
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  const query = new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1))
  const [, controller, action, , id] = path.split('/')
  if (controller === 'news' && action === 'view') view(id, query, response)
  else sendNotFound(response, controllerOf(path), Object.fromEntries(query))
}

function view(id, query, response) {
  sendJson(response, {
    id,
    page: query.get('page'),
    sort: query.get('sort'),
    tag: query.get('tag'),
  })
}

function save(request, response) {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => sendJson(response, { count: new URLSearchParams(body).size }))
}
