// The workloads with Hono. bench/server.js starts this server.

import { once } from 'node:events'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { TrieRouter } from 'hono/router/trie-router'
import { controllerOf, NOT_FOUND_HEADERS, notFoundPage } from '../page.js'
import { NotFoundError, report } from '../reports.js'
import { controllerNames } from '../workloads.js'

// The default router makes one regular expression of all routes. If the expression has too many groups, every request
// gets a 500, so an application with more controllers must choose another router.
const MAX_CONTROLLERS = 5_000

export const packages = ['hono', '@hono/node-server']

export async function start({ controllers }) {
  const app = new Hono(controllers > MAX_CONTROLLERS ? { router: new TrieRouter() } : {})
  for (const name of controllerNames(controllers)) addController(app, name)
  app.notFound(notFound)
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  if (!server.listening) await once(server, 'listening')
  return server
}

function addController(app, name) {
  app.get(`/${name}/list`, (c) => c.json({ ok: true }))
  app.get(`/${name}/view/id/:id`, (c) =>
    c.json({
      id: c.req.param('id'),
      page: c.req.query('page'),
      sort: c.req.query('sort'),
      tag: c.req.query('tag'),
    }),
  )
  app.post(`/${name}/save`, async (c) => {
    const body = await c.req.parseBody()
    return c.json({ count: Object.keys(body).length })
  })
  app.get(`/${name}/edit/id/:id`, (c) => c.json({ id: c.req.param('id') }))
  app.post(`/${name}/remove/id/:id`, (c) => c.json({ id: c.req.param('id') }))
}

function notFound(c) {
  const controller = controllerOf(c.req.path)
  report(new NotFoundError(controller, c.req.query()))
  return c.body(notFoundPage(controller), 404, NOT_FOUND_HEADERS)
}
