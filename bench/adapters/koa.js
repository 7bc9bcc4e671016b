// The workloads with Koa. bench/server.js starts this server.

import { createServer } from 'node:http'
import { bodyParser } from '@koa/bodyparser'
import Router from '@koa/router'
import Koa from 'koa'
import { listen } from '../listen.js'
import { controllerOf, NOT_FOUND_HEADERS, notFoundPage } from '../page.js'
import { NotFoundError, report } from '../reports.js'
import { controllerNames } from '../workloads.js'

export const packages = ['koa', '@koa/router', '@koa/bodyparser']

export function start({ controllers }) {
  const router = new Router()
  for (const name of controllerNames(controllers)) addController(router, name)
  const app = new Koa()
  app.use(bodyParser({ enableTypes: ['form'] }))
  app.use(router.routes())
  app.use(notFound)
  return listen(createServer(app.callback()))
}

function addController(router, name) {
  router.get(`/${name}/list`, (ctx) => {
    ctx.body = { ok: true }
  })
  router.get(`/${name}/view/id/:id`, (ctx) => {
    const { page, sort, tag } = ctx.query
    ctx.body = { id: ctx.params.id, page, sort, tag }
  })
  router.post(`/${name}/save`, (ctx) => {
    ctx.body = { count: Object.keys(ctx.request.body).length }
  })
  router.get(`/${name}/edit/id/:id`, (ctx) => {
    ctx.body = { id: ctx.params.id }
  })
  router.post(`/${name}/remove/id/:id`, (ctx) => {
    ctx.body = { id: ctx.params.id }
  })
}

function notFound(ctx) {
  const controller = controllerOf(ctx.path)
  report(new NotFoundError(controller, ctx.query))
  ctx.status = 404
  ctx.set(NOT_FOUND_HEADERS)
  ctx.body = notFoundPage(controller)
}
