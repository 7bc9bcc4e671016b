import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  checkHeader,
  type HeaderValue,
  ResponseHeaders,
  setUnchecked,
} from '../../lib/http/response-headers.ts'

describe('ResponseHeaders', () => {
  it('finds a name in any case, and keeps the case it was last set in', () => {
    const headers = new ResponseHeaders()
      .set('cache-control', 'no-cache')
      .set('Cache-Control', 'no-store')
    assert.equal(headers.get('CACHE-CONTROL'), 'no-store')
    assert.equal(headers.has('cache-CONTROL'), true)
    assert.equal(headers.size, 1)
    assert.deepEqual([...headers], [['Cache-Control', 'no-store']])
  })

  it('returns undefined for a name that is not set', () => {
    const headers = new ResponseHeaders()
    for (const name of ['x', '__proto__', 'constructor', 'toString']) {
      assert.equal(headers.get(name), undefined)
      assert.equal(headers.has(name), false)
      assert.equal(headers.delete(name), false)
    }
    assert.deepEqual([headers.size, ...headers], [0])
  })

  it('treats a prototype name as an ordinary name', () => {
    const headers = new ResponseHeaders().set('__proto__', 'a').set('constructor', 'b')
    assert.deepEqual(
      [...headers],
      [
        ['__proto__', 'a'],
        ['constructor', 'b'],
      ],
    )
  })

  it('deletes a header', () => {
    const headers = new ResponseHeaders().set('A', '1').set('B', '2')
    assert.equal(headers.delete('a'), true)
    assert.deepEqual([headers.has('A'), headers.get('A'), headers.size], [false, undefined, 1])
  })

  it('accepts numbers, and lists as one line for each item', () => {
    const headers = new ResponseHeaders().set('Age', 0).set('Set-Cookie', ['a=1', 'b=2'])
    assert.equal(headers.get('Age'), '0')
    assert.equal(headers.get('Set-Cookie'), 'a=1, b=2')
    assert.deepEqual(
      [...headers],
      [
        ['Age', '0'],
        ['Set-Cookie', ['a=1', 'b=2']],
      ],
    )
  })

  it('copies a list', () => {
    const cookies = ['a=1']
    const headers = new ResponseHeaders().set('Set-Cookie', cookies)
    cookies.push('b=2\r\nX: y')
    assert.equal(headers.get('Set-Cookie'), 'a=1')
  })

  it('checks only the line that it appends', () => {
    const headers = new ResponseHeaders()
    setUnchecked(headers, 'Link', ['</a\0>', '</b\0>'])
    headers.append('Link', '</c>')
    assert.deepEqual([...headers], [['Link', ['</a\0>', '</b\0>', '</c>']]])
    assert.throws(() => headers.append('Link', '</d\0>'), TypeError)
  })

  it('appends to an existing header, and to a missing one', () => {
    const headers = new ResponseHeaders().append('Vary', 'Accept').append('vary', 'Cookie')
    assert.equal(headers.get('Vary'), 'Accept, Cookie')
    assert.equal(headers.set('A', 1).append('A', '2').append('a', '3').get('A'), '1, 2, 3')
    assert.equal(headers.set('A', 'new').get('A'), 'new')
  })

  it('rejects a value that would forge a header', () => {
    const headers = new ResponseHeaders().set('X', 'kept')
    for (const value of [
      'a\r\nSet-Cookie: b',
      'a\nb',
      'a\rb',
      'a\0b',
      'a\x7f',
      '\u0100',
      '\ud800',
    ]) {
      assert.throws(() => headers.set('X', value), TypeError, JSON.stringify(value))
      assert.throws(() => headers.set('X', ['fine', value]), TypeError)
      assert.throws(() => headers.append('X', value), TypeError)
    }
    assert.deepEqual([...headers], [['X', 'kept']])
  })

  it('rejects a value that is not a string, a number or a list of strings', () => {
    const headers = new ResponseHeaders()
    const values = [
      undefined,
      null,
      true,
      {},
      [],
      [undefined],
      ['a', null],
      [['a']],
      [{}],
      Symbol(),
    ]
    for (const value of [...values, 1n, () => 'x', new Date(0), Buffer.from('a')]) {
      assert.throws(() => headers.set('X-Any', value as HeaderValue), {
        name: 'TypeError',
        message: 'Expected the header "X-Any" to be a string, a number or a list of strings',
      })
    }
    assert.throws(() => headers.append('X-Any', undefined as unknown as string), TypeError)
    assert.equal(headers.size, 0)
  })

  it('rejects a Content-Length that is not one whole number', () => {
    const headers = new ResponseHeaders()
    const values = ['', 'x', '0x5', '1e3', '+5', '-5', '5.0', ' 5', '5 ', '5,5', '1'.repeat(16)]
    for (const value of [...values, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, ['5', '5']]) {
      for (const name of ['Content-Length', 'content-length', 'CONTENT-LENGTH']) {
        assert.throws(() => headers.set(name, value), {
          name: 'TypeError',
          message: 'Expected the header "content-length" to be one whole number',
        })
      }
    }
    assert.equal(headers.size, 0)
    for (const value of [0, 5, '5', '1'.repeat(15)]) {
      assert.equal(headers.set('Content-Length', value).get('content-length'), String(value))
    }
    assert.throws(() => headers.append('Content-Length', '5'), TypeError)
  })

  it('rejects a name that is not a token', () => {
    const headers = new ResponseHeaders()
    for (const name of ['', 'a b', 'a:', 'a\r\nb', 'é', 'a\0', '(a)']) {
      assert.throws(() => headers.set(name, 'x'), TypeError, JSON.stringify(name))
      assert.throws(() => headers.append(name, 'x'), TypeError)
    }
    assert.equal(headers.size, 0)
  })

  it('rejects the headers of the framing, which the server sets', () => {
    const headers = new ResponseHeaders()
    for (const name of [
      'Connection',
      'Keep-Alive',
      'TE',
      'Trailer',
      'TRANSFER-encoding',
      'upgrade',
    ]) {
      const message = `The header "${name.toLowerCase()}" can only be set by the server`
      assert.throws(() => headers.set(name, 'x'), { name: 'TypeError', message })
      assert.throws(() => headers.append(name, 'x'), { name: 'TypeError', message })
    }
    assert.equal(headers.size, 0)
  })
})

describe('checkHeader()', () => {
  it('returns the field lines of a valid header', () => {
    assert.deepEqual(checkHeader('X', 'a'), ['a'])
    assert.deepEqual(checkHeader('X', 1.5), ['1.5'])
    assert.deepEqual(checkHeader('X', ['a', '']), ['a', ''])
    assert.throws(() => checkHeader('a b', 'x'), { code: 'ERR_INVALID_HTTP_TOKEN' })
    assert.throws(() => checkHeader('X', 'a\nb'), { code: 'ERR_INVALID_CHAR' })
  })
})
