import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { FormBody } from '../../lib/http/body.ts'
import { type HttpRequestInit, Message } from '../../lib/http/message.ts'
import { ResponseHeaders } from '../../lib/http/response-headers.ts'

describe('Message', () => {
  it('needs a target', () => {
    for (const init of [undefined, null, {}, { target: 1 }, '/news']) {
      assert.throws(() => new Message(init as HttpRequestInit), {
        name: 'TypeError',
        message: 'A request needs a "target", such as "/news/list"',
      })
    }
  })

  it('defaults to a GET without headers, body or signal', () => {
    const { method, target, headers, query, body, source } = new Message({ target: '/a' })
    assert.deepEqual([method, target, body, source.signal], ['GET', '/a', '', undefined])
    assert.deepEqual([Object.keys(headers), query.size], [[], 0])
  })

  it('returns the values of its source', () => {
    const body = Readable.from([])
    const { signal } = new AbortController()
    const message = new Message({ method: 'PUT', target: '*', body, signal })
    assert.deepEqual([message.method, message.target], ['PUT', '*'])
    assert.equal(message.body, body)
    assert.equal(message.source.signal, signal)
  })

  it('accepts headers as pairs', () => {
    const pairs: [string, string][] = [['Content-Type', 'text/plain']]
    for (const headers of [pairs, new Headers(pairs), new Map(pairs)]) {
      const message = new Message({ target: '/a', headers })
      assert.deepEqual(Object.entries(message.headers), [['content-type', 'text/plain']])
    }
  })

  it('finds headers by their lower-case names, and no inherited properties', () => {
    const { headers } = new Message({
      target: '/',
      headers: {
        'Content-TYPE': 'text/plain',
        'X-List': ['a', 'b'],
        ['__proto__']: 'c',
        none: undefined,
      },
    })
    assert.equal(headers['content-type'], 'text/plain')
    assert.equal(headers['Content-TYPE'], undefined)
    assert.deepEqual(headers['x-list'], ['a', 'b'])
    assert.equal(Object.getOwnPropertyDescriptor(headers, '__proto__')?.value, 'c')
    for (const name of ['constructor', 'toString', 'hasOwnProperty', 'none']) {
      assert.equal(headers[name], undefined)
    }
  })

  it('reads the query string after the first "?"', () => {
    const queries: [string, [string, string][]][] = [
      ['/a', []],
      ['/a?', []],
      [
        '/a?b=1&b=2',
        [
          ['b', '1'],
          ['b', '2'],
        ],
      ],
      ['/a??b=1?c', [['?b', '1?c']]],
      ['//host/a?__proto__=x', [['__proto__', 'x']]],
      ['http://host?q=1', [['q', '1']]],
    ]
    for (const [target, query] of queries) {
      assert.deepEqual([...new Message({ target }).query], query, target)
    }
  })

  it('parses nothing before it is read, and everything once', () => {
    const asked: string[] = []
    const init = {
      target: '/a?b=1',
      get headers() {
        asked.push('headers')
        return { A: '1' }
      },
      get signal() {
        asked.push('signal')
        return undefined
      },
    }
    const message = new Message(init)
    assert.deepEqual(asked, [])
    assert.equal(message.headers, message.headers)
    assert.equal(message.query, message.query)
    assert.deepEqual(asked, ['headers'])
  })
})

describe('Message.hideCookies()', () => {
  it('hides the cookies of a response at once, also thousands of them', (t) => {
    const hide = t.mock.method(Message.prototype, 'hide')
    const message = new Message({ target: '/' })
    const headers = new ResponseHeaders()
    message.hideCookies(headers)
    assert.equal(hide.mock.callCount(), 0)
    message.hideCookies(headers.append('Set-Cookie', 'a=1; Path=/').append('Set-Cookie', 'b=2'))
    assert.deepEqual(message.ending?.secrets, ['[["1","2"]]'])
    assert.equal(hide.mock.callCount(), 1)
    message.hideCookies(new ResponseHeaders().set('Set-Cookie', ['pin=a(b7', 'c=d']))
    assert.deepEqual(message.ending?.secrets?.slice(1), ['[["a(b7","d"]]'])
  })
})

describe('FormBody', () => {
  it('parses its bytes as UTF-8, once', () => {
    const form = new FormBody(Buffer.from('a=%C3%A9+1&é=%2B&?b&__proto__=x&='))
    assert.deepEqual(
      [...form.fields],
      [
        ['a', 'é 1'],
        ['é', '+'],
        ['?b', ''],
        ['__proto__', 'x'],
        ['', ''],
      ],
    )
    assert.equal(form.fields, form.fields)
  })

  it('decodes bad UTF-8 to a text once, and keeps no other text in memory', (t) => {
    const decodingsOf = (sent: string, text: string): number => {
      const bytes = Buffer.from(sent, 'latin1')
      const { mock } = t.mock.method(bytes, 'toString')
      const form = new FormBody(bytes)
      assert.deepEqual([form.text, form.text], [text, text])
      return mock.callCount()
    }
    assert.equal(decodingsOf('a=1&b=\xff', 'a=1&b=\ufffd'), 1)
    assert.equal(decodingsOf('a=1&b=2', 'a=1&b=2'), 2)
  })

  it('keeps a leading "?", and reads bad UTF-8 as replacement characters', () => {
    assert.deepEqual([...new FormBody(Buffer.from('?a=1')).fields], [['?a', '1']])
    assert.deepEqual([...new FormBody(Buffer.from('a=\xff', 'latin1')).fields], [['a', '\ufffd']])
    assert.deepEqual([...new FormBody(Buffer.from('a=%FF')).fields], [['a', '\ufffd']])
  })
})

describe('Message.aborted', () => {
  it('reads the message, or else the signal, or else the body', () => {
    const aborted = AbortSignal.abort()
    const cut = new Readable({ read() {} })
    cut.destroy()
    const table: [Partial<HttpRequestInit>, boolean][] = [
      [{}, false],
      [{ signal: new AbortController().signal }, false],
      [{ signal: aborted }, true],
      [{ aborted: true }, true],
      [{ aborted: false, signal: aborted }, false],
      [{ body: cut }, true],
      [{ body: cut, signal: new AbortController().signal }, true],
      [{ body: cut, aborted: false }, false],
      [{ body: Readable.from(['a=1']) }, false],
      [{ body: 'a=1' }, false],
    ]
    for (const [init, expected] of table)
      assert.equal(new Message({ target: '/', ...init }).aborted, expected)
  })

  it('hides equal values once: the report of a failure and its observers may both hide the cookies of the response', () => {
    const message = new Message({ target: '/' })
    const headers = new ResponseHeaders().append('Set-Cookie', 'sid=k7Qx9ZpLm2vB')
    message.hide('other')
    for (let i = 0; i < 2; i++) message.hideCookies(headers)
    assert.deepEqual(message.ending?.secrets, ['["other"]', '[["k7Qx9ZpLm2vB"]]'])
  })

  it('does not read the signal of a message that says whether it is aborted', () => {
    const init = {
      target: '/',
      aborted: false,
      get signal(): AbortSignal {
        throw new Error('Over a connection, this creates a signal')
      },
    }
    assert.equal(new Message(init).aborted, false)
  })
})
