import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorPage } from '../../lib/controllers/error-page.ts'
import type { ErrorReport } from '../../lib/reporting/error-report.ts'
import type { ExceptionReport } from '../../lib/reporting/exception-report.ts'

const page = { status: 404, title: 'Not Found', detail: 'No such page', id: 'ID' }
const exception: ExceptionReport = { name: 'Error', message: 'inner', code: 0, previous: null }
const report: ErrorReport = {
  ...exception,
  id: 'ID',
  time: '2024-01-01T00:00:00.000Z',
  type: 'EXCEPTION_OTHER',
  message: 'boom',
  module: 'default',
  controller: 'nwes',
  action: 'list',
  method: 'GET',
  params: {},
  status: 500,
  durationMs: 1,
}
const development = { report, registered: ['news/list', 'news/view'], nearest: undefined }

describe('errorPage()', () => {
  it('is a small complete page that a visitor understands, and has the message of the error', () => {
    const text = errorPage(page)
    assert.match(text, /^<!doctype html><html lang="en"><meta charset="utf-8">/)
    assert.ok(text.includes('<title>Page not found</title>'))
    assert.match(
      text,
      /<h1>Page not found<\/h1><p>There is no page at this address\..*No such page/,
    )
    assert.ok(text.includes('<small>Error 404 &middot; Not Found</small>'))
    assert.match(text, /<\/main><\/html>\n$/)
    assert.ok(Buffer.byteLength(errorPage({ ...page, detail: '&'.repeat(200) })) < 4_096)
  })

  it('says what the id is for, unless there is none', () => {
    const purpose = 'When you report this problem, quote this number:'
    assert.ok(errorPage(page).includes(`<p>${purpose}<br><code>ID</code></p>`))
    assert.doesNotMatch(
      errorPage({ ...page, id: undefined }),
      /quote this number|ID|<code>|undefined/,
    )
  })

  it('has no script and loads nothing, in light and in dark', () => {
    for (const text of [errorPage(page), errorPage(page, development)]) {
      assert.doesNotMatch(
        text,
        /<script|<link|<img|<iframe|<form|url\(|@import|https?:|\bon\w+=|src=/i,
      )
      assert.ok(text.includes('color-scheme:light dark'))
      assert.ok(text.includes('<meta name="viewport"'))
    }
  })

  it('escapes everything that it shows', () => {
    const attack = `</title><script>alert("1")</script>&'`
    const escaped = '&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;'
    const hostile: ExceptionReport = {
      name: attack,
      message: attack,
      code: 0,
      stack: [attack],
      previous: { ...exception, message: attack },
      errors: [{ ...exception, message: attack }],
    }
    const text = errorPage(
      { status: 404, title: attack, detail: attack, id: attack },
      {
        report: {
          ...report,
          ...hostile,
          module: attack,
          controller: attack,
          action: attack,
          method: attack,
          params: { [attack]: attack },
          second: hostile,
        },
        registered: [attack],
        nearest: attack,
      },
    )
    assert.doesNotMatch(text, /<script/)
    assert.equal(text.split(escaped).length - 1, 3 + 10 + 1 + 3 + 1 + 2 + 1)
  })

  it('shows no more than that in production', () => {
    assert.doesNotMatch(errorPage(page), /<h2>|<dl>|<pre>|<ul>/)
  })

  it('shows type, message, stack, causes, names, parameters and registered actions in development', () => {
    const text = errorPage(page, {
      ...development,
      report: {
        ...report,
        name: 'TypeError',
        stack: ['list (file:///news.js:1:2)', 'next (file:///a.js:3:4)'],
        previous: { ...exception, name: 'RangeError', message: 'cause' },
        errors: [{ ...exception, message: 'one of many' }],
        params: { dsh: 'token(34)', page: '2' },
      },
      nearest: 'news/list',
    })
    for (const part of [
      '<h2>EXCEPTION_OTHER</h2><p>TypeError: boom</p>',
      '<pre>list (file:///news.js:1:2)\nnext (file:///a.js:3:4)</pre>',
      '<p>Caused by</p><p>RangeError: cause</p>',
      '<p>Error: one of many</p>',
      '<dt>Asked for</dt><dd>GET default/nwes/list</dd>',
      '<dt>Did you mean</dt><dd>news/list</dd>',
      '<dt>dsh</dt><dd>token(34)</dd><dt>page</dt><dd>2</dd>',
      '<h2>Registered</h2><ul><li>news/list</li><li>news/view</li></ul>',
    ]) {
      assert.ok(text.includes(part), part)
    }
    assert.doesNotMatch(text, /Then, in the error action|undefined|null/)
  })

  it('shows the second exception, and leaves out what is absent', () => {
    const text = errorPage(page, { ...development, report: { ...report, second: exception } })
    assert.ok(text.includes('<h2>Then, in the error action</h2><p>Error: inner</p>'))
    assert.doesNotMatch(text, /Did you mean|Caused by|<pre>|undefined|null/)
  })
})
