// Responses of the benchmark, written with `node:http` only: for the adapters whose framework has no response functions.

import { NOT_FOUND_HEADERS, notFoundPage } from './page.js'
import { NotFoundError, report } from './reports.js'

export function sendJson(response, value) {
  const text = JSON.stringify(value)
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
}

export function sendNotFound(response, controller, parameters) {
  report(new NotFoundError(controller, parameters))
  const page = notFoundPage(controller)
  response.writeHead(404, { ...NOT_FOUND_HEADERS, 'Content-Length': Buffer.byteLength(page) })
  response.end(page)
}
