/** @import { HttpRequest, HttpResponse } from 'portico' */

/**
 * GET /admin/report
 * @param {HttpRequest} _request
 * @param {HttpResponse} response
 */
export function index(_request, response) {
  return response.json({ reports: ['daily'] })
}

/**
 * GET /admin/report/daily/day/2026-11-20
 * @param {HttpRequest} request
 * @param {HttpResponse} response
 */
export async function daily(request, response) {
  const day = request.param('day') ?? new Date().toISOString().slice(0, 10)
  return response.json({ day, visits: await countVisits(day) })
}

/** @param {string} day */
async function countVisits(day) {
  return day.length * 4
}

/**
 * A hook: it runs before each action of this controller, and has no URL.
 * @param {HttpRequest} _request
 * @param {HttpResponse} response
 */
export function init(_request, response) {
  response.headers.set('Cache-Control', 'private')
}
