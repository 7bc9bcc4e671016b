import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { createErrorController, failsafe } from '../../lib/controllers/error-controller.ts'
import {
  type ErrorHandler,
  type ErrorReport,
  FrontController,
  type FrontControllerOptions,
  HttpError,
  HttpRequest,
  type HttpRequestInit,
  HttpResponse,
  type Plugin,
  ThrownValueError,
} from '../../lib/index.ts'
import { moments } from '../support/hooks.ts'

const rules = ['exact', 'zf1'] as const
const objectNames = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', 'valueOf']
const reserved = ['module', 'controller', 'action', 'q', 'error_handler']
const urlEncoded = { 'Content-Type': 'application/x-www-form-urlencoded' }
const nothing = new Proxy({}, { get: raise })
const fixed = failsafe(new HttpResponse())
const errorController = createErrorController()

// What may be thrown. Every trap of the proxy throws: even to look one up does.
const thrown = {
  error: new Error('x'),
  'frozen error': Object.freeze(new Error('x')),
  'frozen HttpError': Object.freeze(new HttpError(418, 'x')),
  null: null,
  undefined: undefined,
  string: 'x',
  'empty string': '',
  number: 42,
  symbol: Symbol('x'),
  function: () => {},
  'object without a prototype': Object.create(null),
  'object with getters that throw': Object.defineProperties(
    {},
    { message: { get: raise }, code: { get: raise }, status: { get: raise } },
  ),
  'error with getters that throw': Object.defineProperties(new Error('x'), {
    message: { get: raise },
    code: { get: raise },
  }),
  'HttpError with getters that throw': Object.defineProperties(new HttpError(418, 'x'), {
    status: { get: raise },
    headers: { get: raise },
    type: { get: raise },
  }),
  'proxy whose traps throw': new Proxy({}, nothing),
  'proxy of an error': new Proxy(new Error('x'), nothing),
}

const ways: Record<string, (value: unknown) => () => unknown> = {
  thrown: (value) => () => {
    throw value
  },
  rejected: (value) => () => Promise.reject(value),
  'thrown after await': (value) => async () => {
    await new Promise(setImmediate)
    throw value
  },
}

/** One run of the error action: what it was given, as it was at its start. */
interface Round extends ErrorHandler {
  readonly asked: HttpRequest
  readonly pristine: unknown[]
}

type Actions = Record<string, unknown>
type Asked = string | HttpRequestInit

describe('FrontController.handle()', () => {
  it('dispatches to what the path names', async () => {
    const seen: unknown[] = []
    const view = (request: HttpRequest, response: HttpResponse): void => {
      const { module, controller, action, q } = request
      seen.push([module, controller, action, q, [...request.pairs]])
      response.text('seen')
    }
    const controllers = new Map(Object.entries({ index: { index: view }, news: { fooBar: view } }))
    const modules = new Map([['admin', new Map([['news', { index: view }]])]])
    const front = new FrontController({ controllers, modules })
    for (const target of ['/', '/news/foo-bar/id/4%202/id/5?a=b', '/admin/news', 'http://h']) {
      const { status, body, exceptions } = await front.handle(new HttpRequest({ target }))
      assert.deepEqual([status, body, exceptions], [200, 'seen', []])
    }
    assert.deepEqual(seen, [
      ['default', 'index', 'index', '/', []],
      ['default', 'news', 'foo-bar', '/news/foo-bar/id/4 2/id/5', [...pairs('id=4+2&id=5')]],
      ['admin', 'news', 'index', '/admin/news', []],
      ['default', 'index', 'index', '/', []],
    ])
  })

  it('needs no options to welcome', async () => {
    const { status, body } = await new FrontController().handle(new HttpRequest({ target: '/' }))
    assert.equal(status, 200)
    assert.match(String(body), /Portico/)
  })

  it('raises wrong options at construction', () => {
    assert.throws(() => new FrontController({ basePath: 'app' }), TypeError)
    assert.throws(() => new FrontController({ limits: { maxFields: 0 } }), RangeError)
  })

  it('runs HEAD as GET', async () => {
    const methods: string[] = []
    const list = ({ method }: HttpRequest, response: HttpResponse): void => {
      methods.push(method)
      response.text('x')
    }
    for (const method of ['GET', 'HEAD']) {
      const { front } = watched({ list: restricted(list, 'GET') })
      const { status } = await front.handle(new HttpRequest({ target: '/news/list', method }))
      assert.equal(status, 200)
    }
    assert.deepEqual(methods, ['GET', 'HEAD'])
  })
})

describe('FrontController.handle(), when no action has the name,', () => {
  it('goes round to error/error with what was asked', async () => {
    const table: [string, string, string, number, string[]][] = [
      [
        '/lifecycle/flows/signup?flowEntry=ServiceLogin&dsh=S1',
        'EXCEPTION_NO_CONTROLLER',
        'Invalid controller specified (lifecycle)',
        0,
        ['default', 'lifecycle', 'flows', '/lifecycle/flows/signup'],
      ],
      [
        '/signin/v2/identifier?continue=https%3A%2F%2Fh%2F%3Fa%3Db%23',
        'EXCEPTION_NO_CONTROLLER',
        'Invalid controller specified (signin)',
        0,
        ['default', 'signin', 'v2', '/signin/v2/identifier'],
      ],
      [
        '/news/no-such-thing',
        'EXCEPTION_NO_ACTION',
        'Action "no-such-thing" does not exist',
        404,
        ['default', 'news', 'no-such-thing', '/news/no-such-thing'],
      ],
      [
        '/admin/nope/x',
        'EXCEPTION_NO_CONTROLLER',
        'Invalid controller specified (nope)',
        0,
        ['admin', 'nope', 'x', '/admin/nope/x'],
      ],
      [
        '/n%65ws/list',
        'EXCEPTION_NO_CONTROLLER',
        'Invalid controller specified (n%65ws)',
        0,
        ['default', 'n%65ws', 'list', '/news/list'],
      ],
    ]
    for (const [target, type, message, code, names] of table) {
      const options = { modules: new Map([['admin', new Map([['index', {}]])]]) }
      const [round, response] = await fault({ list() {} }, target, options)
      assert.deepEqual(told(round), [type, message, code])
      assert.equal(round.exception.cause, undefined)
      assert.deepEqual([...namesOf(round.request), round.request.q], names)
      assert.equal(response.status, 404)
    }
  })

  it('keeps the one spelling under exact, and folds under zf1', async () => {
    for (const target of ['/NEWS/list', '/news/LIST', '/n.ews!/list', '/news/l!ist']) {
      const [round] = await fault({ list() {} }, target)
      assert.match(round.type, /NO_(CONTROLLER|ACTION)/)
    }
    const { front, rounds } = watched({ list() {} }, { names: 'zf1' })
    for (const target of ['/NEWS/list', '/news/LIST', '/news!/list', '/news/l!ist']) {
      assert.equal((await front.handle(new HttpRequest({ target }))).status, 200, target)
    }
    assert.deepEqual(rounds, [])
  })

  it('takes the names that every object has for ordinary ones', async () => {
    for (const names of rules) {
      for (const name of objectNames) {
        const [asController] = await fault({}, `/${name}/${name}`, { names })
        assert.deepEqual(told(asController), [
          'EXCEPTION_NO_CONTROLLER',
          `Invalid controller specified (${name})`,
          0,
        ])
        const [asAction] = await fault({}, `/news/${name}`, { names })
        assert.deepEqual(told(asAction), [
          'EXCEPTION_NO_ACTION',
          `Action "${name}" does not exist`,
          404,
        ])
      }
    }
  })

  it('takes them for data as parameters', async () => {
    for (const name of objectNames) {
      const init = { method: 'POST', headers: urlEncoded }
      for (const asked of [
        { target: `/news/list/${name}/value` },
        { target: `/news/list?${name}=value` },
        { ...init, target: '/news/list', body: `${name}=value` },
      ]) {
        const request = await arrived(asked)
        assert.equal(request.param(name), 'value')
      }
      assert.equal((await arrived('/news/list')).param(name), undefined)
    }
  })

  it('does not let error/error be asked for', async () => {
    const targets = [
      ['/error', 'error'],
      ['/error/error', 'error'],
      ['/error/other', 'error'],
      ['/default/error/error', 'error'],
      ['/error/error/error_handler/1?error_handler=1', 'error'],
      ['/ERROR', 'ERROR'],
      ['/-error', '-error'],
      ['/.e!rror/error', '.e!rror'],
      ['/%65rror/error', '%65rror'],
      ['//error', 'error'],
    ] as const
    for (const names of rules) {
      for (const [target, name] of targets) {
        for (const method of ['GET', 'POST']) {
          const [round] = await fault({}, { target, method }, { names })
          assert.equal(round.type, 'EXCEPTION_NO_CONTROLLER')
          assert.equal(round.exception.message, `Invalid controller specified (${name})`)
          assert.equal(round.request.errorHandler, undefined)
        }
      }
    }
  })

  it('does not let a router or a forward reach it either', async () => {
    const destination = { module: 'default', controller: 'error', action: 'error' }
    const [routed] = await fault({}, '/', { router: { route: () => destination } })
    assert.equal(routed.type, 'EXCEPTION_NO_CONTROLLER')
    const list = (request: HttpRequest): HttpRequest => request.forward(destination)
    const [forwarded] = await fault({ list }, '/news/list')
    assert.equal(forwarded.type, 'EXCEPTION_NO_CONTROLLER')
  })
})

describe('FrontController.handle(), for the reserved names,', () => {
  it('takes no value from the client', async () => {
    const search = reserved.map((name) => `${name}=forged`).join('&')
    const path = `/news/list/${reserved.map((name) => `${name}/forged`).join('/')}`
    const post = { method: 'POST', headers: urlEncoded }
    const asked: [HttpRequestInit, string][] = [
      [{ target: path }, path],
      [{ target: `/news/list?${search}` }, '/news/list'],
      [{ target: '/news/list', ...post, body: search }, '/news/list'],
      [{ target: `${path}?${search}`, ...post, body: search }, path],
    ]
    for (const [init, q] of asked) {
      const request = await arrived(init)
      const routed = new Map(
        Object.entries({ module: 'default', controller: 'news', action: 'list', q }),
      )
      assert.deepEqual(new Map(request.params), routed)
      for (const name of reserved) assert.equal(request.param(name), routed.get(name))
    }
    const request = await arrived({ ...post, target: `/news/list?${search}`, body: search })
    for (const name of reserved) {
      assert.deepEqual([request.query.get(name), request.form.get(name)], ['forged', 'forged'])
    }
  })

  it('takes none in the error action, and none from a forward', async () => {
    const [round] = await fault({}, '/nope/x/error_handler/1/controller/news?error_handler=1&q=1')
    const { asked } = round
    assert.equal(asked.param('error_handler'), asked.errorHandler)
    assert.equal(asked.param('controller'), 'error')
    assert.equal(asked.param('q'), '/nope/x/error_handler/1/controller/news')
    assert.equal(round.request.param('error_handler'), undefined)

    const params = Object.fromEntries(reserved.map((name) => [name, 'forged']))
    const list = (request: HttpRequest): HttpRequest => request.forward({ action: 'view', params })
    const request = await arrived('/news/list', 'view', { list })
    assert.deepEqual(Object.fromEntries(request.params), {
      module: 'default',
      controller: 'news',
      action: 'view',
      q: '/news/list',
    })
  })
})

describe('FrontController.handle(), when something is thrown,', () => {
  for (const [way, actionFor] of Object.entries(ways)) {
    for (const [what, value] of Object.entries(thrown)) {
      it(`hands it to error/error: ${what}, ${way}`, async () => {
        const [round, response] = await fault({ list: actionFor(value) }, '/news/list/a/1')
        standsFor(round.exception, value)
        assert.equal(round.type, 'EXCEPTION_OTHER')
        assert.deepEqual(namesOf(round.request), ['default', 'news', 'list'])
        assert.equal(round.request.param('a'), '1')
        assert.equal(response.status, what === 'frozen HttpError' ? 418 : 500)
      })

      it(`ends in the fixed 500 when the error action fails: ${what}, ${way}`, async () => {
        const first = new Error('first')
        const error = (_: HttpRequest, response: HttpResponse): unknown => {
          spoil(response)
          return actionFor(value)()
        }
        const response = await failing({ list: ways.thrown?.(first) }, { error })
        isFixed(response)
        assert.equal(response.exceptions.length, 2)
        assert.equal(response.exceptions[0], first)
        standsFor(response.exceptions[1], value)
      })
    }
  }

  for (const moment of moments) {
    it(`hands it to error/error: in ${moment}`, async () => {
      for (const actionFor of Object.values(ways)) {
        for (const value of Object.values(thrown)) {
          const plugin = { [moment]: actionFor(value) } as Plugin
          const list = (_: HttpRequest, response: HttpResponse): void => spoil(response)
          const [round] = await fault({ list }, '/news/list', { plugins: [plugin] })
          standsFor(round.exception, value)
          assert.equal(round.request.target, '/news/list')
        }
      }
    })
  }

  it('tells the names asked for whichever moment fails once they are settled', async () => {
    for (const moment of moments.slice(1)) {
      const plugins = [{ [moment]: raise }]
      const [round] = await fault({ list() {} }, '/news/list', { plugins })
      assert.deepEqual(namesOf(round.request), ['default', 'news', 'list'], moment)
    }
  })

  it('keeps the type, code and cause of what was thrown', async () => {
    const cause = new Error('cause')
    const table: [Error, unknown[], number][] = [
      [new Error('x', { cause }), ['EXCEPTION_OTHER', 'x', undefined], 500],
      [
        Object.assign(new Error('x', { cause }), { code: 'ENOENT' }),
        ['EXCEPTION_OTHER', 'x', 'ENOENT'],
        500,
      ],
      [new HttpError(403, 'x', { cause }), ['EXCEPTION_OTHER', 'x', 403], 403],
      [new HttpError(503, 'x', { cause, code: 7 }), ['EXCEPTION_OTHER', 'x', 7], 503],
    ]
    for (const [error, facts, status] of table) {
      const [round, response] = await fault({ list: ways.thrown?.(error) }, '/news/list')
      assert.deepEqual(told(round), facts)
      assert.equal(round.exception.cause, cause)
      assert.equal(response.status, status)
    }
  })

  it('forgets all that the failed action had set', async () => {
    const body = new Readable({ read() {} })
    const list = (_: HttpRequest, response: HttpResponse): void => {
      spoil(response)
      response.redirect('/elsewhere', 301)
      response.body = body
      throw new Error('x')
    }
    const [, response] = await fault({ list }, '/news/list')
    assert.equal(response.status, 500)
    for (const name of ['Set-Cookie', 'Location', 'X-Half']) {
      assert.equal(response.headers.has(name), false, name)
    }
    assert.ok(body.destroyed)
  })

  it('hears of an error under any method', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      const rounds: unknown[] = []
      const error = restricted(
        ({ errorHandler }: HttpRequest) => void rounds.push(errorHandler),
        'PATCH',
      )
      const front = frontOf({ error: { error } })
      const { exceptions } = await front.handle(new HttpRequest({ target: '/nope', method }))
      assert.deepEqual([rounds.length, exceptions.length], [1, 1], method)
    }
  })

  it('lets the error action forward, and holds what follows to the second fault', async () => {
    const error = (request: HttpRequest): HttpRequest =>
      request.forward({ controller: 'news', action: 'sorry' })
    const sorry = ({ errorHandler }: HttpRequest, response: HttpResponse): void =>
      response.text(`sorry: ${errorHandler?.exception.message}`)
    const response = await failing({ list: raise, sorry }, { error })
    assert.deepEqual([response.body, response.exceptions.length], ['sorry: raised', 1])

    const circle = await failing(
      { list: raise },
      { error: (request: HttpRequest) => request.forward({ action: 'error' }) },
    )
    isFixed(circle)
    assert.equal(circle.exceptions.length, 2)
  })

  it('ends in the fixed 500 when the error action is missing or returns the wrong thing', async () => {
    for (const error of [undefined, () => null, async () => 'x']) {
      const response = await failing({ list: raise }, { error })
      isFixed(response)
      assert.equal(response.exceptions.length, 2)
    }
  })

  it('ends in the fixed 500 when a plugin fails on the way to the error action or back', async () => {
    for (const moment of ['preDispatch', 'postDispatch', 'dispatchLoopShutdown'] as const) {
      const plugin: Plugin = {
        [moment]: ({ errorHandler }: HttpRequest) => errorHandler && raise(),
      }
      const response = await failing({ list: raise }, errorController, { plugins: [plugin] })
      isFixed(response)
      assert.equal(response.exceptions.length, 2)
    }
  })
})

describe('FrontController.handle(), when an action returns', () => {
  it('the wrong thing, is a 500 through error/error', async () => {
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
      nothing,
    ]
    for (const value of wrong) {
      for (const list of [() => value, async () => value]) {
        const [round, response] = await fault({ list }, '/news/list')
        assert.equal(round.type, 'EXCEPTION_OTHER')
        assert.equal(response.status, 500)
      }
    }
    const plugins = [{ preDispatch: () => 'x' }] as unknown as Plugin[]
    const [round] = await fault({ list() {} }, '/news/list', { plugins })
    assert.ok(round.exception instanceof TypeError)
  })

  it('what only looks like a request, is a 500 through error/error too', async () => {
    const table: [string, (request: HttpRequest) => unknown][] = [
      ['inherits from one', (request) => Object.create(request)],
      ['a proxy of one', (request) => new Proxy(request, {})],
      ['of the class, and not made by it', () => Object.create(HttpRequest.prototype)],
    ]
    for (const [what, disguised] of table) {
      const list = (request: HttpRequest): unknown => disguised(request)
      for (const action of [list, async (request: HttpRequest) => list(request)]) {
        const [round, response] = await fault({ list: action }, '/news/list')
        assert.equal(
          round.exception.message,
          'The action returned a value of the type object; expected nothing, or a request to be dispatched',
          what,
        )
        assert.ok(round.exception instanceof TypeError)
        assert.deepEqual([round.type, response.status], ['EXCEPTION_OTHER', 500])
      }
    }
  })

  it('a request, dispatches it next, with the params over those of the client', async () => {
    const given: HttpRequest[] = []
    const list = (request: HttpRequest, response: HttpResponse): HttpRequest => {
      given.push(request)
      response.headers.set('Kept', 'yes')
      const params = { a: 'forward', b: 'forward' }
      return request.forward({ action: 'edit', controller: 'pages', module: 'admin', params })
    }
    const edit = (request: HttpRequest): void => void given.push(request)
    const modules = new Map([['admin', new Map([['pages', { edit }]])]])
    const { front, rounds } = watched(
      { list: async (...args: [HttpRequest, HttpResponse]) => list(...args) },
      { modules },
    )
    const target = '/news/list/a/path/c/path?b=query&d=query'
    const response = await front.handle(new HttpRequest({ target }))

    const [original, next] = given
    assert.ok(original && next)
    assert.deepEqual(namesOf(original), ['default', 'news', 'list'])
    assert.deepEqual(namesOf(next), ['admin', 'pages', 'edit'])
    const values = (request: HttpRequest): unknown[] =>
      ['a', 'b', 'c', 'd'].map((name) => request.param(name))
    assert.deepEqual(values(original), ['path', 'query', 'path', 'query'])
    assert.deepEqual(values(next), ['forward', 'forward', 'path', 'query'])
    assert.deepEqual(next.pairs.getAll('a'), ['forward'])
    assert.equal(next.q, '/news/list/a/path/c/path')
    assert.deepEqual([response.status, response.headers.get('Kept'), rounds], [200, 'yes', []])
  })

  it('one after the other, dispatches 16 and no more', async () => {
    for (const [times, status] of [
      [16, 200],
      [17, 500],
    ] as const) {
      let runs = 0
      const list = (request: HttpRequest): HttpRequest | undefined =>
        ++runs < times ? request.forward({ action: 'list' }) : undefined
      const { front, rounds } = watched({ list })
      const response = await front.handle(new HttpRequest({ target: '/news/list' }))
      assert.deepEqual([runs, response.status, rounds.length], [16, status, times - 16])
      assert.deepEqual(
        rounds.map(({ type }) => type),
        times > 16 ? ['EXCEPTION_OTHER'] : [],
      )
    }
  })
})

describe('FrontController.handle(), past limits.actionTimeoutMs,', () => {
  const limits = { actionTimeoutMs: 30 }

  it('is a 503 through error/error, and aborts the signal', async () => {
    const [round, response] = await fault({ list: forever }, '/news/list', { limits })
    assert.equal(response.status, 503)
    assert.deepEqual(told(round).toSpliced(1, 1), ['EXCEPTION_OTHER', 503])
    assert.deepEqual(namesOf(round.request), ['default', 'news', 'list'])
    assert.equal(round.request.signal.aborted, true)
    assert.equal(round.asked.signal.aborted, false)
  })

  it('sends nobody what the action writes late', async () => {
    let finished: Promise<unknown> = Promise.resolve()
    const list = (request: HttpRequest, response: HttpResponse): Promise<unknown> => {
      const write = async (): Promise<void> => {
        await once(request.signal, 'abort')
        await new Promise(setImmediate)
        spoil(response)
        throw new Error('late')
      }
      finished = write()
      return finished
    }
    const [, response] = await fault({ list }, '/news/list', { limits })
    const sent = [response.status, [...response.headers], response.body]
    await assert.rejects(finished, /late/)
    assert.deepEqual([response.status, [...response.headers], response.body], sent)
    assert.equal(response.status, 503)
    assert.equal(response.headers.has('X-Half'), false)
    assert.equal(response.exceptions.length, 1)
  })

  it('is the fixed 500 when the error action hangs', async () => {
    let signal: AbortSignal | undefined
    const error = (request: HttpRequest): Promise<never> => {
      signal = request.signal
      return forever()
    }
    const response = await failing({ list: raise }, { error }, { limits })
    isFixed(response)
    assert.deepEqual(
      response.exceptions.map((each) => each instanceof HttpError && each.status),
      [false, 503],
    )
    assert.equal(signal?.aborted, true)
  })

  it('is a 503 when a plugin hangs, at any moment', async () => {
    for (const moment of moments) {
      const plugins = [{ [moment]: forever }]
      const [, response] = await fault({ list() {} }, '/news/list', { limits, plugins })
      assert.equal(response.status, 503, moment)
    }
  })

  it('leaves alone what ends in time', async () => {
    const list = async ({ signal }: HttpRequest, response: HttpResponse): Promise<void> => {
      await new Promise(setImmediate)
      response.text(String(signal.aborted))
    }
    const { front } = watched({ list }, { limits: { actionTimeoutMs: 10_000 } })
    assert.equal((await front.handle(new HttpRequest({ target: '/news/list' }))).body, 'false')
  })

  it("aborts the signal when the client's does", async () => {
    const client = new AbortController()
    const list = async ({ signal }: HttpRequest): Promise<void> => {
      client.abort()
      assert.equal(signal.aborted, true)
    }
    const { front, rounds } = watched({ list })
    await front.handle(new HttpRequest({ target: '/news/list', signal: client.signal }))
    assert.deepEqual(rounds, [])
  })
})

describe('FrontController.handle(), for an action restricted to methods,', () => {
  const actions = {
    page: restricted(() => {}, 'GET'),
    save: restricted(() => {}, 'POST'),
    any() {},
  }

  it('answers others with 405 and Allow, through error/error', async () => {
    const table: [string, string, string[] | undefined][] = [
      ['POST', 'page', ['GET', 'HEAD', 'OPTIONS']],
      ['TRACE', 'page', ['GET', 'HEAD', 'OPTIONS']],
      ['GET', 'save', ['OPTIONS', 'POST']],
      ['HEAD', 'save', ['OPTIONS', 'POST']],
      ['DELETE', 'save', ['OPTIONS', 'POST']],
      ['TRACE', 'any', undefined],
    ]
    for (const [method, action, allow] of table) {
      const [round, response] = await fault(actions, { target: `/news/${action}`, method })
      assert.equal(response.status, 405)
      assert.deepEqual(told(round).toSpliced(1, 1), ['EXCEPTION_OTHER', 405])
      assert.deepEqual(namesOf(round.request), ['default', 'news', action])
      const sorted = response.headers.get('Allow')?.split(', ').sort()
      if (allow) assert.deepEqual(sorted, allow)
      assert.equal(sorted?.includes('TRACE'), false)
    }
  })

  it('answers OPTIONS with 204 and Allow', async () => {
    const { front, rounds } = watched(actions)
    const asked = (action: string): Promise<HttpResponse> =>
      front.handle(new HttpRequest({ target: `/news/${action}`, method: 'OPTIONS' }))
    const { status, headers, body } = await asked('save')
    assert.deepEqual([status, body, rounds], [204, undefined, []])
    assert.deepEqual(headers.get('Allow')?.split(', ').sort(), ['OPTIONS', 'POST'])
    assert.equal((await asked('any')).status, 200)
  })
})

describe('FrontController.handle(), past what a request may hold,', () => {
  const post = { method: 'POST', headers: urlEncoded }

  it('refuses a form through error/error, with the names of what was asked', async () => {
    const limits = { maxBodyBytes: 20, maxFields: 3 }
    const type = 'application/x-www-form-urlencoded'
    const table: [Partial<HttpRequestInit>, number][] = [
      [{ body: `a=${'x'.repeat(19)}` }, 413],
      [{ body: Readable.from([Buffer.alloc(15), Buffer.alloc(15)], { objectMode: false }) }, 413],
      [{ headers: { ...urlEncoded, 'Content-Length': '21' }, body: '' }, 413],
      [{ body: 'a&b&c&d' }, 413],
      [{ headers: { 'content-type': `${type}; charset=iso-8859-1` }, body: 'a=1' }, 415],
      [{ headers: { ...urlEncoded, 'content-encoding': 'gzip' }, body: 'a=1' }, 415],
    ]
    for (const [init, status] of table) {
      const asked = { ...post, target: '/news/list/id/1?b=2', ...init }
      const [round, response] = await fault({ list: unreached }, asked, { limits })
      assert.equal(response.status, status)
      assert.deepEqual(told(round).toSpliced(1, 1), ['EXCEPTION_OTHER', status])
      assert.deepEqual(namesOf(round.request), ['default', 'news', 'list'])
      assert.deepEqual([round.asked.param('id'), round.asked.param('b')], ['1', '2'])
    }
    for (const init of [
      { body: `a=${'x'.repeat(18)}` },
      { body: 'a&b&c' },
      { headers: { 'content-type': `${type}; charset="UTF-8"` }, body: 'a=1' },
      { headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(21) },
      { method: 'PUT', body: 'x'.repeat(21) },
    ]) {
      await arrived({ ...post, target: '/news/list', ...init }, 'list', {}, { limits })
    }
  })

  it('takes 1,000 parameters, pairs and fields each, and no more', async () => {
    const many = (count: number, unit: string): string => unit.repeat(count)
    const table: [(count: number) => HttpRequestInit, number][] = [
      [(count) => ({ target: `/news/list?${many(count, '&a=1')}` }), 400],
      [(count) => ({ target: `/news/list${many(count, '/a/1')}` }), 400],
      [(count) => ({ ...post, target: '/news/list', body: many(count, '&a=1') }), 413],
    ]
    for (const [asked, status] of table) {
      const request = await arrived(asked(1_000))
      const { length } = [...request.pairs, ...request.query, ...request.form]
      assert.equal(length, 1_000)
      const [round, response] = await fault({ list: unreached }, asked(1_001))
      assert.equal(response.status, status)
      assert.deepEqual(told(round).toSpliced(1, 1), ['EXCEPTION_OTHER', status])
      assert.deepEqual(namesOf(round.request), ['default', 'news', 'list'])
    }
  })

  it('refuses a bad path, whose form the error action can still read', async () => {
    for (const bad of ['%', '%zz', '%ff', '%c0%af', 'a%00', 'a%0a', '%1b', '%7F', '%c2%85']) {
      const asked = { ...post, target: `/news/${bad}?a=query`, body: 'a=form&b=form' }
      const [round, response] = await fault({}, asked)
      assert.equal(response.status, 400, bad)
      assert.deepEqual(told(round).toSpliced(1, 1), ['EXCEPTION_OTHER', 400])
      assert.deepEqual(namesOf(round.request), ['default', 'news', bad])
      for (const request of [round.asked, round.request]) {
        assert.deepEqual([request.param('a'), request.param('b')], ['query', 'form'])
      }
    }
  })
})

describe('FrontController.handle(), with a route of its own,', () => {
  it('takes whole segments of the base path off', async () => {
    const basePath = '/my/app'
    const table: [string, string | undefined][] = [
      ['/my/app', '/'],
      ['/my/app/', '/'],
      ['/my/app?a=b', '/'],
      ['/my/app/news/list', '/news/list'],
      ['http://h/my/app/news', '/news'],
      ['/', undefined],
      ['/my', undefined],
      ['/my/apple', undefined],
      ['/MY/app', undefined],
      ['/news/list', undefined],
      ['//my/app/news', undefined],
    ]
    for (const [target, q] of table) {
      const [round, response] = await fault({}, target, { basePath })
      assert.equal(response.status, 404)
      if (q !== undefined) assert.equal(round.asked.q, q)
      else {
        assert.deepEqual(told(round), ['EXCEPTION_NO_ROUTE', 'No route matched the request', 404])
      }
    }
  })

  it('goes where an added router says', async () => {
    const router = {
      route: ({ path }: HttpRequest) => ({
        module: 'default',
        controller: 'news',
        action: 'list',
        pairs: new URLSearchParams({ path }),
      }),
    }
    const request = await arrived('/any%20where?path=x', 'list', {}, { router })
    assert.deepEqual(
      [request.param('path'), request.q, ...namesOf(request)],
      ['/any%20where', '/any where', 'default', 'news', 'list'],
    )
  })

  it('is EXCEPTION_NO_ROUTE where an added router finds nothing', async () => {
    const router = { route: () => undefined }
    const asked = { target: '/news/list', method: 'POST', headers: urlEncoded, body: 'a=1' }
    const [round, response] = await fault({ list: unreached }, asked, { router })
    assert.deepEqual(told(round), ['EXCEPTION_NO_ROUTE', 'No route matched the request', 404])
    assert.equal(response.status, 404)
    assert.deepEqual([round.asked.q, round.asked.form.get('a')], ['/news/list', '1'])
  })

  it('is a 500 through error/error where an added router returns what is no route', async () => {
    const route = { module: 'default', controller: 'news', action: 'list' }
    for (const wrong of [{}, { ...route, action: undefined }, Promise.resolve(route), 'news']) {
      const [round, response] = await fault({}, '/news/list', {
        router: { route: () => wrong as never },
      })
      assert.equal(
        round.exception.message,
        'Expected the router to return a module, a controller and an action',
      )
      assert.deepEqual([round.exception.name, response.status], ['TypeError', 500])
    }
  })

  it('is a 414 past the limit of the target', async () => {
    const limits = { maxTargetBytes: 20 }
    await arrived(`/news/list?a=${'x'.repeat(7)}`, 'list', {}, { limits })
    const [round, response] = await fault({}, `/news/list?a=${'x'.repeat(8)}`, { limits })
    assert.equal(response.status, 414)
    assert.deepEqual(namesOf(round.request), ['default', 'news', 'list'])
  })

  it('is a 500 through error/error where an added router throws', async () => {
    const [round, response] = await fault({}, '/news/list', { router: { route: raise } })
    assert.deepEqual([round.exception.message, response.status], ['raised', 500])
  })
})

describe('FrontController.handle(), when it answers,', () => {
  it('tells the response which request it is for, with the names that were asked for', async () => {
    const { front } = watched({ list() {}, fails: raise })
    const asked = async (target: string): Promise<string[]> => {
      const { request } = await front.handle(new HttpRequest({ target }))
      return request ? namesOf(request) : []
    }
    assert.deepEqual(await asked('/news/list'), ['default', 'news', 'list'])
    assert.deepEqual(await asked('/news/fails'), ['default', 'news', 'fails'])
    assert.deepEqual(await asked('/signin/v2'), ['default', 'signin', 'v2'])
    const twice = await failing({ list: raise }, { error: raise })
    assert.deepEqual(twice.request && namesOf(twice.request), ['default', 'news', 'list'])
  })

  it('reports an error once, under the id that the client was told, without a value', async () => {
    const reports: ErrorReport[] = []
    const lines: unknown[][] = []
    const logger = {
      info: assert.fail,
      warn: (...line: unknown[]) => void lines.push(line),
      error: assert.fail,
    }
    const front = frontOf(
      { news: { list() {} } },
      { logger, logParams: ['page'], onReport: (report) => void reports.push(report) },
    )
    const target = '/signin/v2/CANARY?dsh=CANARY&page=2'
    const { body } = await front.handle(new HttpRequest({ target }))
    await front.handle(new HttpRequest({ target: '/news/list' }))
    const [report] = reports
    assert.equal(JSON.parse(String(body)).instance, `urn:uuid:${report?.id}`)
    assert.deepEqual(
      [reports.length, lines.length, report?.controller, report?.status, { ...report?.params }],
      [1, 1, 'signin', 404, { dsh: 'word(6)', page: '2' }],
    )
    assert.ok((report?.durationMs ?? -1) >= 0)
    assert.doesNotMatch(JSON.stringify([reports, lines, body]), /CANARY/)
  })

  it('reports a second fault with both exceptions', async () => {
    const reports: ErrorReport[] = []
    const onReport = (report: ErrorReport): void => void reports.push(report)
    const error = (): never => {
      throw new TypeError('second')
    }
    await failing({ list: raise }, { error }, { onReport })
    assert.deepEqual(
      reports.map(({ status, message, second }) => [
        status,
        message,
        second?.name,
        second?.message,
      ]),
      [[500, 'raised', 'TypeError', 'second']],
    )
  })

  it('says of a sign-in whether a controller serves its redirect_uri', async () => {
    const hints: (string | undefined)[] = []
    const onReport = ({ hint }: ErrorReport): void => void hints.push(hint)
    const front = frontOf({ elp: {} }, { onReport, basePath: '/app' })
    for (const path of ['/app/elp/oauth.php', '/app/error/x', '/app/other', '/app/%zz']) {
      const uri = encodeURIComponent(`https://a.example${path}?provider=x`)
      const target = `/app/auth?client_id=1&response_type=code&redirect_uri=${uri}`
      await front.handle(new HttpRequest({ target, headers: { host: 'a.example' } }))
    }
    const named = 'The redirect_uri names a path of this service that no controller serves'
    assert.deepEqual(
      hints.map((hint) => hint === named),
      [false, true, true, true],
    )
  })

  it('shows on its page in development what went wrong, and where', async () => {
    const list = (): never => {
      throw new Error('it was CANARY', { cause: new Error('because') })
    }
    const headers = { accept: 'text/html' }
    const page = async (target: string, development: boolean): Promise<string> => {
      const front = frontOf({ news: { list, saveAll() {} } }, { development })
      return String((await front.handle(new HttpRequest({ target, headers }))).body)
    }
    const fault = await page('/news/list?dsh=CANARY', true)
    for (const part of [
      '<h2>EXCEPTION_OTHER</h2><p>Error: it was [dsh]</p><pre>',
      'front-controller.test.js:',
      '<p>Caused by</p><p>Error: because</p>',
      '<dd>GET default/news/list</dd>',
      '<dt>dsh</dt><dd>word(6)</dd>',
      '<ul><li>news/list</li><li>news/save-all</li></ul>',
    ]) {
      assert.ok(fault.includes(part), part)
    }
    assert.doesNotMatch(fault, /CANARY|Did you mean/)
    assert.match(await page('/nwes/list', true), /<dt>Did you mean<\/dt><dd>news\/list<\/dd>/)
    assert.doesNotMatch(await page('/nwes/list', false), /EXCEPTION|Did you mean|save-all/)
  })
})

describe('FrontController.report()', () => {
  it('reports what did not pass through the loop, without its message but for a request', () => {
    const reports: ErrorReport[] = []
    const front = frontOf({}, { onReport: (report) => void reports.push(report) })
    const request = new HttpRequest({ target: '/x?dsh=CANARY' })
    front.report(new Error('it was CANARY'))
    front.report(null)
    front.report(new Error('it was CANARY'), { request, status: 408 })
    assert.deepEqual(
      reports.map(({ message, status, method }) => [message, status, method]),
      [
        ['list(3)', 500, ''],
        ['list(3)', 500, ''],
        ['it was [dsh]', 408, 'GET'],
      ],
    )
    assert.equal(reports[2]?.id, request.id)
  })
})

describe('FrontController.flush()', () => {
  it('logs how many errors were only counted', async () => {
    const lines: unknown[][] = []
    const warn = (...line: unknown[]): void => void lines.push(line)
    const front = frontOf({}, { logger: { info: assert.fail, warn, error: assert.fail } })
    for (let i = 0; i < 3; i++) await front.handle(new HttpRequest({ target: '/nope' }))
    front.flush()
    front.flush()
    assert.deepEqual(lines.slice(1), [
      [
        {
          event: 'errors',
          total: 2,
          kinds: { 'EXCEPTION_NO_CONTROLLER default nope index': 2 },
        },
        '2 more errors',
      ],
    ])
  })
})

describe('FrontController.handle(), when the body is a stream', () => {
  it('that fails before its first byte, is a 500 through error/error', async () => {
    const disk = new Error('disk')
    const streams: (() => Readable)[] = [
      () =>
        new Readable({
          read() {
            this.destroy(disk)
          },
        }),
      () => new Readable({ construct: (done) => setImmediate(done, disk) }),
      () => Readable.from({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(disk) }) }),
    ]
    for (const stream of streams) {
      const list = (_: HttpRequest, response: HttpResponse): void => {
        spoil(response)
        response.body = stream()
      }
      const [round, response] = await fault({ list }, '/news/list')
      assert.equal(round.exception, disk)
      assert.equal(response.status, 500)
    }
  })

  it('that was destroyed already, is one too', async () => {
    const list = (_: HttpRequest, response: HttpResponse): void => {
      response.body = new Readable({ read() {} }).destroy()
    }
    const [round] = await fault({ list }, '/news/list')
    assert.equal(round.type, 'EXCEPTION_OTHER')
  })

  it('of the error action that fails, is the fixed 500', async () => {
    const error = (_: HttpRequest, response: HttpResponse): void => {
      response.body = new Readable({
        read() {
          this.destroy(new Error('disk'))
        },
      })
    }
    const response = await failing({ list: raise }, { error })
    isFixed(response)
    assert.deepEqual(
      response.exceptions.map(({ message }) => message),
      ['raised', 'disk'],
    )
  })

  it('leaves its bytes to whoever sends them', async () => {
    const list = (_: HttpRequest, response: HttpResponse): void => {
      response.body = Readable.from([Buffer.from('a'), Buffer.from('b')], { objectMode: false })
    }
    const { front } = watched({ list })
    const { body } = await front.handle(new HttpRequest({ target: '/news/list' }))
    assert.equal(Buffer.concat(await (body as Readable).toArray()).toString(), 'ab')
  })
})

/** Asks, and expects one run of the error action, on a response without a trace of what was before. */
async function fault(
  news: Actions,
  asked: Asked,
  options: FrontControllerOptions = {},
): Promise<[Round, HttpResponse]> {
  const { front, rounds } = watched(news, options)
  const init = typeof asked === 'string' ? { target: asked } : asked
  const response = await front.handle(new HttpRequest(init))
  const [round] = rounds
  assert.ok(round && rounds.length === 1, `${rounds.length} error rounds`)
  assert.deepEqual(namesOf(round.asked), ['default', 'error', 'error'])
  assert.deepEqual(round.pristine.slice(0, 5), [200, undefined, 0, false, 1])
  assert.ok(round.pristine[5] === round.exception && response.exceptions[0] === round.exception)
  assert.equal(response.exceptions.length, 1)
  assert.equal(round.request.errorHandler, undefined)
  return [round, response]
}

/** Asks for an action, and expects it to run. */
async function arrived(
  asked: Asked,
  action = 'list',
  others: Actions = {},
  options: FrontControllerOptions = {},
): Promise<HttpRequest> {
  const given: HttpRequest[] = []
  const list = (request: HttpRequest): void => void given.push(request)
  const { front, rounds } = watched({ ...others, [action]: list }, options)
  await front.handle(new HttpRequest(typeof asked === 'string' ? { target: asked } : asked))
  const [request] = given
  assert.ok(request, rounds[0]?.exception.message)
  return request
}

/** Asks for /news/list, with an error controller of one's own. */
function failing(
  news: Actions,
  error: object,
  options: FrontControllerOptions = {},
): Promise<HttpResponse> {
  return frontOf({ news, error }, options).handle(new HttpRequest({ target: '/news/list' }))
}

// The built-in error action, with a note of what it was given.
function watched(
  news: Actions,
  options: FrontControllerOptions = {},
): { front: FrontController; rounds: Round[] } {
  const rounds: Round[] = []
  const error = (asked: HttpRequest, response: HttpResponse): void => {
    assert.ok(asked.errorHandler)
    const { status, body, headers, renderExceptions, exceptions } = response
    const pristine = [status, body, headers.size, renderExceptions, exceptions.length]
    rounds.push({ ...asked.errorHandler, asked, pristine: [...pristine, exceptions[0]] })
    errorController.error(asked, response)
  }
  return { front: frontOf({ news, error: { error, other: error } }, options), rounds }
}

function frontOf(controllers: object, options: FrontControllerOptions = {}): FrontController {
  return new FrontController({ controllers: new Map(Object.entries(controllers)), ...options })
}

function standsFor(exception: Error | undefined, value: unknown): void {
  if (exception instanceof ThrownValueError) {
    assert.ok(Object.is(exception.value, value))
    assert.equal(exception.code, 0)
    assert.equal(exception.cause, undefined)
  } else {
    assert.ok(Object.is(exception, value))
  }
}

function isFixed({ status, headers, body }: HttpResponse): void {
  assert.deepEqual([status, [...headers], body], [500, [...fixed.headers], fixed.body])
}

function told({ type, exception }: Round): unknown[] {
  return [type, exception.message, (exception as Error & { code?: unknown }).code]
}

function namesOf({ module, controller, action }: HttpRequest): string[] {
  return [module, controller, action]
}

function pairs(search: string): URLSearchParams {
  return new URLSearchParams(search)
}

function restricted(action: unknown, ...methods: string[]): unknown {
  return Object.assign(action as object, { methods })
}

function spoil(response: HttpResponse): void {
  response.status = 201
  response.renderExceptions = true
  response.headers.set('X-Half', '1').append('Set-Cookie', 'a=1').append('Set-Cookie', 'b=2')
  response.html('<p>half a page')
}

function raise(): never {
  throw new Error('raised')
}

function forever(): Promise<never> {
  return new Promise(() => {})
}

function unreached(): never {
  throw new Error('The action was reached')
}
