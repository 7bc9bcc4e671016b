import { HttpError } from 'portico'

/** @import { HttpRequest, HttpResponse } from 'portico' */

// Kept in memory only: saved articles are lost when the server stops.
const articles = new Map([
  ['1', { id: '1', title: 'Portico opens its doors', body: 'A front controller for node:http.' }],
  [
    '2',
    { id: '2', title: 'Every URL stays', body: 'Moving from Zend Framework 1 breaks no link.' },
  ],
])

/**
 * GET /news/list, /news/list/page/2, /news/list?page=2
 * @param {HttpRequest} request
 * @param {HttpResponse} response
 */
export function list(request, response) {
  const page = Number(request.param('page') ?? 1)
  if (!Number.isInteger(page) || page < 1)
    throw new HttpError(400, 'Expected "page" to be 1 or more')
  const titles = [...articles.values()].map(({ id, title }) => ({ id, title }))
  return response.json({ page, articles: titles.slice((page - 1) * 10, page * 10) })
}

/**
 * GET /news/view/id/1
 * @param {HttpRequest} request
 * @param {HttpResponse} response
 */
export function view(request, response) {
  const article = articles.get(request.param('id') ?? '')
  if (article === undefined) throw new HttpError(404, 'No such article')
  return response.json(article)
}

/**
 * POST /news/save with the form fields title and body
 * @param {HttpRequest} request
 * @param {HttpResponse} response
 */
export function save(request, response) {
  const title = request.form.get('title')
  if (!title) throw new HttpError(400, 'An article needs a title')
  const id = String(articles.size + 1)
  articles.set(id, { id, title, body: request.form.get('body') ?? '' })
  return response.redirect(`/news/view/id/${id}`, 303)
}
save.methods = ['POST']
