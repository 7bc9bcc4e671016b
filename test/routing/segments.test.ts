import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UrlParams } from '../../lib/http/route.ts'
import { checkUrls, found, routing } from '../support/routing.ts'

const route = routing()
const start = route('/')

describe('The segments of a built URL', () => {
  it('encode what routing would read as something else', () => {
    checkUrls(start, [
      [{ controller: 'n', q2: 'a/b' }, '/n/index/q2/a%2Fb'],
      [{ controller: 'n', p: 'a+b c' }, '/n/index/p/a%2Bb%20c'],
      [{ controller: 'n', p: '?#%&=\\' }, '/n/index/p/%3F%23%25%26%3D%5C'],
      [{ controller: 'n', 'ä/b': '€' }, '/n/index/%C3%A4%2Fb/%E2%82%AC'],
      [{ controller: 'n', p: '%2e' }, '/n/index/p/%252e'],
      [{ controller: 'n', p: '', z: '1' }, '/n/index/p//z/1'],
      [{ controller: 'n', p: '' }, '/n/index/p//-'],
      [{ controller: 'n', '': '' }, '/n/index///-'],
    ])
  })

  it('hold keys and values unchanged if the caller encoded them', () => {
    const url = start.urlFor({ controller: 'n', p: 'a%20b' }, { encode: false })
    assert.equal(url, '/n/index/p/a%20b')
    for (const value of ['a b', 'a/b', 'a?b', 'a#b', '%', '%ff', '%0a', '..', 'ä']) {
      assert.throws(
        () => start.urlFor({ controller: 'n', p: value }, { encode: false }),
        /TypeError: No URL can hold the value of "p": it is not a valid path segment/,
      )
    }
  })

  it('cannot hold some texts: the error names the key, not the value', () => {
    const rejected: [UrlParams, RegExp][] = [
      [{ controller: 'a/b' }, /the controller "a\/b"/],
      [{ controller: 'a b' }, /the controller "a b"/],
      [{ controller: '' }, /the controller ""$/],
      [{ action: '' }, /the action ""$/],
      [{ action: 'a?b' }, /the action "a\?b"/],
      [{ action: '%' }, /the action "%"/],
      [{ action: '%0a' }, /the action "%0a"/],
      [{ action: '%2E.' }, /the action "%2E."/],
      [{ module: 'shop' }, /There is no module "shop"/],
      [{ p: '..' }, /^No URL can hold the value of "p": clients resolve/],
      [{ p: '.' }, /the value of "p"/],
      [{ '.': 'x' }, /the key "."/],
      [{ p: 'secret\n' }, /^No URL can hold the value of "p": a path has no control characters$/],
      [{ p: '\ud800' }, /^No URL can hold the value of "p": a path has no lone surrogates$/],
    ]
    for (const [params, message] of rejected) {
      assert.throws(() => start.urlFor(params), { name: 'TypeError', message })
    }
  })

  it('hold text from a request in a form that the client can send again', () => {
    for (const target of ['/news/view/./x', '/news/view/x/..', '/./^news', '/x/%2e%2E', '/a/b\\']) {
      const request = route(target)
      assert.deepEqual(found(route(request.urlFor())), found(request), target)
    }
    for (const target of ['/a"', '/<', '/\\evil.example', '/a/`']) {
      assert.throws(() => route(target).urlFor(), /TypeError: No URL can hold the/, target)
    }
  })
})
