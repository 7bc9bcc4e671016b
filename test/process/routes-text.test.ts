import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { explain } from '../../lib/inspect/explain.ts'
import { listRoutes } from '../../lib/inspect/list-routes.ts'
import { siteOf } from '../../lib/inspect/site.ts'
import { explanationText, routesText } from '../../lib/process/routes-text.ts'

const save = Object.assign((): undefined => undefined, { methods: ['POST'] })
const site = siteOf({ controllers: new Map([['news', { list: () => undefined, save }]]) })
const style = { color: false, shownFile: () => 'news.js' }

function told(target: string, method = 'GET'): string {
  return explanationText(explain(site, { method, target }), style).replace(/news\.js:\d+/, 'FILE')
}

describe('routesText()', () => {
  it('is a table', () => {
    assert.equal(
      routesText(listRoutes(site), style).replace(/news\.js:\d+/g, 'FILE'),
      [
        'URL             METHODS        ACTION       FILE',
        '/news/list/...  any            news/list    FILE',
        '/news/save/...  POST, OPTIONS  news/save    FILE',
        '(errors)        any            error/error  built in',
        '',
      ].join('\n'),
    )
  })
})

describe('explanationText()', () => {
  it('tells each step, and what would run', () => {
    assert.equal(
      told('/news/list/id/1/rest?id=2&id=3&q=x'),
      [
        'Target      GET /news/list/id/digits(1)/word(4)?id=digits(1)&id=digits(1)&q=word(1)',
        'Path        /news/list/id/digits(1)/word(4)',
        'q           token(20)',
        'Module      default',
        'Controller  news',
        'Action      list',
        'Parameters  id  path   digits(1)',
        '            id  query  digits(1), the last of 2  (hidden: the path has it too)',
        '            q   query  word(1)                   (ignored: a reserved name)',
        'Dropped     word(4) (a last key without a value)',
        '',
        'Runs  news/list  FILE',
        '',
      ].join('\n'),
    )
  })

  it('tells the error, why, and what is nearest', () => {
    assert.match(
      told('/nwes/list'),
      /\nWhy +The module default .*\n +Registered modules: default\nNearest +news\/list\nAnswered by {2}error\/error {2}built in\n\n404 EXCEPTION_NO_CONTROLLER {2}Invalid controller specified \(nwes\)\n$/,
    )
  })

  it('tells what OPTIONS is told, and that a form comes last', () => {
    assert.match(told('/news/save', 'OPTIONS'), /\n204 {2}Allow: POST, OPTIONS\n$/)
    assert.match(told('/news/save', 'POST'), /\nParameters +none\n +and those of a form/)
  })

  it('shows its verdict in colours on a terminal', () => {
    const found = explain(site, { method: 'GET', target: '/no' })
    assert.ok(explanationText(found, { ...style, color: true }).includes('\u001b[31m404 '))
  })
})
