import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { describe, it } from 'node:test'
import { FormBody } from '../../lib/http/body.ts'
import { HttpRequest, withState } from '../../lib/http/request.ts'
import type { Resolved } from '../../lib/http/request-state.ts'
import type { Route } from '../../lib/http/route.ts'
import { paramNameRule, SentParams, sentParamsOf } from '../../lib/scrubbing/sent-params.ts'

function paramsOf(search: string, form = '', pairs: string | URLSearchParams = ''): SentParams {
  const route = { module: 'default', controller: 'news', action: 'list', pairs }
  const request = new HttpRequest({ target: `/news/list?${search}` })
  return new SentParams(withState(request, { route, form: new FormBody(Buffer.from(form)) }))
}

describe('SentParams', () => {
  it('agrees with the merged view of the request, without the reserved names', () => {
    const table: [search: string, form?: string, pairs?: string | URLSearchParams][] = [
      ['a=1&b=2&a=3', 'b=x&c=%C3%A9+', 'c/d%2Fe/f'],
      ['%61=%ff&=x&&c', '__proto__=1&q=2&module=3', new URLSearchParams('a=%26&toString=1')],
    ]
    for (const [search, form = '', pairs = ''] of table) {
      const params = paramsOf(search, form, pairs)
      const route = { module: '', controller: '', action: '', pairs }
      const request = withState(new HttpRequest({ target: `/?${search}` }), {
        route,
        form: new FormBody(Buffer.from(form)),
      })
      const expected = [...request.params].filter(
        ([name]) => !['q', 'module', 'controller', 'action'].includes(name),
      )
      assert.deepEqual(
        [...params.names].map((name) => [name, params.get(name)?.text]),
        expected,
      )
      for (const [name, value] of expected) {
        assert.deepEqual([params.has(name), params.get(name)?.length], [true, String(value).length])
      }
    }
    assert.equal(paramsOf('').get('nope'), undefined)
  })

  it('decodes a value of 16,384 characters, and the beginning of a longer one', () => {
    const decoded = (sent: string): unknown => paramsOf('', `a=${sent}`).get('a')
    assert.deepEqual(decoded('%41+%42+'.repeat(2_048)), {
      text: 'A B '.repeat(2_048),
      length: 8_192,
    })
    const long = '%41+'.repeat(5_000)
    assert.deepEqual(decoded(long), { text: 'A '.repeat(256), length: 20_000 })
  })

  it('decodes a name of at most 256 characters', () => {
    const names = (text: string): unknown => [...paramsOf('', `${text}=1`).names]
    assert.deepEqual(names('%41+%42+'.repeat(32)), ['A B '.repeat(32)])
    assert.deepEqual(names('%41+%42+'.repeat(33)), ['%41+%42+'.repeat(33)])
  })
})

describe('sentParamsOf()', () => {
  it('reads the parameters of a request once', () => {
    const request = new HttpRequest({ target: '/news/list?a=1' })
    assert.equal(sentParamsOf(request), sentParamsOf(request))
    assert.equal(sentParamsOf(request).get('a')?.text, '1')
    assert.notEqual(sentParamsOf(request), sentParamsOf(withState(request, {})))
  })
})

describe('paramNameRule()', () => {
  it('looks an action up once, unless a forward led to another one', () => {
    const looked: string[] = []
    const resolve = (route: Route): Resolved => {
      looked.push(route.action)
      return { ...route, run: undefined }
    }
    const route = { module: 'default', controller: 'news', action: 'list' }
    const settings = { maxBodyBytes: 1, trusted: new BlockList(), resolve }
    const request = withState(new HttpRequest({ target: '/' }), { route, settings })
    assert.equal(paramNameRule(request)('page'), true)
    assert.deepEqual(looked, ['list'])
    paramNameRule(request.forward({ action: 'view' }))
    assert.deepEqual(looked, ['list', 'view', 'list'])
  })
})
