import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { escapeHtml, html, Markup } from '../../lib/http/html.ts'
import { timeRatio } from '../support/time-ratio.ts'

describe('escapeHtml()', () => {
  it('escapes characters that could end an element or an attribute', () => {
    assert.equal(
      escapeHtml(`<a href="x" id='y'>&amp;`),
      '&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;',
    )
    assert.equal(escapeHtml('plain é 🎉 /`=$&'), 'plain é 🎉 /`=$&amp;')
  })
})

describe('html``', () => {
  it('escapes every value, but not the template', () => {
    const attack = '"><script>alert(1)</script>'
    assert.equal(
      html`<p title="${attack}">&nbsp;${attack}</p>`.toString(),
      '<p title="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;">&nbsp;&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;</p>',
    )
  })

  it('does not escape markup of another template; escapes its text', () => {
    const inner = html`<b>${'<'}</b>`
    assert.equal(html`<p>${inner}</p>`.toString(), '<p><b>&lt;</b></p>')
    assert.equal(html`<p>${inner.toString()}</p>`.toString(), '<p>&lt;b&gt;&amp;lt;&lt;/b&gt;</p>')
  })

  it('joins a nested list, and escapes its texts', () => {
    const items = ['a', '<'].map((text) => html`<li>${text}</li>`)
    assert.equal(
      html`<ul>${[items, '&', []]}</ul>`.toString(),
      '<ul><li>a</li><li>&lt;</li>&amp;</ul>',
    )
  })

  it('takes a time for a nested list that grows with its text, not with the depth times the text', () => {
    const long = 'x'.repeat(500_000)
    const flat = [...Array.from({ length: 1_500 }, () => '<'), long]
    let nested: unknown = long
    for (let depth = 0; depth < 1_500; depth++) nested = ['<', nested]
    const textOf = (list: unknown): string => html`${list}`.toString()
    assert.equal(textOf(nested), textOf(flat))
    const ratio = timeRatio(
      () => textOf(nested),
      () => textOf(flat),
    )
    assert.ok(ratio < 50, `${ratio}`)
  })

  it('converts any value to text', () => {
    const values = [0, Number.NaN, true, '', { toString: () => '<o>' }]
    assert.equal(values.map((value) => html`${value}`).join(), '0,NaN,true,,&lt;o&gt;')
  })

  it('takes no value that has no text: a promise, a function, a plain object; and is no function', () => {
    for (const value of [
      Promise.resolve(),
      () => 'x',
      { a: 1 },
      new Map(),
      [[Promise.resolve()]],
    ]) {
      assert.throws(() => html`${value}`, { name: 'TypeError', message: /^\S+ \S+ has no markup/ })
    }
    assert.throws(() => html`${Promise.resolve()}`, /is an "await" missing\?$/)
    assert.equal(html`${'[object Object]'}`.toString(), '[object Object]')
    const call = html as unknown as (text: string) => unknown
    assert.throws(() => call('<b>'), { name: 'TypeError', message: /without parentheses$/ })
  })

  it('prints nothing for null, undefined and false, also in a list', () => {
    const isNew = false
    assert.equal(html`<p>${null}${undefined}${isNew && html`<b>new</b>`}</p>`.toString(), '<p></p>')
    assert.equal(html`${['a', null, [undefined, false], 'b']}`.toString(), 'ab')
  })

  it('reads escape sequences in the template like any string', () => {
    assert.equal(html`a\n${1}\u0041`.toString(), 'a\n1A')
  })

  it('returns markup', () => {
    assert.ok(html`` instanceof Markup)
    assert.equal(html``.toString(), '')
  })
})
