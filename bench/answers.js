import { notFoundPage, PAGE_HEADERS } from './page.js'
import { NotFoundError, report } from './reports.js'

// The least that answers through a response of `node:http`.

export function json(response, value) {
  const text = JSON.stringify(value)
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
}

export function notFound(response, controller, parameters) {
  report(new NotFoundError(controller, parameters))
  const page = notFoundPage(controller)
  response.writeHead(404, { ...PAGE_HEADERS, 'Content-Length': Buffer.byteLength(page) })
  response.end(page)
}
