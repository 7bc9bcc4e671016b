import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import {
  channels,
  type DispatchMessage,
  type ErrorReport,
  type FrontControllerOptions,
  HttpError,
  HttpRequest,
} from '../../lib/index.ts'
import {
  type ChannelMessage,
  channelNames,
  collectLog,
  collectMessages,
  collectReports,
  subscribeToAll,
} from '../support/collectors.ts'
import { createFolder } from '../support/folder.ts'
import { createFront } from '../support/front.ts'
import { exchange } from '../support/http.ts'
import { logLinesOf, ServerProcess } from '../support/server-process.ts'

const news = {
  list: () => {},
  created: (_: HttpRequest, response: { status: number }) => {
    response.status = 201
  },
  go: (request: HttpRequest) => request.forward({ action: 'list' }),
  goLater: async (request: HttpRequest) => request.forward({ action: 'list' }),
  reject: () => {
    throw new HttpError(403, 'Only editors')
  },
  fail: () => {
    throw Object.assign(new TypeError('broken', { cause: new RangeError('too far') }), {
      code: 'E_NEWS',
    })
  },
  rejectLater: async () => {
    throw new HttpError(403, 'Only editors')
  },
  save: Object.assign(() => {}, { methods: ['POST'] }),
  wrong: () => 42,
  leak: () => {
    throw new Error('it was CANARY')
  },
}
const guarded = { init() {}, list() {} }

/** Handles one request, and returns the messages of the channels about it, in order. */
async function observe(
  t: TestContext,
  target: string,
  controllers: object = { news, guarded },
): Promise<{ request: HttpRequest; messages: readonly ChannelMessage[] }> {
  const messages = collectMessages(t)
  const request = new HttpRequest({ target })
  await createFront(controllers).handle(request)
  return { request, messages }
}

/** Handles one request that fails, and returns its report. */
async function reportOf(
  target: string,
  { init, ...options }: FrontControllerOptions & { init?: object } = {},
): Promise<ErrorReport> {
  const { reports, onReport } = collectReports()
  const front = createFront({ news }, { ...options, onReport })
  await front.handle(new HttpRequest({ target, ...init }))
  assert.equal(reports.length, 1)
  return reports[0] as ErrorReport
}

/** Returns the first message of a channel. */
function found(messages: readonly ChannelMessage[], key: string): Record<string, unknown> {
  const [, message = {}] = messages.find(([name]) => name === key) ?? []
  return message
}

/** Returns channel, names, status and type of each message. */
function summaryOf(messages: readonly ChannelMessage[]): unknown[] {
  return messages.map(([key, { controller, action, status, type }]) => [
    key,
    `${controller}/${action}`,
    status,
    type,
  ])
}

describe('channels', () => {
  it('are the channels of node:diagnostics_channel with the documented names', () => {
    const { dispatch, report } = channels
    const { start, end, asyncStart, asyncEnd, error } = dispatch
    const all = { start, end, asyncStart, asyncEnd, error, report }
    for (const [key, name] of Object.entries(channelNames)) {
      assert.equal(all[key as keyof typeof channelNames], channel(name))
    }
  })

  const none = undefined
  const ofError = (status: number, type = 'EXCEPTION_OTHER'): unknown[] => [
    ['start', 'error/error', none, type],
    ['end', 'error/error', status, type],
  ]
  const table: [what: string, target: string, messages: unknown[]][] = [
    [
      'a request that succeeds',
      '/news/list?dsh=x',
      [
        ['start', 'news/list', none, none],
        ['end', 'news/list', 200, none],
      ],
    ],
    [
      'a request that succeeds with another status',
      '/news/created/id/CANARY?dsh=CANARY',
      [
        ['start', 'news/created', none, none],
        ['end', 'news/created', 201, none],
      ],
    ],
    [
      'a forward',
      '/news/go',
      [
        ['start', 'news/go', none, none],
        ['end', 'news/go', 200, none],
        ['start', 'news/list', none, none],
        ['end', 'news/list', 200, none],
      ],
    ],
    [
      'a forward of an asynchronous action',
      '/news/go-later',
      [
        ['start', 'news/go-later', none, none],
        ['end', 'news/go-later', none, none],
        ['asyncStart', 'news/go-later', 200, none],
        ['asyncEnd', 'news/go-later', 200, none],
        ['start', 'news/list', none, none],
        ['end', 'news/list', 200, none],
      ],
    ],
    [
      'an unknown controller',
      '/signin/v2',
      [
        ...ofError(404, 'EXCEPTION_NO_CONTROLLER'),
        ['report', 'signin/v2', 404, 'EXCEPTION_NO_CONTROLLER'],
      ],
    ],
    [
      'an unknown action',
      '/news/v2',
      [...ofError(404, 'EXCEPTION_NO_ACTION'), ['report', 'news/v2', 404, 'EXCEPTION_NO_ACTION']],
    ],
    [
      'an unknown action of a controller with hooks',
      '/guarded/v2',
      [
        ...ofError(404, 'EXCEPTION_NO_ACTION'),
        ['report', 'guarded/v2', 404, 'EXCEPTION_NO_ACTION'],
      ],
    ],
    [
      'an action that fails',
      '/news/fail/id/1',
      [
        ['start', 'news/fail', none, none],
        ['error', 'news/fail', 500, none],
        ['end', 'news/fail', 500, none],
        ...ofError(500),
        ['report', 'news/fail', 500, 'EXCEPTION_OTHER'],
      ],
    ],
    [
      'an asynchronous action that fails',
      '/news/reject-later',
      [
        ['start', 'news/reject-later', none, none],
        ['end', 'news/reject-later', none, none],
        ['error', 'news/reject-later', 403, none],
        ['asyncStart', 'news/reject-later', 403, none],
        ['asyncEnd', 'news/reject-later', 403, none],
        ...ofError(403),
        ['report', 'news/reject-later', 403, 'EXCEPTION_OTHER'],
      ],
    ],
    [
      'an action that does not accept the method',
      '/news/save',
      [
        ['start', 'news/save', none, none],
        ['error', 'news/save', 405, none],
        ['end', 'news/save', 405, none],
        ...ofError(405),
        ['report', 'news/save', 405, 'EXCEPTION_OTHER'],
      ],
    ],
    [
      'an action that returns a wrong value',
      '/news/wrong',
      [
        ['start', 'news/wrong', none, none],
        ['error', 'news/wrong', 500, none],
        ['end', 'news/wrong', 500, none],
        ...ofError(500),
        ['report', 'news/wrong', 500, 'EXCEPTION_OTHER'],
      ],
    ],
    [
      'a bad path',
      '/news/list/%ff',
      [...ofError(400), ['report', 'news/list', 400, 'EXCEPTION_OTHER']],
    ],
  ]
  for (const [what, target, expected] of table) {
    it(`publish the dispatches of ${what}`, async (t) => {
      const { messages } = await observe(t, target)
      assert.deepEqual(summaryOf(messages), expected)
    })
  }

  it('publish the start before the action runs', async (t) => {
    const messages = collectMessages(t)
    let before: unknown[] = []
    const list = (): void => {
      before = summaryOf(messages)
    }
    await createFront({ news: { list } }).handle(new HttpRequest({ target: '/news/list' }))
    assert.deepEqual(before, [['start', 'news/list', undefined, undefined]])
  })

  it('publish the id of the request, the names, the route and the status', async (t) => {
    const { request, messages } = await observe(t, '/news/created/id/CANARY?dsh=CANARY')
    assert.deepEqual(messages[1], [
      'end',
      {
        id: request.id,
        method: 'GET',
        module: 'default',
        controller: 'news',
        action: 'created',
        route: 'news/created',
        status: 201,
      },
    ])
    assert.equal(messages.length, 2)
    assert.doesNotMatch(JSON.stringify(messages), /CANARY/)
  })

  it('publish one object for all events of a dispatch, and another for each dispatch', async (t) => {
    const events: [key: string, message: unknown][] = []
    t.after(subscribeToAll((key, message) => void events.push([key, message])))
    await createFront({ news }).handle(new HttpRequest({ target: '/news/reject-later' }))
    const sizeOf = (each: typeof events): number => new Set(each.map(([, message]) => message)).size
    assert.deepEqual([events.length, sizeOf(events), sizeOf(events.slice(0, 5))], [8, 3, 1])
  })

  it('publish the class of an exception, and the fingerprint of its report', async (t) => {
    const { request, messages } = await observe(t, '/news/leak?dsh=CANARY')
    assert.deepEqual(new Set(messages.map(([, { id }]) => id)), new Set([request.id]))
    const { error } = found(messages, 'error')
    const { fingerprint, message } = found(messages, 'report')
    assert.deepEqual(error, { name: 'Error', message: fingerprint })
    assert.match(
      String(fingerprint),
      /^EXCEPTION_OTHER Error observers\.test\.js:\d+:\d+ news\/leak$/,
    )
    assert.equal(message, 'it was [dsh]')
    assert.doesNotMatch(inspect(messages, { depth: 9 }), /CANARY/)
  })

  it('publish nothing of the exception of an asynchronous action, or of a thrown value', async (t) => {
    const thrown = Object.assign(Object.create(null), { message: 'CANARY', name: 'CANARY' })
    const rude = {
      text: () => Promise.reject('CANARY'),
      object() {
        throw thrown
      },
      own() {
        class CANARYc4n4ry7x extends Error {}
        throw Object.assign(new CANARYc4n4ry7x('CANARY'), { name: 'CANARY', stack: 'CANARY' })
      },
    }
    const names: unknown[] = []
    for (const action of Object.keys(rude)) {
      const { messages } = await observe(t, `/rude/${action}?dsh=CANARY`, { rude })
      names.push((found(messages, 'error').error as Error).name)
      assert.doesNotMatch(inspect(messages, { depth: 9 }), /CANARY/)
    }
    assert.deepEqual(names, ['ThrownValueError', 'ThrownValueError', 'token(14)'])
  })

  it('publish a second error in the dispatch of the error action', async (t) => {
    const { messages } = await observe(t, '/news/reject', { news, error: { error: news.fail } })
    assert.deepEqual(
      messages.map(([key]) => key),
      ['start', 'error', 'end', 'start', 'error', 'end', 'report'],
    )
    const [, last] = messages.at(-1) ?? []
    const { message, second, status, fingerprint } = last as unknown as ErrorReport
    assert.deepEqual([message, second?.message, status], ['Only editors', 'broken', 500])
    const [, failed] = messages[4] ?? []
    const { route, type, error } = failed as unknown as DispatchMessage
    assert.deepEqual([route, type, error?.name], ['news/reject', 'EXCEPTION_OTHER', 'TypeError'])
    assert.match(fingerprint, / error\/error$/)
    assert.equal(error?.message, fingerprint)
  })

  it('publish one id for a request, and names and nothing else', async (t) => {
    const { messages } = await observe(t, '/news/fail/id/1?dsh=SECRET')
    assert.equal(new Set(messages.map(([, { id }]) => id)).size, 1)
    const fields = ['action', 'controller', 'error', 'id', 'method', 'module', 'route', 'status']
    for (const [key, message] of messages) {
      if (key === 'report') continue
      for (const name of Object.keys(message)) assert.ok([...fields, 'type'].includes(name), name)
    }
    assert.doesNotMatch(JSON.stringify(messages), /SECRET/)
  })

  it('publish the shape of a name that does not look like a name', async (t) => {
    const target = `/any/${'4f0A'.repeat(9)}?x=1`
    const { messages } = await observe(t, target, { any: { __call() {} } })
    const names = messages.map(([, { controller, action, route }]) => [controller, action, route])
    assert.deepEqual(names, Array(2).fill(['any', 'token(36)', 'any/__call']))
  })

  it('publish the shape of a name in a bad path', async (t) => {
    const { messages } = await observe(t, '/0AfJohXkq9TzB3mWcR7Lp/%0a', { news: {} })
    assert.deepEqual(summaryOf(messages.slice(-1)), [
      ['report', 'token(21)/token(3)', 400, 'EXCEPTION_OTHER'],
    ])
  })

  it('publish every error, also when the log only counts it', async (t) => {
    const messages = collectMessages(t)
    const front = createFront({}, { logger: collectLog().logger })
    for (let i = 0; i < 5; i++) await front.handle(new HttpRequest({ target: '/nope' }))
    assert.equal(messages.filter(([key]) => key === 'report').length, 5)
  })

  it('publish the end of an action that exceeds its time limit at the limit', async (t) => {
    const messages = collectMessages(t)
    const hang = (): Promise<void> => new Promise(() => {})
    const front = createFront({ news: { hang } }, { limits: { actionTimeoutMs: 1 } })
    await front.handle(new HttpRequest({ target: '/news/hang' }))
    const summary = summaryOf(messages.slice(0, 5)) as unknown[][]
    assert.deepEqual(
      summary.map(([key, , status]) => [key, status]),
      [
        ['start', none],
        ['end', none],
        ['error', 503],
        ['asyncStart', 503],
        ['asyncEnd', 503],
      ],
    )
  })
})

describe('A store that is bound to the start of a dispatch', () => {
  const { start } = channels.dispatch

  /** Binds a store of routes until the test ends. */
  function bind(t: TestContext): AsyncLocalStorage<unknown> {
    const store = new AsyncLocalStorage<unknown>()
    start.bindStore(store, ({ route, controller }) => `${controller} of ${route}`)
    t.after(() => void start.unbindStore(store))
    return store
  }

  it('is there in the action, also after an await, and in the hooks of its controller', async (t) => {
    const store = bind(t)
    const seen: unknown[] = []
    const see = (): void => void seen.push(store.getStore())
    const seeLater = async (): Promise<void> => {
      see()
      await setImmediate()
      see()
    }
    const hooks = { init: see, preDispatch: see, postDispatch: see }
    const front = createFront({ news: { list: see }, late: { ...hooks, list: seeLater } })
    await front.handle(new HttpRequest({ target: '/news/list' }))
    assert.deepEqual(seen.splice(0), ['news of news/list'])
    await front.handle(new HttpRequest({ target: '/late/list' }))
    assert.deepEqual(seen, Array(5).fill('late of late/list'))
    assert.equal(store.getStore(), undefined)
  })

  it('is another one after a forward and in the error action, and is not there in plugins', async (t) => {
    const store = bind(t)
    const seen: unknown[] = []
    const see = (): void => void seen.push(store.getStore())
    const forwarding = {
      async go(request: HttpRequest) {
        see()
        await setImmediate()
        return request.forward({ controller: 'other', action: 'fail' })
      },
    }
    const fail = (): never => {
      see()
      throw new Error('broken')
    }
    const plugins = [{ preDispatch: see, postDispatch: see }]
    const controllers = { news: forwarding, other: { fail }, error: { error: see } }
    await createFront(controllers, { plugins }).handle(new HttpRequest({ target: '/news/go' }))
    const outside = undefined
    assert.deepEqual(seen, [
      ...[outside, 'news of news/go', outside],
      ...[outside, 'other of news/go'],
      ...[outside, 'error of news/go', outside],
    ])
  })
})

describe('onReport', () => {
  it('receives every fact of an error', async () => {
    const { id, fingerprint, time, durationMs, stack, ...rest } = await reportOf(
      '/news/fail/id/42?page=2',
      {
        init: { method: 'PUT' },
      },
    )
    assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    assert.match(fingerprint, /^EXCEPTION_OTHER TypeError observers\.test\.js:\d+:\d+ news\/fail$/)
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.ok(durationMs >= 0)
    assert.match(stack?.[0] ?? '', /fail .*observers\.test\.[jt]s:\d+:\d+/)
    const { previous, params, ...plain } = rest
    assert.deepEqual(plain, {
      type: 'EXCEPTION_OTHER',
      name: 'TypeError',
      message: 'broken',
      code: 'E_NEWS',
      module: 'default',
      controller: 'news',
      action: 'fail',
      route: 'news/fail',
      method: 'PUT',
      status: 500,
    })
    assert.deepEqual({ ...params }, { id: 'digits(2)', page: 'digits(1)' })
    assert.deepEqual(
      [previous?.name, previous?.message, previous?.code],
      ['RangeError', 'too far', 0],
    )
    assert.equal(previous?.previous, null)
  })

  it('receives no stack of a client error, and null without a previous exception', async () => {
    const { stack, previous, code, type } = await reportOf('/signin/v2')
    assert.deepEqual([stack, previous, code, type], [undefined, null, 0, 'EXCEPTION_NO_CONTROLLER'])
  })

  it('receives the id that the response contains', async () => {
    const { reports, onReport } = collectReports()
    const front = createFront({}, { onReport })
    const { body } = await front.handle(new HttpRequest({ target: '/none' }))
    assert.equal(JSON.parse(String(body)).instance, `urn:uuid:${reports[0]?.id}`)
  })

  it('receives the shape of each parameter, and the value of those on the allow list', async () => {
    const search =
      'ddm=0&dsh=S-1234%3A5678&continue=https%3A%2F%2Fa.example%2F%3Fb&scope=openid%20email' +
      '&flowEntry=ServiceLogin&empty=&note=hello%2C+w%C3%B6rld&page=2&q=1&controller=x'
    const { params } = await reportOf(`/none?${search}`, { logParams: ['page'] })
    assert.deepEqual(
      { ...params },
      {
        ddm: 'digits(1)',
        dsh: 'token(11)',
        continue: 'url?',
        scope: 'list(2)',
        flowEntry: 'word(12)',
        empty: 'empty',
        note: 'text(12)',
        page: '2',
      },
    )
  })

  it('receives every error, also when the log only counts it', async () => {
    const { reports, onReport } = collectReports()
    const { entries, logger } = collectLog()
    const front = createFront({}, { logger, onReport })
    for (let i = 0; i < 20; i++) await front.handle(new HttpRequest({ target: '/none' }))
    assert.deepEqual([reports.length, entries.length], [20, 1])
  })

  it('changes no response when it throws, and its exception is logged', async () => {
    const { entries, logger } = collectLog()
    const front = createFront(
      {},
      {
        logger,
        onReport() {
          throw new Error('no room')
        },
      },
    )
    const { status, exceptions } = await front.handle(new HttpRequest({ target: '/none' }))
    const logged = entries.filter(({ level }) => level === 'error')
    assert.deepEqual([status, exceptions.length, logged.length], [404, 1, 1])
  })

  it('receives nothing about a request that succeeds', async () => {
    const front = createFront({ news }, { onReport: () => assert.fail('a report') })
    assert.equal((await front.handle(new HttpRequest({ target: '/news/go' }))).status, 200)
  })
})

describe('The report of a request without a controller', () => {
  const own = 'https%3A%2F%2Fapp.example.com'
  const page =
    `access_type=offline&app_domain=${own}&client_id=0000-abc&continue=${own}%2Fconsent%3Fa%3D1%23` +
    '&ddm=0&dsh=S-1234&flowName=Flow&o2v=2&opparams=%253Fa%253Db&rart=ANgoxce' +
    `&redirect_uri=${own}%2Felp%2Foauth.php%3Fprovider%3Dexample&response_type=code&scope=a%20b` +
    '&service=lso&theme=glif'
  const stray = 'The redirect_uri names a path of this service that no controller serves'
  const table: [target: string, looksLike: string | undefined, hint?: string][] = [
    [`/signin/v2/identifier?${page}`, 'provider page', stray],
    [`/lifecycle/flows/Flow?${page}&flowEntry=ServiceLogin`, 'provider page', stray],
    ['/a?dsh=1&continue=https%3A%2F%2Fa.example', 'provider page'],
    ['/a?client_id=1&response_type=code', 'authorization request'],
    [`/a?client_id=1&app_domain=${own}&redirect_uri=${own}%2Fcb`, 'authorization request', stray],
    ['/elp/oauth.php?provider=example&code=SECRET&state=SECRET', 'callback'],
    ['/elp/oauth.php?error=access_denied&state=SECRET', 'callback'],
    ['/a?client_id=1', undefined],
    ['/a?code=1', undefined],
    ['/a?state=1', undefined],
    ['/a', undefined],
  ]
  for (const [target, looksLike, hint] of table) {
    it(`names the kind of ${target.slice(0, 50)}: ${looksLike ?? 'none'}`, async () => {
      const report = await reportOf(target)
      assert.equal(report.looksLike, looksLike)
      assert.equal(typeof report.hint, looksLike === undefined ? 'undefined' : 'string')
      if (hint !== undefined) assert.equal(report.hint, hint)
      assert.doesNotMatch(JSON.stringify(report), /SECRET|app\.example/)
    })
  }

  it('has another hint when a controller serves the redirect_uri', async () => {
    const target = `/a?client_id=1&app_domain=${own}&redirect_uri=${own}%2Fnews%2Flist`
    const { looksLike, hint } = await reportOf(target)
    assert.equal(looksLike, 'authorization request')
    assert.notEqual(hint, stray)
  })

  it('has neither kind nor hint when the request has a controller', async () => {
    const { looksLike, hint } = await reportOf(`/news/fail?${page}`)
    assert.deepEqual([looksLike, hint], [undefined, undefined])
  })
})

const crashing = `
export function timer(request, response) {
  const id = request.param('id')
  setTimeout(() => { throw new TypeError('Cannot open the file ' + id, { cause: new Error('no such user: ' + id) }) })
  response.text('ok')
}
export function rejection(request, response) {
  const id = request.param('id')
  setTimeout(() => { Promise.reject(new RangeError('The value ' + id + ' is out of range')) })
  response.text('ok')
}`

describe('An observer that fails for each report', () => {
  it('does not keep the program from stopping', async (t) => {
    const folder = createFolder(t, {
      'app.mjs': `import { channel } from 'node:diagnostics_channel'
        channel('portico.report').subscribe((report) => { report.params.id.length })
        export default { controllers: { news: { index() { throw new Error('no article') } } } }`,
    })
    const server = new ServerProcess(t, ['--port=0', `--app=${folder}/app.mjs`])
    assert.equal((await exchange(await server.port(), { target: '/news' })).status, 500)
    const { code, stdout } = await server.ended
    assert.equal(code, 1)
    assert.ok(logLinesOf(stdout).some(({ event }) => event === 'stop'))
  })
})

describe('The log of an exception outside of any request', () => {
  const table: [action: string, name: string, message: string][] = [
    ['timer', 'TypeError', 'Cannot open the file token(10)'],
    ['rejection', 'RangeError', 'The value token(10) is out of range'],
  ]
  for (const [action, name, message] of table) {
    for (const env of ['production', 'development']) {
      it(`has the known words of the message, and the frames: ${action}, ${env}`, async (t) => {
        const folder = createFolder(t, { 'news.mjs': crashing })
        const args = ['--port', '0', '--controllers', folder, '--env', env]
        const server = new ServerProcess(t, args)
        const target = `/news/${action}/id/c4n4ry-Tok`
        assert.equal((await exchange(await server.port(), { target })).status, 200)
        const { code, stdout, stderr } = await server.ended
        assert.deepEqual([code, stderr], [1, ''])
        assert.doesNotMatch(stdout, /c4n4ry/)
        const line = logLinesOf(stdout).find(({ event }) => event === 'error')
        assert.deepEqual([line.name, line.message, line.method], [name, message, ''])
        assert.match(line.stack[0], /news\.mjs:\d+:\d+/)
        assert.match(line.fingerprint, new RegExp(`^EXCEPTION_OTHER ${name} news\\.mjs:\\d+:\\d+$`))
        if (action === 'timer') assert.equal(line.previous.message, 'no such user: token(10)')
      })
    }
  }
})
