import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { describe, it } from 'node:test'
import type { Controllers } from '../../lib/controllers/controller.ts'
import { loadControllers } from '../../lib/controllers/load-controllers.ts'
import { FrontController } from '../../lib/dispatch/front-controller.ts'
import type { FrontControllerOptions } from '../../lib/dispatch/options.ts'
import { listRoutes } from '../../lib/inspect/list-routes.ts'
import { repositoryFile } from '../support/repository.ts'

const action = (): undefined => undefined
const restricted = Object.assign((): undefined => undefined, { methods: ['GET'] })

function urls(options: FrontControllerOptions): Record<string, readonly string[]> {
  return Object.fromEntries(
    listRoutes(new FrontController(options)).map(({ name, urls }) => [name, urls]),
  )
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

  it('applies modules and the base path', () => {
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

  it('lists a controller with the name of a module under the module default', () => {
    const modules = new Map([['admin', controllers('index')]])
    const found = urls({ controllers: controllers('admin'), modules })
    assert.deepEqual(found['admin/list'], ['/default/admin/list/...'])
  })

  it('follows the rule of names', () => {
    const found = urls({ controllers: new Map([['INDEX', { index: action }]]), names: 'zf1' })
    assert.deepEqual(found['INDEX/index'], ['/', '/INDEX', '/INDEX/index/...'])
  })

  it('lists the methods, with HEAD and OPTIONS; null for all', () => {
    const news = new Map([['news', { list: action, view: restricted }]])
    const routes = listRoutes(new FrontController({ controllers: news }))
    assert.deepEqual(
      routes.map(({ methods }) => methods),
      [null, ['GET', 'HEAD', 'OPTIONS'], null],
    )
  })

  it('marks what is built in, and locates what was loaded from a file', async () => {
    const folder = repositoryFile('examples/controllers')
    const { controllers, modules } = await loadControllers(folder)
    const memory = new Map([...controllers, ['memory', { list: action }]])
    memory.delete('error')
    const routes = listRoutes(new FrontController({ controllers: memory, modules }))
    const located = routes.map(({ name, builtIn, file, line }) => [
      name,
      builtIn,
      file && relative(folder, file),
      line === null || file === null ? null : readFileSync(file, 'utf8').split('\n')[line - 1],
    ])
    for (const expected of [
      ['news/save', false, 'news.js', 'export function save(request, response) {'],
      [
        'admin/report/daily',
        false,
        'admin/report.js',
        'export async function daily(request, response) {',
      ],
      ['memory/list', false, null, null],
      ['error/error', true, null, null],
    ]) {
      assert.deepEqual(
        located.find(([name]) => name === expected[0]),
        expected,
      )
    }
  })
})
