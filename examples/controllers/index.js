// node dist/server.js --controllers examples/controllers
//
// A small news site. Run `npm ci && npm run build` first. --port sets the port (default 3000).

/** @import { HttpRequest, HttpResponse } from 'portico' */

/**
 * GET /
 * @param {HttpRequest} request
 * @returns {HttpRequest}
 */
export function index(request) {
  return request.forward({ controller: 'news', action: 'list' })
}

/**
 * GET /index/about
 * @param {HttpRequest} _request
 * @param {HttpResponse} response
 */
export function about(_request, response) {
  return response.text('The news, as an example.\n')
}
