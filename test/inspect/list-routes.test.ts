import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Controllers } from '../../lib/controllers/controller.ts'
import type { FrontControllerOptions } from '../../lib/dispatch/options.ts'
import { listRoutes } from '../../lib/inspect/list-routes.ts'
import { siteOf } from '../../lib/inspect/site.ts'

const action = (): undefined => undefined
const restricted = Object.assign((): undefined => undefined, { methods: ['GET'] })

function urls(options: FrontControllerOptions): Record<string, readonly string[]> {
  return Object.fromEntries(listRoutes(siteOf(options)).map(({ name, urls }) => [name, urls]))
}

function controllers(...names: string[]): Controllers {
  return new Map(names.map((name) => [name, { index: action, list: action }]))
}

describe('listRoutes()', () => {
  it('lists the URLs of each action, the shortest first', () => {
    assert.deepEqual(urls({ controllers: controllers('index', 'news') }), {
      'index/index': ['/', '/index', '/index/index/...'],
      'index/list': ['/index/list/...'],
      'news/index': ['/news', '/news/index/...'],
      'news/list': ['/news/list/...'],
      'error/error': [],
    })
  })

  it('knows modules, and what stands in front', () => {
    const modules = new Map([['admin', controllers('index')]])
    assert.deepEqual(urls({ controllers: controllers('news'), modules, basePath: '/app' }), {
      'news/index': ['/app/news', '/app/news/index/...'],
      'news/list': ['/app/news/list/...'],
      'admin/index/index': ['/app/admin', '/app/admin/index', '/app/admin/index/index/...'],
      'admin/index/list': ['/app/admin/index/list/...'],
      'error/error': [],
    })
  })

  it('lists / as the base path alone', () => {
    const { 'index/index': found } = urls({ controllers: controllers('index'), basePath: '/app' })
    assert.equal(found?.[0], '/app')
  })

  it('reaches a controller that has the name of a module by the module default', () => {
    const modules = new Map([['admin', controllers('index')]])
    const found = urls({ controllers: controllers('admin'), modules })
    assert.deepEqual(found['admin/list'], ['/default/admin/list/...'])
  })

  it('follows the rule of names', () => {
    const found = urls({ controllers: new Map([['INDEX', { index: action }]]), names: 'zf1' })
    assert.deepEqual(found['INDEX/index'], ['/', '/INDEX', '/INDEX/index/...'])
  })

  it('tells the methods, HEAD and OPTIONS among them; null for all', () => {
    const news = new Map([['news', { list: action, view: restricted }]])
    const routes = listRoutes(siteOf({ controllers: news }))
    assert.deepEqual(
      routes.map(({ methods }) => methods),
      [null, ['GET', 'HEAD', 'OPTIONS'], null],
    )
  })

  it('tells what is built in, and the file of what is not', () => {
    const routes = listRoutes(siteOf({ controllers: new Map([['news', { list: action }]]) }))
    assert.deepEqual(
      routes.map(({ name, builtIn, file }) => [
        name,
        builtIn,
        file?.endsWith('list-routes.test.js'),
      ]),
      [
        ['news/list', false, true],
        ['error/error', true, undefined],
      ],
    )
  })
})
