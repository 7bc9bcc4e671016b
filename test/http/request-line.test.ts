import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpRequest } from '../../lib/http/request.ts'
import { authorityOf, splitTarget } from '../../lib/http/request-line.ts'

describe('splitTarget()', () => {
  it('splits only at the first "?"', () => {
    const table = [
      ['/a', '/a', ''],
      ['/a?', '/a', ''],
      ['/a?b=1?c', '/a', 'b=1?c'],
      ['/a??b', '/a', '?b'],
      ['?b', '', 'b'],
      ['/a%3Fb', '/a%3Fb', ''],
      ['', '', ''],
    ] as const
    for (const [target, path, search] of table) {
      assert.deepEqual(splitTarget(target), { path, search })
    }
  })
})

describe('authorityOf()', () => {
  it('returns the host of the absolute form, with its port', () => {
    for (const [target, expected] of [
      ['http://other/news', 'other'],
      ['HTTPS://other:8443?a=@b/c', 'other:8443'],
      ['http://user:pass@word@[::1]:80/', '[::1]:80'],
      ['http:///news', undefined],
      ['/news?a=http://other/', undefined],
      ['//other/news', undefined],
      ['*', undefined],
    ] as const) {
      assert.equal(authorityOf(target), expected, target)
    }
  })

  it('replaces the Host header', () => {
    const init = { target: 'http://other/news', headers: { Host: 'a' } }
    assert.equal(new HttpRequest(init).client.host, 'other')
    assert.equal(new HttpRequest({ ...init, target: '/news' }).client.host, 'a')
  })
})
