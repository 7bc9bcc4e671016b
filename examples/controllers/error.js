import { HttpError } from 'portico'

/** @import { HttpRequest, HttpResponse } from 'portico' */

/**
 * Replaces the built-in error page. It shows the message of a 4xx, and the controller of the request.
 * @param {HttpRequest} request
 * @param {HttpResponse} response
 */
export function error(request, response) {
  const handler = request.errorHandler
  if (handler === undefined) throw new TypeError('Expected a request with an error handler')
  const { exception, type, request: original } = handler
  const { status, headers } = exception instanceof HttpError ? exception : new HttpError(500, '')
  response.status = status
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  response.headers.set('Cache-Control', 'no-store')
  response.json({
    type,
    message: status < 500 ? exception.message : 'Something went wrong here',
    controller: original.controller,
  })
}
