import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DevelopmentDetails } from '../../lib/controllers/development-details.ts'
import { developmentPage } from '../../lib/controllers/development-page.ts'
import { detailsWith, exceptionWith, frameWith, page } from '../support/development.ts'

describe('developmentPage()', () => {
  const render = (details: Parameters<typeof detailsWith>[0] = {}): string =>
    developmentPage(page, detailsWith(details))

  it('begins with the message, the class and the kind of the error', () => {
    const text = render({ exception: exceptionWith({ name: 'TypeError', code: 'ERR_X' }) })
    assert.match(text, /^<!doctype html><html lang="en"><meta charset="utf-8">.*<title>boom</)
    assert.match(
      text,
      /<main>\s*<p class="quiet">500 Internal Server Error &middot; GET default\/nwes\/list<\/p>\s*<h1>boom<\/h1>\s*<p><strong>TypeError<\/strong> <small>EXCEPTION_OTHER &middot; code ERR_X/,
    )
    assert.ok(render({ exception: exceptionWith({ message: '' }) }).includes('<h1>Error</h1>'))
    assert.doesNotMatch(render(), /code 0|undefined|null|false/)
  })

  it('shows the line breaks of a message', () => {
    const text = render({
      exception: exceptionWith({ message: 'Expected:\\u000a\\u000a1\\u000a' }),
    })
    assert.ok(text.includes('<h1>Expected:\n\n1</h1>'))
  })

  it('begins with the issues of invalid parameters', () => {
    const issues = [{ path: 'id', message: 'Expected a number' }]
    const text = developmentPage({ ...page, issues }, detailsWith({}))
    assert.ok(text.includes('<h1>Invalid parameters</h1>\n<ul><li>id: Expected a number</li></ul>'))
    const ofBody = developmentPage({ ...page, issues, subject: 'field' }, detailsWith({}))
    assert.ok(ofBody.includes('<h1>Invalid fields</h1>\n<ul>'))
  })

  it('shows the frames of the application first, the first one open, with its code', () => {
    const excerpt = [
      { line: 9, text: 'one {' },
      { line: 10, text: '  two' },
    ]
    const frames = [frameWith({ line: 10, excerpt }), frameWith({ name: 'index', excerpt })]
    const text = render({ exception: exceptionWith({ frames, otherFrames: ['next (loop.js:1)'] }) })
    const code =
      '<pre><code><span><i> 9  </i>one {\n</span><mark><i>10  </i>  two\n</mark></code></pre>'
    const parts = [
      `<details open><summary><strong>view</strong> <code>news.js:10:3</code></summary>${code}`,
      '<details><summary><strong>index</strong>',
      '<details><summary>1 frame of Portico, Node and libraries</summary><pre><code><span>next (loop.js:1)\n',
    ]
    const places = parts.map((part) => text.indexOf(part))
    assert.ok(!places.includes(-1), `${places}`)
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    )
  })

  it('shows a frame without code as one line', () => {
    const text = render({ exception: exceptionWith({ frames: [frameWith({ excerpt: [] })] }) })
    assert.ok(
      text.includes('<div class="frame"><strong>view</strong> <code>news.js:1:3</code></div>'),
    )
  })

  it('shows causes and aggregated errors', () => {
    const previous = exceptionWith({ name: 'RangeError', message: 'the cause' })
    const errors = [exceptionWith({ message: 'one of many' })]
    const text = render({ exception: exceptionWith({ previous, errors }) })
    assert.match(
      text,
      /<h2>Caused by<\/h2><p class="message"><strong>RangeError: the cause<\/strong>/,
    )
    assert.match(
      text,
      /<h2>One of its errors<\/h2><p class="message"><strong>Error: one of many<\/strong>/,
    )
  })

  it('links what a GET can request, and the nearest of it', () => {
    const list = { name: 'news/list', url: '/news/list', methods: null }
    const routes = [
      list,
      { name: 'news/save', url: '/news/save', methods: ['POST', 'OPTIONS'] },
      { name: 'news/old', url: null, methods: null },
    ]
    const text = render({ routes, nearest: list })
    const link = '<a href="/news/list">/news/list</a> <small>news/list</small>'
    assert.ok(text.includes(`<p>Did you mean ${link}?</p>`))
    assert.ok(text.includes(`<ul><li>${link}</li>`))
    assert.ok(text.includes('<li>/news/save <small>news/save POST, OPTIONS</small></li>'))
    assert.ok(text.includes('<li> <small>news/old</small></li></ul>'))
    assert.doesNotMatch(render({ routes }), /Did you mean/)
  })

  it('shows shapes, or the values if there are any', () => {
    const params = { dsh: 'token(34)', page: 'digits(1)' }
    const shapes = render({ report: { params } })
    assert.ok(shapes.includes('<dt>dsh</dt><dd>token(34)</dd><dt>page</dt><dd>digits(1)</dd>'))
    assert.match(shapes, /These are shapes/)
    const values = render({ report: { params }, values: [['dsh', 'S1']] })
    assert.ok(values.includes('<dl><dt>dsh</dt><dd>S1</dd></dl>'))
    assert.doesNotMatch(values, /token\(34\)|These are shapes/)
    assert.match(render(), /<h2>Parameters<\/h2><p class="quiet">none<\/p>/)
  })

  it('shows the hint about a sign-in', () => {
    const text = render({ report: { looksLike: 'callback', hint: 'Register a controller' } })
    assert.ok(text.includes('<p>This looks like a sign-in (callback). Register a controller.</p>'))
  })

  it('has no script and loads nothing, in light and in dark', () => {
    const text = render()
    assert.doesNotMatch(text, /<script|<link|<img|<form|url\(|@import|https?:|\bon\w+=|src=/i)
    assert.ok(text.includes('color-scheme:light dark'))
    assert.ok(text.includes('<meta name="viewport"'))
  })

  it('escapes everything that it shows', () => {
    const attack = `</title><script>alert("1")</script>&'`
    const attackAll = (value: unknown): unknown => {
      if (typeof value === 'string') return attack
      if (Array.isArray(value)) return value.map(attackAll)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value).map(([key, each]) => [key === 'dsh' ? attack : key, attackAll(each)]),
      )
    }
    const frame = frameWith({ excerpt: [{ line: 1, text: 'code' }] })
    const inner = exceptionWith({ frames: [frame], otherFrames: ['next'], code: 'X' })
    const route = { name: 'news/list', url: '/news/list', methods: ['GET'] }
    const details = detailsWith({
      report: { params: { dsh: 'shape' }, looksLike: 'callback', hint: 'hint' },
      exception: { ...inner, previous: inner, errors: [inner] },
      routes: [route],
      nearest: route,
    })
    for (const values of [undefined, [['dsh', 'value']]]) {
      const hostile = attackAll({ ...details, values }) as DevelopmentDetails
      const text = developmentPage({ ...page, title: attack, id: attack }, hostile)
      assert.doesNotMatch(text, /<script|alert\("/)
      assert.ok(text.split('&lt;script&gt;').length > 30)
    }
  })
})
