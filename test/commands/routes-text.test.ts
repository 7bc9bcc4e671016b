import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { explanationText, routesText } from '../../lib/commands/routes-text.ts'
import { loadControllers } from '../../lib/controllers/load-controllers.ts'
import { FrontController } from '../../lib/dispatch/front-controller.ts'
import { explain } from '../../lib/inspect/explain.ts'
import { listActions, listRoutes } from '../../lib/inspect/list-routes.ts'
import { createFolder } from '../support/folder.ts'

const folder = createFolder(
  { after },
  {
    'news.mjs': `export function list() {}
export function save() {}
save.methods = ['POST']
`,
  },
)
const front = new FrontController(await loadControllers(folder))
const style = { color: false, formatFile: () => 'news.mjs' }

function explained(target: string, method = 'GET'): string {
  return explanationText(explain(front, { method, target }), style)
}

describe('routesText()', () => {
  it('formats routes as a table', () => {
    assert.equal(
      routesText({ actions: listActions(front), routes: [] }, style),
      [
        'URL             METHODS        ACTION       FILE',
        '/news/list/...  any            news/list    news.mjs:1',
        '/news/save/...  POST, OPTIONS  news/save    news.mjs:2',
        '(errors)        any            error/error  built in',
        '',
      ].join('\n'),
    )
  })

  it('leaves out a line, or a file, that is not known', () => {
    const known = { name: 'a/b', builtIn: false, handlesErrors: false, urls: ['/a'], methods: null }
    const text = (action: { file: string | null; line: null }): string =>
      routesText({ actions: [{ ...known, ...action }], routes: [] }, style)
    assert.match(text({ file: 'x', line: null }), /a\/b {5}news\.mjs\n/)
    assert.match(text({ file: null, line: null }), /a\/b\n/)
  })

  it('names the routes of an action that the default route does not reach', () => {
    const routes = {
      all: { path: '/*', defaults: { controller: 'news' } },
      one: { path: '/one', defaults: { controller: 'news', action: 'list' } },
      two: { path: '/two', defaults: { controller: 'news', action: 'list' } },
    }
    const front = new FrontController({ controllers: { news: { list() {}, save() {} } }, routes })
    const text = routesText({ actions: listActions(front), routes: listRoutes(front) }, style)
    assert.match(text, /\n\(route two, one\) +any +news\/list .*\n\(none\) +any +news\/save /)
  })

  it('lists no URL whose last name a REST route reads as an id', () => {
    const news = { index() {}, get() {}, put() {} }
    const front = new FrontController({
      controllers: { news },
      routes: { api: { rest: true } },
    })
    const text = routesText({ actions: listActions(front), routes: listRoutes(front) }, style)
    assert.deepEqual(
      text
        .split('\n')
        .slice(1, 4)
        .map((line) => line.split(/ {2,}/, 3)[0]),
      ['/news, /news/index/...', '(a route)', '(a route)'],
    )
  })
})

describe('Named routes', () => {
  const named = new FrontController({
    controllers: { news: { view() {} } },
    routes: {
      article: { path: '/news/:id', defaults: { controller: 'news', action: 'view' } },
      account: { host: ':account.example', rest: true },
    },
  })

  it('are a second table', () => {
    const listed = { actions: listActions(named), routes: listRoutes(named) }
    assert.deepEqual(routesText(listed, style).split('\n').slice(-4), [
      'ROUTE    KIND        MATCHES                                   ACTION',
      'account  host, rest  //:account.example/[:module/]:controller  :module/:controller/:action',
      'article  path        /news/:id                                 news/view',
      '',
    ])
  })

  it('are listed in an explanation up to the one that matches', () => {
    const text = explanationText(explain(named, { method: 'GET', target: '/news/5' }), style)
    assert.match(text, /\nTried +account \(host, rest\): the host differs\nRoute +article\nModule/)
  })
})

describe('explanationText()', () => {
  it('shows each step, and the action that would run', () => {
    assert.equal(
      explained('/news/list/id/1/rest?id=2&id=3&q=x'),
      [
        'Target      GET /news/list/id/digits(1)/word(4)?id=digits(1)&id=digits(1)&q=word(1)',
        'Path        /news/list/id/digits(1)/word(4)',
        'q           token(20)',
        'Module      default',
        'Controller  news',
        'Action      list',
        'Parameters  id  path   digits(1)',
        '            id  query  digits(1), the last of 2  (hidden by the path)',
        '            q   query  word(1)                   (ignored: a reserved name)',
        'Dropped     word(4) (a last key without a value)',
        '',
        'Runs  news/list  news.mjs:1',
        '',
      ].join('\n'),
    )
  })

  it('shows the error, the reasons and the nearest name', () => {
    assert.match(
      explained('/nwes/list'),
      /\nWhy +The module default .*\n +Registered modules: default\nNearest +news\/list\nAnswered by {2}error\/error {2}built in\n\n404 EXCEPTION_NO_CONTROLLER {2}Invalid controller specified \(nwes\)\n$/,
    )
  })

  it('shows Allow for OPTIONS, and that the fields of a form count last', () => {
    assert.match(explained('/news/save', 'OPTIONS'), /\n204 {2}Allow: POST, OPTIONS\n$/)
    assert.match(explained('/news/save', 'POST'), /\nParameters +none\n +and the fields of a form/)
  })

  it('shows the outcome in colours on a terminal', () => {
    const found = explain(front, { method: 'GET', target: '/no' })
    assert.ok(explanationText(found, { ...style, color: true }).includes('\u001b[31m404 '))
  })
})
