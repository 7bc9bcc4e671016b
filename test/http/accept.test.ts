import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { negotiate } from '../../lib/http/accept.ts'

const offers = ['application/problem+json', 'application/json', 'text/html', 'text/plain'] as const
const [problem, json, page, text] = offers

describe('negotiate()', () => {
  it('ranks by weight, then specificity, then position, then offers (RFC 9110, section 12.5.1)', () => {
    const table: [string | undefined, string][] = [
      ['text/html', page],
      ['TEXT/Html', page],
      ['text/html; charset=utf-8', page],
      ['text/html;level="1;x"', page],
      ['text/plain', text],
      ['application/json', json],
      ['application/*', problem],
      ['text/*', page],
      ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', page],
      ['text/plain, text/html', text],
      ['text/plain;q=0.5, text/html;q=0.6', page],
      ['text/plain;q=0.5,text/html;q=0.499', text],
      ['text/html ; q=0.1 , */* ; q=0.2', problem],
      ['*/*, text/plain', text],
      ['text/*, text/plain;q=0.9', page],
      ['text/plain;Q=0.001', text],
      ['text/plain;q=1.000, text/html;q=1', text],
      // A weight of 0 excludes a type, even if a wider range accepts it.
      ['text/html;q=0, text/*', text],
      ['application/problem+json;q=0, */*', json],
      ['application/*;q=0, */*;q=0.1', page],
      ['application/*;q=0.0, text/html;q=0.000, */*', text],
    ]
    for (const [accept, expected] of table)
      assert.equal(negotiate(accept, offers), expected, accept)
  })

  it('returns the first offer if the header is missing, malformed, or accepts no offer', () => {
    const table = [
      undefined,
      '',
      ',',
      '*/*',
      '*/*;q=0',
      'image/png',
      'text/html;q=0',
      // Malformed.
      'text',
      'text/',
      '/html',
      '*/html',
      '*',
      'text/html;q=2',
      'text/html;q=-1',
      'text/html;q=0.1234',
      'text/html;q=x',
      'text/html;x',
      'text/html/x',
      'text html',
      'text/html; q =1',
      '\u0000',
      '"text/html"',
    ]
    for (const accept of table) assert.equal(negotiate(accept, offers), problem, accept)
  })

  it('skips malformed ranges', () => {
    assert.equal(negotiate('text, text/html;q=9, text/plain;q=0.1,,', offers), text)
  })

  it('reads at most 64 ranges', () => {
    const ranges = (count: number): string => 'image/png,'.repeat(count)
    assert.equal(negotiate(`${ranges(63)}text/plain`, offers), text)
    assert.equal(negotiate(`${ranges(64)}text/plain`, offers), problem)
  })
})
