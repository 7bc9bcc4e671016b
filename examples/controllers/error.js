/** @import { HttpRequest, HttpResponse } from 'portico' */

/**
 * Takes the place of the built-in error page: nothing of the request but its controller is shown.
 * @param {HttpRequest} request
 * @param {HttpResponse} response
 */
export function error(request, response) {
  const handler = request.errorHandler
  if (handler === undefined) throw new TypeError('The error action was given no error')
  const { exception, type, request: original } = handler
  response.status = 'status' in exception ? Number(exception.status) : 500
  response.headers.set('Cache-Control', 'no-store')
  response.json({
    type,
    message: response.status < 500 ? exception.message : 'Something went wrong here',
    controller: original.controller,
  })
}
