import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpRequest, HttpResponse, html, type Plugin } from '../../lib/index.ts'
import { createWatchedFront, expectError, namesOf } from '../support/loop.ts'
import { throwingProxy } from '../support/thrown-values.ts'

describe('FrontController.handle() when an action returns a value', () => {
  it('sends a 500 through error/error for a value that is no request', async () => {
    const wrong = [
      null,
      0,
      '',
      'x',
      true,
      {},
      [],
      () => {},
      Symbol('x'),
      new HttpResponse(),
      throwingProxy,
    ]
    for (const value of wrong) {
      for (const list of [() => value, async () => value]) {
        const [run, response] = await expectError({ list }, '/news/list')
        assert.equal(run.type, 'EXCEPTION_OTHER')
        assert.equal(response.status, 500)
      }
    }
    const plugins = [{ preDispatch: () => 'x' }] as unknown as Plugin[]
    const [run] = await expectError({ list() {} }, '/news/list', { plugins })
    assert.ok(run.exception instanceof TypeError)
  })

  it('sends a 500 through error/error for an object that only looks like a request', async () => {
    const table: [string, (request: HttpRequest) => unknown][] = [
      ['an object that inherits from one', (request) => Object.create(request)],
      ['a proxy of one', (request) => new Proxy(request, {})],
      [
        'an object of the class that the constructor did not create',
        () => Object.create(HttpRequest.prototype),
      ],
    ]
    for (const [what, disguised] of table) {
      const list = (request: HttpRequest): unknown => disguised(request)
      for (const action of [list, async (request: HttpRequest) => list(request)]) {
        const [run, response] = await expectError({ list: action }, '/news/list')
        assert.equal(
          run.exception.message,
          'The action returned a value of the type object (did you mean response.json()?); expected nothing, the response, or a request to be dispatched',
          what,
        )
        assert.ok(run.exception instanceof TypeError)
        assert.deepEqual([run.type, response.status], ['EXCEPTION_OTHER', 500])
      }
    }
  })

  it('names what the action may have meant to return', async () => {
    const table: [returned: unknown, kind: string][] = [
      ['text', 'string (did you mean response.text()?)'],
      [[1], 'object (did you mean response.json()?)'],
      [html`<p>`, 'object (did you mean response.html()?)'],
      [5, 'number'],
    ]
    for (const [returned, kind] of table) {
      const [run] = await expectError({ list: () => returned as undefined }, '/news/list')
      assert.ok(
        run.exception.message.startsWith(`The action returned a value of the type ${kind};`),
      )
    }
  })

  it('dispatches a returned request, whose params win over those of the client', async () => {
    const received: HttpRequest[] = []
    const list = (request: HttpRequest, response: HttpResponse): HttpRequest => {
      received.push(request)
      response.headers.set('Kept', 'yes')
      const params = { a: 'forward', b: 'forward' }
      return request.forward({ action: 'edit', controller: 'pages', module: 'admin', params })
    }
    const edit = (request: HttpRequest): void => void received.push(request)
    const modules = new Map([['admin', new Map([['pages', { edit }]])]])
    const { front, runs } = createWatchedFront(
      { list: async (...args: [HttpRequest, HttpResponse]) => list(...args) },
      { modules },
    )
    const target = '/news/list/a/path/c/path?b=query&d=query'
    const response = await front.handle(new HttpRequest({ target }))

    const [original, next] = received
    assert.ok(original && next)
    assert.deepEqual(namesOf(original), ['default', 'news', 'list'])
    assert.deepEqual(namesOf(next), ['admin', 'pages', 'edit'])
    const values = (request: HttpRequest): unknown[] =>
      ['a', 'b', 'c', 'd'].map((name) => request.param(name))
    assert.deepEqual(values(original), ['path', 'query', 'path', 'query'])
    assert.deepEqual(values(next), ['forward', 'forward', 'path', 'query'])
    assert.deepEqual(next.pairs.getAll('a'), ['forward'])
    assert.equal(next.q, '/news/list/a/path/c/path')
    assert.deepEqual([response.status, response.headers.get('Kept'), runs], [200, 'yes', []])
  })

  it('dispatches at most 16 requests one after the other', async () => {
    for (const [times, status] of [
      [16, 200],
      [17, 500],
    ] as const) {
      let count = 0
      const list = (request: HttpRequest): HttpRequest | undefined =>
        ++count < times ? request.forward({ action: 'list' }) : undefined
      const { front, runs } = createWatchedFront({ list })
      const response = await front.handle(new HttpRequest({ target: '/news/list' }))
      assert.deepEqual([count, response.status, runs.length], [16, status, times - 16])
      assert.deepEqual(
        runs.map(({ type }) => type),
        times > 16 ? ['EXCEPTION_OTHER'] : [],
      )
    }
  })

  it('ends the request for the response, with every method that fills it in', async () => {
    const table: [
      (response: HttpResponse) => HttpResponse,
      status: number,
      body: string | undefined,
    ][] = [
      [(response) => response.text('a'), 200, 'a'],
      [(response) => response.html('a'), 200, 'a'],
      [(response) => response.json({ a: 1 }), 200, '{"a":1}'],
      [(response) => response.redirect('/login', 303), 303, undefined],
      [(response) => response, 200, undefined],
    ]
    for (const [fill, status, body] of table) {
      for (const list of [
        (_: HttpRequest, response: HttpResponse) => fill(response),
        async (_: HttpRequest, response: HttpResponse) => fill(response),
      ]) {
        const { front, runs } = createWatchedFront({ list })
        const response = await front.handle(new HttpRequest({ target: '/news/list' }))
        assert.deepEqual([response.status, response.body, runs], [status, body, []])
      }
    }
  })

  it('ends the request for the response that a hook returns, without the action', async () => {
    const hooks = ['routeStartup', 'routeShutdown', 'dispatchLoopStartup', 'preDispatch'] as const
    for (const hook of hooks) {
      const calls: string[] = []
      const list = (): void => void calls.push('list')
      const plugins: Plugin[] = [
        { [hook]: (_: HttpRequest, response: HttpResponse) => response.redirect('/login', 303) },
        { [hook]: () => void calls.push(hook), dispatchLoopShutdown: () => void calls.push('end') },
      ]
      const { front } = createWatchedFront({ list }, { plugins })
      const response = await front.handle(new HttpRequest({ target: '/news/list' }))
      assert.deepEqual([response.status, response.body, calls], [303, undefined, ['end']], hook)
    }
  })

  it('ends the request for the response that postDispatch returns, although the action forwards', async () => {
    const calls: string[] = []
    const list = (request: HttpRequest): HttpRequest => request.forward({ action: 'edit' })
    const edit = (): void => void calls.push('edit')
    const plugins: Plugin[] = [{ postDispatch: (_, response) => response.text('enough') }]
    const { front } = createWatchedFront({ list, edit }, { plugins })
    const response = await front.handle(new HttpRequest({ target: '/news/list' }))
    assert.deepEqual([response.body, calls], ['enough', []])
  })
})
