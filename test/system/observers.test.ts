import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { describe, it, type TestContext } from 'node:test'
import {
  channels,
  type ErrorReport,
  FrontController,
  type FrontControllerOptions,
  HttpError,
  HttpRequest,
} from '../../lib/index.ts'

const names = {
  start: 'portico:dispatch:start',
  end: 'portico:dispatch:end',
  error: 'portico:dispatch:error',
  redispatch: 'portico:error:redispatch',
} as const

const news = {
  list: () => {},
  go: (request: HttpRequest) => request.forward({ action: 'list' }),
  refuse: () => {
    throw new HttpError(403, 'Only editors')
  },
  fail: () => {
    throw Object.assign(new TypeError('broken', { cause: new RangeError('too far') }), {
      code: 'E_NEWS',
    })
  },
}

type Told = readonly [channel: string, message: Record<string, unknown>]

/** Runs one request, and returns what the channels told of it, in order. */
async function observe(
  t: TestContext,
  target: string,
  options: FrontControllerOptions = {},
): Promise<Told[]> {
  const told: Told[] = []
  for (const [key, name] of Object.entries(names)) {
    const listen = (message: unknown): void => {
      told.push([key, message as Record<string, unknown>])
    }
    // By its name, as a stranger would.
    channel(name).subscribe(listen)
    t.after(() => channel(name).unsubscribe(listen))
  }
  const front = new FrontController({ controllers: new Map([['news', news]]), ...options })
  await front.handle(new HttpRequest({ target }))
  return told
}

/** The report of one request. */
async function report(
  target: string,
  options: FrontControllerOptions & { init?: object } = {},
): Promise<ErrorReport> {
  const { init, ...rest } = options
  const reports: ErrorReport[] = []
  const front = new FrontController({
    controllers: new Map([['news', news]]),
    ...rest,
    onReport: (each) => reports.push(each),
  })
  await front.handle(new HttpRequest({ target, ...init }))
  assert.equal(reports.length, 1)
  return reports[0] as ErrorReport
}

describe('channels', () => {
  it('are those of node:diagnostics_channel under their names', () => {
    for (const [key, name] of Object.entries(names)) {
      assert.equal(channels[key as keyof typeof names], channel(name))
    }
  })

  const error = 'error/error'
  const table: [what: string, target: string, events: string[]][] = [
    ['a request that succeeds', '/news/list?dsh=x', ['start news/list', 'end news/list 200']],
    [
      'a forward',
      '/news/go',
      ['start news/go', 'end news/go 200', 'start news/list', 'end news/list 200'],
    ],
    [
      'an unknown controller',
      '/signin/v2',
      [
        'start signin/v2',
        'redispatch signin/v2 EXCEPTION_NO_CONTROLLER',
        `start ${error}`,
        `end ${error} 404`,
        'error signin/v2 EXCEPTION_NO_CONTROLLER 404',
      ],
    ],
    [
      'an action that fails',
      '/news/fail/id/1',
      [
        'start news/fail',
        'redispatch news/fail EXCEPTION_OTHER',
        `start ${error}`,
        `end ${error} 500`,
        'error news/fail EXCEPTION_OTHER 500',
      ],
    ],
    [
      'a bad path',
      '/news/list/%ff',
      [
        'redispatch news/list EXCEPTION_OTHER',
        `start ${error}`,
        `end ${error} 400`,
        'error news/list EXCEPTION_OTHER 400',
      ],
    ],
  ]
  for (const [what, target, events] of table) {
    it(`tell of ${what}`, async (t) => {
      const told = await observe(t, target)
      const lines = told.map(([key, { controller, action, status, type }]) =>
        [key, `${controller}/${action}`, type, status]
          .filter((each) => each !== undefined)
          .join(' '),
      )
      assert.deepEqual(lines, events)
    })
  }

  it('tell of a second fault once, with both', async (t) => {
    const controllers = new Map<string, object>([
      ['news', news],
      ['error', { error: news.fail }],
    ])
    const told = await observe(t, '/news/refuse', { controllers: controllers as never })
    assert.deepEqual(
      told.map(([key]) => key),
      ['start', 'redispatch', 'start', 'error'],
    )
    const [, last] = told.at(-1) ?? []
    const { message, second, status } = last as unknown as ErrorReport
    assert.deepEqual([message, second?.message, status], ['Only editors', 'broken', 500])
  })

  it('name the request by one id, and hold names and nothing else', async (t) => {
    const told = await observe(t, '/news/fail/id/1?dsh=SECRET')
    assert.equal(new Set(told.map(([, { id }]) => id)).size, 1)
    for (const [key, message] of told) {
      if (key === 'error') continue
      const fields = ['action', 'controller', 'id', 'method', 'module', 'status', 'type']
      assert.deepEqual(Object.keys(message).sort(), fields)
    }
    assert.doesNotMatch(JSON.stringify(told), /SECRET/)
  })

  it('show a name that looks like none by its shape', async (t) => {
    for (const [, { controller, action }] of await observe(t, `/a%20b/${'4f0A'.repeat(9)}?x=1`)) {
      if (controller === 'error') continue
      assert.deepEqual([controller, action], ['token(5)', 'token(36)'])
    }
  })
})

describe('onReport', () => {
  it('is handed the whole story of an error', async () => {
    const { id, time, durationMs, stack, ...rest } = await report('/news/fail/id/42?page=2', {
      init: { method: 'PUT' },
    })
    assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
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

  it('tells no stack of what is no fault of the server, and null for no previous one', async () => {
    const { stack, previous, code, type } = await report('/signin/v2')
    assert.deepEqual([stack, previous, code, type], [undefined, null, 0, 'EXCEPTION_NO_CONTROLLER'])
  })

  it('has the id that the client is told', async () => {
    const reports: ErrorReport[] = []
    const front = new FrontController({ onReport: (each) => reports.push(each) })
    const { body } = await front.handle(new HttpRequest({ target: '/none' }))
    assert.equal(JSON.parse(String(body)).instance, `urn:uuid:${reports[0]?.id}`)
  })

  it('is handed the shape of each parameter, and the value of those on the allow list', async () => {
    const search =
      'ddm=0&dsh=S-1234%3A5678&continue=https%3A%2F%2Fa.example%2F%3Fb&scope=openid%20email' +
      '&flowEntry=ServiceLogin&empty=&note=hello%2C+w%C3%B6rld&page=2&q=1&controller=x'
    const { params } = await report(`/none?${search}`, { logParams: ['page'] })
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

  it('is handed every error, those too that the log only counts', async () => {
    let reports = 0
    let lines = 0
    const count = (): unknown => lines++
    const front = new FrontController({
      logger: { info: count, warn: count, error: count },
      onReport: () => reports++,
    })
    for (let i = 0; i < 20; i++) await front.handle(new HttpRequest({ target: '/none' }))
    assert.deepEqual([reports, lines], [20, 1])
  })

  it('changes no answer when it throws, and that is logged', async () => {
    const logged: object[] = []
    const front = new FrontController({
      logger: { info() {}, warn() {}, error: (fields) => logged.push(fields) },
      onReport() {
        throw new Error('no room')
      },
    })
    const { status, exceptions } = await front.handle(new HttpRequest({ target: '/none' }))
    assert.deepEqual([status, exceptions.length, logged.length], [404, 1, 1])
  })

  it('is not told of requests that succeed', async () => {
    const front = new FrontController({
      controllers: new Map([['news', news]]),
      onReport: () => assert.fail('a report'),
    })
    assert.equal((await front.handle(new HttpRequest({ target: '/news/go' }))).status, 200)
  })
})

describe('A report of an unrouted request', () => {
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
    it(`says what ${target.slice(0, 50)} looks like: ${looksLike ?? 'nothing'}`, async () => {
      const told = await report(target)
      assert.equal(told.looksLike, looksLike)
      assert.equal(typeof told.hint, looksLike === undefined ? 'undefined' : 'string')
      if (hint !== undefined) assert.equal(told.hint, hint)
      assert.doesNotMatch(JSON.stringify(told), /SECRET|app\.example/)
    })
  }

  it('does not call a redirect_uri stray that a controller serves', async () => {
    const target = `/a?client_id=1&app_domain=${own}&redirect_uri=${own}%2Fnews%2Flist`
    const { looksLike, hint } = await report(target)
    assert.equal(looksLike, 'authorization request')
    assert.notEqual(hint, stray)
  })

  it('says nothing of a request that is routed', async () => {
    const { looksLike, hint } = await report(`/news/fail?${page}`)
    assert.deepEqual([looksLike, hint], [undefined, undefined])
  })
})
