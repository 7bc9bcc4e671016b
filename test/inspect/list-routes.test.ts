import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Controllers } from '../../lib/controllers/controller.ts'
import { loadControllers } from '../../lib/controllers/load-controllers.ts'
import { FrontController } from '../../lib/dispatch/front-controller.ts'
import type { FrontControllerOptions } from '../../lib/dispatch/options.ts'
import { listActions, listRoutes } from '../../lib/inspect/list-routes.ts'
import type { RoutePatterns } from '../../lib/routing/route-pattern.ts'
import { createFolderInPackage } from '../support/folder.ts'
import { createFront } from '../support/front.ts'
import { repositoryFile } from '../support/repository.ts'

const action = (): undefined => undefined
const restricted = Object.assign((): undefined => undefined, { methods: ['GET'] })

function urls(options: FrontControllerOptions): Record<string, readonly string[]> {
  return Object.fromEntries(
    listActions(new FrontController(options)).map(({ name, urls }) => [name, urls]),
  )
}

function controllers(...names: string[]): Controllers {
  return new Map(names.map((name) => [name, { index: action, list: action }]))
}

describe('listActions()', () => {
  it('lists the URLs of each action, the shortest first', () => {
    assert.deepEqual(urls({ controllers: controllers('index', 'news') }), {
      'index/index': ['/', '/index', '/index/index/...'],
      'index/list': ['/index/list/...'],
      'news/index': ['/news', '/news/index/...'],
      'news/list': ['/news/list/...'],
      'error/error': [],
    })
  })

  it('locates the actions of a controller with hooks', () => {
    const [listed] = listActions(createFront({ news: { init: action, index: action } }))
    assert.equal(listed?.file, fileURLToPath(import.meta.url))
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

  it('leaves out the URLs of named routes, and what they hide', () => {
    const routes = {
      article: { path: '/article/:id', defaults: { controller: 'news', action: 'list' } },
      hidden: { path: '/news/list/*', defaults: { controller: 'news' } },
    }
    assert.deepEqual(urls({ controllers: controllers('news'), routes }), {
      'news/index': ['/news', '/news/index/...'],
      'news/list': ['/default/news/list/...'],
      'error/error': [],
    })
    const all = { all: { path: '/*' } }
    assert.deepEqual(urls({ controllers: controllers('news'), routes: all })['news/list'], [])
  })

  it('marks the action that handles errors', () => {
    const listed = listActions(new FrontController({ controllers: controllers('news') }))
    assert.deepEqual(
      listed.map(({ handlesErrors }) => handlesErrors),
      [false, false, true],
    )
  })

  it('follows the rule of names', () => {
    const found = urls({ controllers: new Map([['INDEX', { index: action }]]), names: 'zf1' })
    assert.deepEqual(found['INDEX/index'], ['/', '/INDEX', '/INDEX/index/...'])
  })

  it('lists the methods, with HEAD and OPTIONS; null for all', () => {
    const news = new Map([['news', { list: action, view: restricted }]])
    const routes = listActions(new FrontController({ controllers: news }))
    assert.deepEqual(
      routes.map(({ methods }) => methods),
      [null, ['GET', 'HEAD', 'OPTIONS'], null],
    )
  })

  it('marks what is built in, and locates everything else', async () => {
    const folder = repositoryFile('examples/controllers')
    const { controllers, modules } = await loadControllers(folder)
    const memory = new Map([...controllers, ['memory', { list: action }]])
    memory.delete('error')
    const routes = listActions(new FrontController({ controllers: memory, modules }))
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
      [
        'memory/list',
        false,
        relative(folder, fileURLToPath(import.meta.url)),
        'const action = () => undefined;',
      ],
      ['error/error', true, null, null],
    ]) {
      assert.deepEqual(
        located.find(([name]) => name === expected[0]),
        expected,
      )
    }
  })

  it('locates the function that get(), withParams() and others wrap', async (t) => {
    const folder = createFolderInPackage(t, {
      'other.js': [
        "export const schema = { '~standard': { version: 1, vendor: 'x', validate: () => ({}) } }",
        'export function imported() {}',
        'export const secured = (action) => (request, response) => action(request, response)',
        '',
      ].join('\n'),
      'site/news.js': [
        "import { defineController, get, methods, post, withParams } from 'portico'",
        "import { imported, schema, secured } from '../other.js'",
        'export const arrow = get(() => {})',
        'export const nested = post(',
        '  withParams(schema, async () => {}),',
        ')',
        'function local() {}',
        "export const plain = methods(['GET', 'POST'], local)",
        'export const elsewhere = get(imported)',
        'export { imported }',
        'export const decorated = get(secured(local))',
        'export const { edit, find } = defineController({',
        '  edit: get(() => {}),',
        '  find() {},',
        '})',
        'export const bound = get(local.bind(undefined))',
        '',
      ].join('\n'),
    })
    const routes = listActions(new FrontController(await loadControllers(join(folder, 'site'))))
    const located = routes.map(({ name, file, line }) => [
      name,
      file && `${relative(folder, file)}:${line}`,
    ])
    assert.deepEqual(Object.fromEntries(located), {
      'news/arrow': 'site/news.js:3',
      'news/nested': 'site/news.js:5',
      'news/plain': 'site/news.js:7',
      'news/elsewhere': 'other.js:2',
      'news/imported': 'other.js:2',
      // The location of the function is the same for all actions that secured() decorates.
      'news/decorated': 'site/news.js:11',
      'news/edit': 'site/news.js:13',
      'news/find': 'site/news.js:14',
      'news/bound': 'site/news.js:7',
      'error/error': null,
    })
  })

  it('lists the names that lead to __call as *, and no hook', () => {
    const account = { init() {}, preDispatch() {}, postDispatch() {}, list() {}, __call() {} }
    const urls = listActions(createFront({ account })).map((route) => route.urls)
    assert.deepEqual(urls, [['/account/list/...'], ['/account', '/account/*/...'], []])
  })
})

describe('listRoutes()', () => {
  it('lists the routes with their kinds, in the order in which they are tried', () => {
    const routes: RoutePatterns = {
      article: { path: '/news/:id', defaults: { controller: 'news', action: 'view' } },
      archive: { regex: '(\\d+)/x', defaults: { module: 'admin' } },
      site: { host: ':site.example', abstract: true, scheme: 'https' },
      page: { under: 'site', path: ':controller/*' },
      item: { under: 'article', separator: '/', regex: 'i-(\\d+)' },
      api: { rest: { default: ['news'], admin: ['index'] } },
      all: { rest: true },
      host: { host: 'www.example' },
    }
    const front = new FrontController({
      controllers: controllers('news'),
      modules: { admin: { index: { index: action } } },
      basePath: '/app',
      routes,
    })
    assert.deepEqual(
      listRoutes(front).map(({ name, kinds, matches, to }) => [name, `${kinds}`, matches, to]),
      [
        ['host', 'host', '//www.example/app/', 'index/index'],
        ['all', 'rest', '/app/[:module/]:controller', ':module/:controller/:action'],
        ['api', 'rest', '/app/news|admin/index', ':module/:controller/:action'],
        ['item', 'regex,under', '/app/news/:id/i-(\\d+)', 'news/view'],
        ['page', 'path,under', 'https://:site.example/app/:controller/*', ':controller/index'],
        ['site', 'scheme,host,abstract', 'https://:site.example/app/', 'index/index'],
        ['archive', 'regex', '/app/(\\d+)/x', 'admin/index/index'],
        ['article', 'path', '/app/news/:id', 'news/view'],
      ],
    )
  })
})
