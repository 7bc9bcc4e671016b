import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { FormBody } from '../../lib/http/body.ts'
import { readFormBody } from '../../lib/http/form-body.ts'
import type { HttpRequestInit } from '../../lib/http/message.ts'
import type { ErrorHandler } from '../../lib/http/request.ts'
import { HttpRequest, isRequest, stateOf, withState } from '../../lib/http/request.ts'
import type { StatePatch } from '../../lib/http/request-state.ts'
import type { Destination } from '../../lib/http/route.ts'

const odd = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', 'valueOf', '0', '']

const news = {
  path: '/news/view/id/42',
  q: '/news/view/id/42',
  route: { module: 'default', controller: 'news', action: 'view', pairs: 'id/42' },
  settings: { maxBodyBytes: 100, trusted: new BlockList() },
}

function routed(
  findings: StatePatch<ErrorHandler> = {},
  init: Partial<HttpRequestInit> = {},
): HttpRequest {
  return withState(new HttpRequest({ target: '/news/view/id/42', ...init }), {
    ...news,
    ...findings,
  })
}

function withPairs(pairs: string, search = '', form = ''): HttpRequest {
  return routed(
    { route: { ...news.route, pairs }, form: new FormBody(Buffer.from(form)) },
    { target: `/news/view/${pairs}?${search}` },
  )
}

function facts({ path, q, module, controller, action, pairs }: HttpRequest): unknown[] {
  return [path, q, module, controller, action, String(pairs)]
}

async function read(request: HttpRequest): Promise<string> {
  let text = ''
  for await (const chunk of request.body) text += chunk
  return text
}

describe('HttpRequest', () => {
  it('has empty names, a method and no parameters before it is routed', () => {
    const request = new HttpRequest({ target: '/news/list' })
    assert.equal(stateOf(request).route, undefined)
    assert.deepEqual(facts(request), ['', '', '', '', '', ''])
    assert.deepEqual([request.method, request.target], ['GET', '/news/list'])
    assert.deepEqual([request.query.size, request.form.size], [0, 0])
    assert.equal(request.errorHandler, undefined)
  })

  it('has a UUID that all requests derived from it share', () => {
    const request = new HttpRequest({ target: '/' })
    assert.match(request.id, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
    assert.equal(withState(request, news).forward({ action: 'list' }).id, request.id)
    assert.notEqual(new HttpRequest({ target: '/' }).id, request.id)
  })

  it('needs a target', () => {
    assert.throws(() => new HttpRequest({} as HttpRequestInit), TypeError)
  })

  it('is replaced by another request over the same message when its state changes', () => {
    const request = new HttpRequest({ target: '/news/view/id/42?a=1', headers: { A: '1' } })
    const derived = withState(request, news)
    assert.equal(stateOf(request).route, undefined)
    for (const [name, value] of Object.entries(news)) {
      assert.equal(Reflect.get(stateOf(derived), name), value, name)
    }
    assert.equal(derived.query, request.query)
    assert.equal(derived.headers, request.headers)
    assert.deepEqual(facts(derived), [
      ...['/news/view/id/42', '/news/view/id/42', 'default', 'news', 'view'],
      'id=42',
    ])
  })

  it('accepts pairs that a router has parsed', () => {
    const pairs = new URLSearchParams('id=1')
    assert.equal(routed({ route: { ...news.route, pairs } }).pairs, pairs)
    assert.equal(routed({ route: { module: 'm', controller: 'c', action: 'a' } }).pairs.size, 0)
  })

  it('returns the body within the limit, and the bytes of a form again', async () => {
    assert.equal(await read(routed({}, { body: 'text' })), 'text')
    await assert.rejects(
      read(routed({ settings: { maxBodyBytes: 3, trusted: new BlockList() } }, { body: 'text' })),
      { status: 413 },
    )
    const form = routed({ form: new FormBody(Buffer.from('a=1')) }, { body: 'gone' })
    assert.deepEqual([await read(form), await read(form)], ['a=1', 'a=1'])
  })

  it('leaves a form to be read that a plugin has taken as a stream', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const body of ['a=1', Readable.from(['a=', '1'], { objectMode: false })]) {
      const request = routed({}, { method: 'POST', headers, body })
      assert.ok(request.body)
      assert.equal((await readFormBody(request, { maxBodyBytes: 3, maxFields: 1 })).text, 'a=1')
    }
  })

  it('returns one body until it ends, also one past the limit, and one that is being read', async () => {
    const body = Readable.from(['one', 'two'], { objectMode: false })
    const headers = { 'content-length': '101' }
    for (const [request, expected] of [
      [routed({ form: new FormBody(Buffer.from('a=1')) }), 'a=1'],
      [routed({}, { body }), 'onetwo'],
      [routed({}, { headers }), 'The body is larger than 100 bytes'],
    ] as const) {
      // As an application reads a stream by its events.
      const text = await new Promise((resolve) => {
        let received = ''
        request.body.on('data', (chunk) => {
          received += chunk
          request.body.pause()
          setImmediate(() => request.body.resume())
        })
        request.body.on('end', () => resolve(received))
        request.body.on('error', ({ message }) => resolve(message))
      })
      assert.equal(text, expected)
    }
  })
})

describe('HttpRequest.param()', () => {
  it('returns the value of the first source that has the name: pairs, query, form', () => {
    const request = withPairs('a/path', 'a=query&b=query', 'a=form&b=form&c=form')
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((name) => request.param(name)),
      ['path', 'query', 'form', undefined],
    )
  })

  it('returns the last value inside a source; all values can be read from the source', () => {
    const request = withPairs('a/1/a/2', 'b=1&b=2&a=3', 'c=1&c=')
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => request.param(name)),
      ['2', '2', ''],
    )
    assert.deepEqual(request.pairs.getAll('a'), ['1', '2'])
    assert.deepEqual(request.query.getAll('b'), ['1', '2'])
    assert.deepEqual(request.form.getAll('c'), ['1', ''])
  })

  it('prefers an empty value to a later source', () => {
    assert.equal(withPairs('a/', 'a=query').param('a'), '')
    assert.equal(withPairs('', 'a', 'a=form').param('a'), '')
  })

  it('finds nothing inherited', () => {
    for (const name of odd) assert.equal(routed().param(name), undefined)
  })

  it('treats any name as data, whatever its source', () => {
    for (const name of odd) {
      const sources = [`${name}/x`, `${name}=x`, `${name}=x`]
      sources.forEach((_, source) => {
        const [pairs, search, form] = sources.map((text, i) => (i === source ? text : ''))
        assert.equal(withPairs(pairs ?? '', search, form).param(name), 'x', `${name}, ${source}`)
      })
    }
  })

  it('takes reserved names only from the routing', () => {
    const forged = 'module/x/controller/x/action/x/q/x/error_handler/x'
    const search = forged.replace(/([a-z_]+)\/x/g, '$1=x').replaceAll('/', '&')
    for (const request of [withPairs(forged), withPairs('', search), withPairs('', '', search)]) {
      assert.deepEqual(
        [
          request.param('module'),
          request.param('controller'),
          request.param('action'),
          request.param('q'),
          request.param('error_handler'),
        ],
        ['default', 'news', 'view', '/news/view/id/42', undefined],
      )
    }
    assert.equal(withPairs('', search).query.get('error_handler'), 'x')
    assert.equal(withPairs('', '', search).form.get('module'), 'x')
  })

  it('returns error_handler as an object, only on the re-dispatch', () => {
    const errorHandler = {
      exception: new Error('x'),
      type: 'EXCEPTION_OTHER',
      request: routed(),
    } as const
    const request = routed({ errorHandler }, { target: '/?error_handler=x' })
    assert.equal(request.param('error_handler'), errorHandler)
    assert.equal(request.errorHandler, errorHandler)
  })
})

describe('HttpRequest.params', () => {
  it('are the reserved names, then each other name once', () => {
    const request = withPairs('b/1/a/1', 'c=2&a=2&q=x&module=x', 'd=3&c=3&error_handler=x')
    assert.deepEqual(
      [...request.params],
      [
        ['module', 'default'],
        ['controller', 'news'],
        ['action', 'view'],
        ['q', '/news/view/id/42'],
        ['d', '3'],
        ['c', '2'],
        ['a', '1'],
        ['b', '1'],
      ],
    )
  })

  it('include error_handler if there is one', () => {
    const errorHandler = {
      exception: new Error(),
      type: 'EXCEPTION_OTHER',
      request: routed(),
    } as const
    const [, , , , last] = routed({ errorHandler }).params
    assert.deepEqual(last, ['error_handler', errorHandler])
  })

  it('are properties of an object without a prototype, the same each time', () => {
    const request = withPairs('id/1', 'page=2&page=3', 'title=x')
    const { id, page, title, missing, toString: inherited } = request.params
    assert.deepEqual([id, page, title, missing, inherited], ['1', '3', 'x', undefined, undefined])
    assert.equal(Object.getPrototypeOf(request.params), null)
    assert.equal(request.params, request.params)
    assert.deepEqual(Object.keys(request.params).slice(4), ['title', 'page', 'id'])
  })

  it('are listed in the order of their sources, also names that are numbers', () => {
    const request = withPairs('b/1', '4=2', 'c=3')
    assert.deepEqual(
      [...request.params].slice(4).map(([name]) => name),
      ['c', '4', 'b'],
    )
  })

  it('hold prototype names as data', () => {
    const request = withPairs('__proto__/1', 'constructor=2', 'then=3')
    assert.ok(Object.hasOwn(request.params, '__proto__'))
    assert.equal(({} as { then?: string }).then, undefined)
    assert.deepEqual([...request.params].slice(4), [
      ['then', '3'],
      ['constructor', '2'],
      ['__proto__', '1'],
    ])
  })
})

describe('HttpRequest.forward()', () => {
  it('decodes the form once for all requests over a message', (t) => {
    const text = t.mock.getter(FormBody.prototype, 'text')
    const request = routed({ form: new FormBody(Buffer.from(`a=1&b=%ff&c=${'x'.repeat(20_000)}`)) })
    const next = request.forward({ action: 'other', params: { c: '2' } })
    const { params } = withState(next, { errorHandler: {} as ErrorHandler })
    assert.deepEqual(
      [request.params.a, request.form.get('a'), next.param('a'), params.b, params.c],
      ['1', '1', '1', '\ufffd', '2'],
    )
    assert.equal(text.mock.callCount(), 1)
  })

  it('changes the action, and keeps what is not given', () => {
    const next = routed().forward({ action: 'list' })
    assert.deepEqual(facts(next), [
      ...['/news/view/id/42', '/news/view/id/42', 'default', 'news', 'list'],
      'id=42',
    ])
    const { module, controller, action } = routed().forward({
      action: 'index',
      controller: 'report',
      module: 'admin',
    })
    assert.deepEqual([module, controller, action], ['admin', 'report', 'index'])
  })

  it('needs an action', () => {
    const destinations = [undefined, null, 'list', {}, { controller: 'news' }, { action: 1 }]
    for (const destination of destinations) {
      assert.throws(() => routed().forward(destination as unknown as Destination), {
        name: 'TypeError',
        message: 'A forward needs an "action"',
      })
    }
  })

  it('uses the default module and the controller index before routing', () => {
    const next = new HttpRequest({ target: '/x' }).forward({ action: 'list' })
    assert.deepEqual(facts(next), ['', '', 'default', 'index', 'list', ''])
  })

  it('sets its parameters over the pairs of the path', () => {
    const request = withPairs('id/1/id/2/tag/a', 'page=1', 'page=1')
    const next = request.forward({ action: 'list', params: { id: '3', page: '2' } })
    assert.deepEqual(
      ['id', 'tag', 'page'].map((name) => next.param(name)),
      ['3', 'a', '2'],
    )
    assert.deepEqual(next.pairs.getAll('id'), ['3'])
    assert.equal(next.query.get('page'), '1')
  })

  it('does not change the original', () => {
    const request = routed()
    const before = facts(request)
    const next = request.forward({
      action: 'list',
      controller: 'other',
      module: 'admin',
      params: { id: '7' },
    })
    next.pairs.append('more', '1')
    assert.deepEqual(facts(request), before)
    assert.equal(request.param('id'), '42')
  })

  it('cannot set a reserved name', () => {
    const params = { module: 'x', controller: 'x', action: 'x', q: 'x', error_handler: 'x' }
    const next = routed().forward({ action: 'list', params })
    assert.deepEqual(
      [...next.params],
      [
        ['module', 'default'],
        ['controller', 'news'],
        ['action', 'list'],
        ['q', '/news/view/id/42'],
        ['id', '42'],
      ],
    )
  })

  it('keeps the form and the error handler', () => {
    const errorHandler = {
      exception: new Error(),
      type: 'EXCEPTION_OTHER',
      request: routed(),
    } as const
    const form = new FormBody(Buffer.from('a=1'))
    const next = routed({ errorHandler, form }).forward({ action: 'other' })
    assert.equal(next.errorHandler, errorHandler)
    assert.equal(next.param('a'), '1')
  })
})

describe('isRequest()', () => {
  it('is true for constructed requests, and false for objects that only look like one', () => {
    const request = routed()
    assert.equal(isRequest(request), true)
    assert.equal(isRequest(request.forward({ action: 'list' })), true)
    const others = [
      Object.create(request),
      new Proxy(request, {}),
      Object.create(HttpRequest.prototype),
      {},
      null,
      undefined,
      'x',
      1,
    ]
    for (const value of others) assert.equal(isRequest(value), false)
  })
})

describe('HttpRequest.signal', () => {
  it('is not that of the client when only the deadline is over', () => {
    const request = routed()
    stateOf(request).cancellation.abort(new Error('over'))
    assert.equal(stateOf(request).message.aborted, false)
  })

  const reason = new Error('over')

  it('is one signal that is not aborted', () => {
    const request = routed()
    assert.equal(request.signal, request.signal)
    assert.equal(request.signal.aborted, false)
  })

  it('aborts when the client closes the connection', () => {
    const client = new AbortController()
    const request = routed({}, { signal: client.signal })
    const { signal } = request
    assert.equal(signal.aborted, false)
    client.abort(reason)
    assert.equal(signal.aborted, true)
    assert.equal(signal.reason, reason)
    assert.equal(request.forward({ action: 'list' }).signal.reason, reason)
  })

  it('aborts at the deadline, whether it is read before or after', () => {
    const client = new AbortController()
    for (const init of [{}, { signal: client.signal }]) {
      const before = routed({}, init)
      const { signal } = before
      stateOf(before).cancellation.abort(reason)
      assert.equal(signal.reason, reason)

      const after = routed({}, init)
      stateOf(after).cancellation.abort(reason)
      assert.equal(after.signal.reason, reason)
    }
    assert.equal(client.signal.aborted, false)
  })

  it('is one for a request and its forwards, and another one for the error action', () => {
    const request = routed()
    const next = request.forward({ action: 'list' })
    const { signal } = withState(next, { errorHandler: {} as ErrorHandler })
    stateOf(request).cancellation.abort(reason)
    assert.deepEqual([next.signal.aborted, signal.aborted], [true, false])
  })
})

describe('HttpRequest.state', () => {
  it('is one object without a prototype for all requests of one message', () => {
    const request = routed()
    Object.assign(request.state, { user: 'ada' })
    assert.deepEqual({ ...request.forward({ action: 'list' }).state }, { user: 'ada' })
    assert.equal(Object.getPrototypeOf(request.state), null)
    assert.deepEqual({ ...routed().state }, {})
  })
})

describe('HttpRequest.cookies', () => {
  it('are parsed from the header', () => {
    const headers = { cookie: 'SID=31d4; lang=en-US; SID=other' }
    const { cookies } = new HttpRequest({ target: '/', headers })
    assert.deepEqual(
      [...cookies],
      [
        ['SID', '31d4'],
        ['lang', 'en-US'],
      ],
    )
    assert.equal(new HttpRequest({ target: '/' }).cookies.size, 0)
  })
})

describe('HttpRequest.url', () => {
  it('is the target', () => {
    assert.equal(new HttpRequest({ target: '/news?page=2' }).url, '/news?page=2')
  })
})

describe('HttpRequest.header()', () => {
  it('returns the value of a header, by its name in any case', () => {
    const headers = { 'X-One': '1', 'x-list': ['a', 'b'], empty: '' }
    const request = new HttpRequest({ target: '/', headers })
    for (const name of ['x-one', 'X-One', 'X-ONE']) assert.equal(request.header(name), '1')
    assert.equal(request.header('X-List'), 'a, b')
    assert.equal(request.header('empty'), '')
    for (const name of ['x-two', 'constructor', '__proto__', '']) {
      assert.equal(request.header(name), undefined)
    }
  })
})

describe('HttpRequest.accepts()', () => {
  const types = ['text/html', 'application/json'] as const
  const table: [accept: string | undefined, expected: string | undefined][] = [
    [undefined, 'text/html'],
    ['application/json', 'application/json'],
    ['application/json;q=0.5, text/html;q=0.4', 'application/json'],
    ['text/*', 'text/html'],
    ['*/*', 'text/html'],
    ['image/png', undefined],
    ['text/html;q=0, */*;q=0', undefined],
    ['malformed', 'text/html'],
    ['', 'text/html'],
  ]
  for (const [accept, expected] of table) {
    it(`returns ${expected} for ${JSON.stringify(accept)}`, () => {
      const headers: Record<string, string> = accept === undefined ? {} : { accept }
      assert.equal(new HttpRequest({ target: '/', headers }).accepts(types), expected)
    })
  }
})
