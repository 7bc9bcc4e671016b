import { createServer } from 'node:http'
import { json, notFound } from '../answers.js'
import { listen } from '../listen.js'
import { controllerOf } from '../page.js'

// The least that a program on `node:http` can do, however many controllers there are.

export const packages = []

export function start() {
  return listen(createServer(answer))
}

function answer(request, response) {
  switch (request.url) {
    case '/news/list':
      return json(response, { ok: true })
    case '/news/save':
      return save(request, response)
    default:
      return withParameters(request, response)
  }
}

function withParameters({ url }, response) {
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  const query = new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1))
  const [, controller, action, , id] = path.split('/')
  if (controller === 'news' && action === 'view') view(id, query, response)
  else notFound(response, controllerOf(path), Object.fromEntries(query))
}

function view(id, query, response) {
  json(response, { id, page: query.get('page'), sort: query.get('sort'), tag: query.get('tag') })
}

function save(request, response) {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => json(response, { count: new URLSearchParams(body).size }))
}
