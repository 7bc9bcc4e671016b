import { once } from 'node:events'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { TrieRouter } from 'hono/router/trie-router'
import { controllerOf, notFoundPage, PAGE_HEADERS } from '../page.js'
import { NotFoundError, report } from '../reports.js'
import { controllerNames } from '../workloads.js'

// Its default router makes one regular expression of all routes, and answers 500 to every request
// where that has too many groups: such an application has to name another router.
const MOST_CONTROLLERS = 5_000

export const packages = ['hono', '@hono/node-server']

export async function start({ controllers }) {
  const app = new Hono(controllers > MOST_CONTROLLERS ? { router: new TrieRouter() } : {})
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
  return c.body(notFoundPage(controller), 404, PAGE_HEADERS)
}
