import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UrlParams } from '../../lib/http/route.ts'
import { checkUrls, routing } from '../support/routing.ts'

const route = routing()
const start = route('/')

describe('The target of HttpRequest.urlFor()', () => {
  it('keeps the values of the request, and null removes one', () => {
    const request = route('/admin/report/daily/day/1/tag/a/page/2/tag/b')
    checkUrls(request, [
      [{}, '/admin/report/daily/day/1/tag/a/page/2/tag/b'],
      [{ page: 3 }, '/admin/report/daily/day/1/tag/a/tag/b/page/3'],
      [{ tag: null, page: undefined }, '/admin/report/daily/day/1'],
      [{ tag: [], page: null, day: null }, '/admin/report/daily'],
      [{ module: null }, '/report/daily/day/1/tag/a/page/2/tag/b'],
      [{ action: null, tag: null, page: null, day: null }, '/admin/report'],
    ])
    assert.equal(request.urlFor({ controller: 'news' }, { reset: true }), '/news')
    assert.equal(request.urlFor({}, { reset: true }), '/')
    assert.equal(request.urlFor({}, { name: 'default', reset: true }), '/')
  })

  it('rejects a value that is not a string, a number or a list of those', () => {
    const misuses: [unknown, RegExp][] = [
      [{ controller: 1 }, /the controller of a URL/],
      [{ action: ['a', 'b'] }, /the action of a URL/],
      [{ id: {} }, /Expected "id" to be/],
      [{ id: [[1]] }, /Expected "id" to be/],
      [{ id: true }, /Expected "id" to be/],
    ]
    for (const [params, message] of misuses) {
      assert.throws(() => start.urlFor(params as UrlParams), { name: 'TypeError', message })
    }
  })

  it('reads names of Object.prototype as data', () => {
    const params = JSON.parse('{"__proto__":"1","constructor":"2"}')
    checkUrls(start, [[params, '/index/index/__proto__/1/constructor/2']])
  })

  it('is that of a forwarded request', () => {
    const request = route('/news/list/page/2').forward({ action: 'view', params: { id: '1' } })
    assert.equal(request.urlFor(), '/news/view/page/2/id/1')
  })

  it('keeps nothing of a request that was rejected', () => {
    assert.equal(route('/news/view/a/%00').urlFor({ controller: 'help' }), '/help')
  })
})
