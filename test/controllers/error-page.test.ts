import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorPage } from '../../lib/controllers/error-page.ts'

const page = { status: 404, title: 'Not Found', detail: 'No such page', id: 'ID' }

describe('errorPage()', () => {
  it('is a small complete page that a visitor understands, and has the message of the error', () => {
    const text = errorPage(page)
    assert.match(text, /^<!doctype html><html lang="en"><meta charset="utf-8">/)
    assert.ok(text.includes('<title>404 Not Found</title>'))
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
    const text = errorPage(page)
    assert.doesNotMatch(
      text,
      /<script|<link|<img|<iframe|<form|url\(|@import|https?:|\bon\w+=|src=/i,
    )
    assert.ok(text.includes('color-scheme:light dark'))
    assert.ok(text.includes('<meta name="viewport"'))
  })

  it('escapes everything that it shows', () => {
    const attack = `</title><script>alert("1")</script>&'`
    const escaped = '&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;'
    const issues = [{ path: attack, message: attack }]
    const text = errorPage({ status: 404, title: attack, detail: attack, id: attack })
    assert.equal(text.split(escaped).length - 1, 4)
    const list = errorPage({ status: 400, title: attack, detail: attack, issues, id: attack })
    assert.equal(list.split(escaped).length - 1, 5)
    assert.doesNotMatch(text + list, /<script/)
  })

  it('shows the issues in place of the detail', () => {
    const issues = [
      { path: 'id', message: 'Expected a number' },
      { path: '', message: 'Too many' },
    ]
    const text = errorPage({ ...page, issues })
    assert.ok(text.includes('<ul><li>id: Expected a number</li><li>Too many</li></ul>'))
    assert.doesNotMatch(text, /No such page/)
  })

  it('shows nothing that only development shows', () => {
    assert.doesNotMatch(errorPage(page), /<h2>|<dl>|<pre>|<details|development/)
  })
})
