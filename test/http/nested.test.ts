import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpError } from '../../lib/http/errors.ts'
import { nested } from '../../lib/http/nested.ts'

describe('nested', () => {
  const cases: [search: string, expected: string][] = [
    ['tags[]=a&user[name]=b', '{"tags":["a"],"user":{"name":"b"}}'],
    ['a=1&a=2', '{"a":"2"}'],
    ['a[]=1&a[]=2&a[]=3', '{"a":["1","2","3"]}'],
    ['a[5]=x&a[]=y', '{"a":{"5":"x","6":"y"}}'],
    ['a[0]=x&a[1]=y', '{"a":["x","y"]}'],
    ['a[1]=x&a[0]=y', '{"a":{"0":"y","1":"x"}}'],
    ['a[]=x&a[k]=y', '{"a":{"0":"x","k":"y"}}'],
    ['rows[0][id]=1&rows[1][id]=2', '{"rows":[{"id":"1"},{"id":"2"}]}'],
    ['rows[][id]=1&rows[][id]=2', '{"rows":[{"id":"1"},{"id":"2"}]}'],
    ['a=1&a[b]=2', '{"a":{"b":"2"}}'],
    ['a[b]=2&a=1', '{"a":"1"}'],
    ['a[b]=1&a[b][c]=2', '{"a":{"b":{"c":"2"}}}'],
    ['a[b=1', '{"a[b":"1"}'],
    ['[a]=1&a[b]c=2&]=3', '{"[a]":"1","a[b]c":"2","]":"3"}'],
    ['=1&[]=2', '{"":"1","[]":"2"}'],
    ['a%5Bb%5D=1', '{"a":{"b":"1"}}'],
    ['a[05]=x&a[]=y', '{"a":{"0":"y","05":"x"}}'],
    ['a.b=1&a b=2', '{"a.b":"1","a b":"2"}'],
    ['', '{}'],
  ]
  for (const [search, expected] of cases) {
    it(`reads ${search || 'nothing'}`, () => {
      assert.equal(JSON.stringify(nested(new URLSearchParams(search))), expected)
    })
  }

  it('returns objects without a prototype, where __proto__ is data', () => {
    const read = nested(new URLSearchParams('__proto__[x]=1&a[__proto__]=2&a[constructor]=3'))
    assert.equal(Object.getPrototypeOf(read), null)
    assert.equal(Object.getPrototypeOf(read.a), null)
    assert.deepEqual(Object.keys(read), ['__proto__', 'a'])
    assert.equal(({} as { x?: string }).x, undefined)
  })

  it('rejects more brackets than the maximum with 400', () => {
    const deep = new URLSearchParams(`a${'[b]'.repeat(9)}=1`)
    assert.throws(() => nested(deep), isBadRequest('More than 8 brackets'))
    assert.equal(JSON.stringify(nested(deep, { maxDepth: 9 })).length, 63)
  })

  it('splits no more of a name than the maximum', (t) => {
    const split = t.mock.method(String.prototype, 'split')
    const deep = new Map([[`a${'[]'.repeat(10_000)}`, '1']])
    assert.throws(() => nested(deep), isBadRequest('More than 8 brackets'))
    const lengths = split.mock.calls.map(({ result }) => result?.length ?? 0)
    assert.ok(Math.max(0, ...lengths) <= 16, `${lengths}`)
  })

  it('takes little memory for large indices', () => {
    const names = Array.from({ length: 1_000 }, (_, i) => `a[${i}]${'[1000]'.repeat(7)}`)
    const before = process.memoryUsage().heapUsed
    const read = nested(names.map((name) => [name, '1']))
    const taken = process.memoryUsage().heapUsed - before
    assert.equal(JSON.stringify(read).length, 67007)
    assert.ok(taken < 30_000_000, `${taken} bytes`)
  })

  it('rejects more values than the maximum with 400', () => {
    const many = new URLSearchParams('a[]=1&a[]=2&b=3')
    assert.throws(() => nested(many, { maxValues: 2 }), isBadRequest('More than 2 values'))
    // V8 keeps the text of the last match: it may be a part of the target.
    assert.equal(RegExp.input, '')
  })

  it('rejects an unknown bound, and one that is no whole number', () => {
    assert.throws(() => nested([], { depth: 1 } as object), TypeError)
    assert.throws(() => nested([], { maxDepth: 0 }), RangeError)
  })
})

function isBadRequest(message: string) {
  return (error: unknown): boolean =>
    error instanceof HttpError && error.status === 400 && error.message === message
}
