/** @import { HttpRequest, HttpResponse } from 'portico' */

/**
 * GET /news/list
 * @param {HttpRequest} request
 * @param {HttpResponse} response
 */
export function list(request, response) {
  response.json({ answeredBy: 'Portico', page: request.param('page') ?? '1' })
}

/**
 * POST /news/save with the form field title
 * @param {HttpRequest} request
 * @param {HttpResponse} response
 */
export function save(request, response) {
  response.json({ answeredBy: 'Portico', title: request.form.get('title') })
}
save.methods = ['POST']
