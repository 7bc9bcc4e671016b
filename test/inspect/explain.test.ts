import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FrontController } from '../../lib/dispatch/front-controller.ts'
import type { FrontControllerOptions } from '../../lib/dispatch/options.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import { type Explanation, explain } from '../../lib/inspect/explain.ts'
import type { RoutePatterns } from '../../lib/routing/route-pattern.ts'
import { knownParams } from '../../lib/scrubbing/sent-params.ts'

const action = (): undefined => undefined
const save = Object.assign((): undefined => undefined, { methods: ['POST'] })

const options: FrontControllerOptions = {
  controllers: new Map([
    ['index', { index: action }],
    ['news', { list: action, view: action, save }],
  ]),
  modules: new Map([['admin', new Map([['report', { daily: action }]])]]),
}

function explained(target: string, method = 'GET', more: FrontControllerOptions = {}): Explanation {
  return explain(new FrontController({ ...options, ...more }), { method, target })
}

describe('explain()', () => {
  it('shows the target, the path, the names and the pairs', () => {
    const found = explained('/admin/report/daily/day/friday/page/2/rest?x=https://a.example/?b')
    assert.deepEqual(
      { ...found, runs: found.runs?.name },
      {
        method: 'GET',
        target: '/admin/report/daily/day/word(6)/page/digits(1)/word(4)?x=url?',
        path: '/admin/report/daily/day/word(6)/page/digits(1)/word(4)',
        q: 'token(42)',
        module: 'admin',
        controller: 'report',
        action: 'daily',
        parameters: [
          { name: 'day', source: 'path', shape: 'word(6)', values: 1, hiddenBy: null },
          { name: 'page', source: 'path', shape: 'digits(1)', values: 1, hiddenBy: null },
          { name: 'x', source: 'query', shape: 'url?', values: 1, hiddenBy: null },
        ],
        droppedKey: 'word(4)',
        runs: 'admin/report/daily',
        allow: null,
        file: null,
        error: null,
      },
    )
  })

  it('ends with a public file before any action or error', () => {
    for (const target of ['/news/list', '/none']) {
      const front = new FrontController(options)
      const { file, runs, error } = explain(front, { method: 'GET', target }, '/public/list')
      assert.deepEqual([file, runs, error], ['/public/list', null, null])
    }
  })

  it('shows the source of each parameter, and which values are hidden or ignored', () => {
    const { parameters } = explained('/news/list/id/1?id=22&id=333&action=x&q=yy')
    assert.deepEqual(parameters, [
      { name: 'id', source: 'path', shape: 'digits(1)', values: 1, hiddenBy: null },
      { name: 'id', source: 'query', shape: 'digits(3)', values: 2, hiddenBy: 'path' },
      { name: 'action', source: 'query', shape: 'word(1)', values: 1, hiddenBy: 'routing' },
      { name: 'q', source: 'query', shape: 'word(2)', values: 1, hiddenBy: 'routing' },
    ])
  })

  it('lists the registered controllers for a missing one, and the nearest name', () => {
    const { runs, error } = explained('/nwes/list')
    assert.equal(runs, null)
    assert.deepEqual(error && { ...error, answeredBy: error.answeredBy?.name }, {
      status: 404,
      type: 'EXCEPTION_NO_CONTROLLER',
      message: 'Invalid controller specified (nwes)',
      why: [
        'The module default has no controller nwes; it has index, news',
        'Registered modules: default, admin',
      ],
      nearest: 'news/list',
      answeredBy: 'error/error',
    })
  })

  it('finds the nearest action, module, controller, and name in another case', () => {
    const table: [string, string | null][] = [
      ['/news/lst', 'news/list'],
      ['/admni/report/daily', 'admin/report/daily'],
      ['/admin/report/dayli', 'admin/report/daily'],
      ['/nwes', 'news'],
      ['/NEWS/LIST', 'news/list'],
      ['/signin/v2', null],
    ]
    for (const [target, nearest] of table) {
      assert.equal(explained(target).error?.nearest, nearest, target)
    }
  })

  it('gives the reason for a missing action and for the error controller', () => {
    assert.deepEqual(explained('/news/lst').error?.why, [
      'The controller news has no action lst; it has list, view, save',
    ])
    const [why] = explained('/error').error?.why ?? []
    assert.equal(why, 'The error controller handles errors and cannot be requested')
  })

  it('applies methods: 405, and Allow for OPTIONS', () => {
    const { error } = explained('/news/save')
    assert.deepEqual([error?.status, error?.why], [405, ['The action accepts POST, OPTIONS']])
    assert.equal(explained('/news/save', 'POST').runs?.name, 'news/save')
    const { allow, runs, error: none } = explained('/news/save', 'OPTIONS')
    assert.deepEqual([allow, runs, none], [['POST', 'OPTIONS'], null, null])
    assert.equal(explained('/news/list', 'TRACE').error?.status, 405)
  })

  it('shows a request that is rejected before the action is looked up', () => {
    const table: [string, number][] = [
      ['/news/%zz', 400],
      ['/news/a%00b', 400],
      ['*', 400],
      ['/news/list#x', 400],
      [`/${'a'.repeat(9_000)}`, 414],
      [`/news/list?${'a=1&'.repeat(1_001)}`, 400],
    ]
    for (const [target, status] of table) {
      const limits = { maxTargetBytes: target.startsWith('/news') ? 99_999 : 8_192 }
      const { error } = explained(target, 'GET', { limits })
      assert.equal(error?.status, status, target)
      assert.deepEqual(error.why, ['The request is rejected before the action is looked up'])
    }
  })

  it('applies the base path', () => {
    const inside = explained('/app/news/list', 'GET', { basePath: '/app' })
    assert.deepEqual([inside.target, inside.path], ['/app/news/list', '/news/list'])
    const { target, error } = explained('/news/list', 'GET', { basePath: '/app' })
    assert.equal(target, '/news/list')
    assert.deepEqual(
      [error?.type, error?.why],
      ['EXCEPTION_NO_ROUTE', ['The path does not begin with the base path /app']],
    )
  })

  it('recognizes a sign-in, and compares its redirect_uri with the host of a whole URL', () => {
    const query = 'client_id=c&redirect_uri=https%3A%2F%2Fown.example%2Fno%2Fsuch'
    assert.equal(explained(`/signin/v2?${query}`).error?.looksLike, 'authorization request')
    const { target, error } = explained(`https://own.example/signin/v2?${query}`)
    assert.equal(target, '/signin/v2?client_id=word(1)&redirect_uri=url')
    assert.match(error?.hint ?? '', /no controller serves/)
  })

  it('shows a named route: its literals, the shapes of its variables, and the pairs of its *', () => {
    const routes = {
      note: { path: '/note/:id', defaults: { controller: 'news', action: 'view' } },
      files: { path: '/f/:bucket/:action/*', defaults: { controller: 'news' } },
      year: { path: '/grün/:year', defaults: { controller: 'news', action: 'list', year: 2026 } },
    }
    const table: [string, string, string | null][] = [
      ['/note/12', '/note/digits(2)', null],
      ['/f/friday/view/sort/name', '/f/word(6)/view/sort/word(4)', null],
      ['/f/friday/view/sort/name/left', '/f/word(6)/view/sort/word(4)/word(4)', 'word(4)'],
      ['/gr%C3%BCn/x%20y', '/gr%C3%BCn/list(2)', null],
      ['/gr%C3%BCn', '/gr%C3%BCn', null],
    ]
    for (const [target, path, dropped] of table) {
      const found = explained(target, 'GET', { routes })
      assert.deepEqual([found.path, found.target, found.droppedKey], [path, path, dropped])
    }
  })

  it('shows the names of a custom router, and the shapes of all other segments', () => {
    const router = {
      route: () => ({ module: 'default', controller: 'news', action: 'view', pairs: 'id/hunter' }),
    }
    const { path, runs } = explained('/n/hunter/news', 'GET', { router })
    assert.deepEqual([path, runs?.name], ['/word(1)/word(6)/news', 'news/view'])
  })

  it('shows no value of a request', () => {
    const c = 'c4n4ry-V4LU3-0Af'
    const targets = [
      `/${c}/${c}/${c}/${c}/${c}?${c}=${c}&a=${c}`,
      `/admin/${c}/${c}/x/${c}`,
      `/news/list/id/${c}/${c}`,
      `/news/list/id/x%2F${c}//${c}/`,
      `//${c}/${c}//`,
      `https://user:${c}@a.example/x?a=${c}`,
      `/news/%zz/${c}/${c}?${c}`,
      `${c}/${c}`,
      `/news/list#${c}`,
      `/signin/v2?code=${c}&state=${c}&redirect_uri=https://a.example/${c}?${c}`,
      `/news/save/${c}?${c}&&=${c}&q=${c}`,
      `/error/error/${c}?error_handler=${c}`,
      `/n/${c}`,
      `/n/${c}/${c}/${c}/${c}`,
    ]
    const routes = {
      short: { path: '/:key', defaults: { controller: 'news' } },
      long: { path: '/n/:quite-a-long-variable/*', defaults: { controller: 'news' } },
      three: { path: '/:action/:a/:b', defaults: { controller: 'news' } },
    }
    const router = { route: () => ({ module: c, controller: c, action: c, pairs: `a/${c}` }) }
    const rules = [{ basePath: '/app' }, { names: 'zf1' }, { routes }, { router }] as const
    for (const more of [{}, ...rules]) {
      for (const target of targets) {
        assert.doesNotMatch(JSON.stringify(explained(target, 'GET', more)), /c4n4ry/i, target)
      }
    }
  })

  it('shows names as a report shows them', () => {
    const list = Object.assign((): undefined => undefined, { [knownParams]: new Set(['code']) })
    const more = {
      controllers: new Map([['news', { list }]]),
      routes: {
        part: { regex: 'of-(\\w+)\\.html', map: { 1: 'action' }, defaults: { controller: 'news' } },
      },
    }
    const { target, path, parameters } = explained('/news/list/hunter/a?code=b&hunter', 'GET', more)
    assert.equal(path, '/news/list/word(6)/word(1)')
    assert.equal(target, `${path}?code=word(1)&word(6)=empty`)
    assert.deepEqual(
      parameters.map(({ name }) => name),
      ['word(6)', 'code', 'word(6)'],
    )
    const found = explained('/of-hunter.html', 'GET', more)
    assert.equal(found.action, 'word(6)')
    assert.doesNotMatch(JSON.stringify(found), /hunter/)
  })

  it('agrees with the front controller', async () => {
    const front = new FrontController(options)
    const targets = ['/', '/news', '/news/list', '/news/save', '/error', '/admin', '/a%zz', '//']
    for (const method of ['GET', 'POST', 'OPTIONS', 'TRACE']) {
      for (const target of targets) {
        const { status } = await front.handle(new HttpRequest({ method, target }))
        const { error, allow } = explained(target, method)
        assert.equal(error?.status ?? (allow ? 204 : 200), status, `${method} ${target}`)
      }
    }
  })
})

describe('explain() with named routes', () => {
  const routes: RoutePatterns = {
    account: { host: ':account.news.example', path: '/in/:secret' },
    secure: { scheme: 'https', path: '/in/:secret' },
    other: { path: '/elsewhere' },
    digits: { path: '/in/:secret', requirements: { secret: '\\d+' } },
    regex: { regex: 'x-(?<secret>\\w+)', defaults: { controller: 'news', action: 'view' } },
    rest: { rest: { default: ['news'] } },
  }
  const reasonsOf = ({ tried = [] }: Explanation) =>
    tried.map(({ name, kinds, reason }) => [name, kinds.join(' '), reason])

  it('shows which route matched, and why those before it did not', () => {
    const missed = [
      ['rest', 'rest', 'the controller is not one of its resources'],
      ['regex', 'regex', 'the regex does not match'],
      ['digits', 'path', 'the requirement for "secret" is not met'],
      ['other', 'path', 'the path differs'],
    ]
    const secure = ['secure', 'scheme path']
    const found = explained('https://a.example/in/hunter2', 'GET', { routes })
    assert.equal(found.route, 'secure')
    assert.deepEqual(reasonsOf(found), [...missed, [...secure, null]])
    const byHost = explained('http://acme.news.example/in/hunter2', 'GET', { routes })
    assert.deepEqual(reasonsOf(byHost), [
      ...missed,
      [...secure, 'the scheme differs'],
      ['account', 'host path', null],
    ])
    const byDefault = explained('/in/hunter2', 'GET', { routes })
    assert.equal(byDefault.route, 'default')
    assert.deepEqual(reasonsOf(byDefault).at(-1), ['account', 'host path', 'the host differs'])
  })

  it('never shows a value', () => {
    for (const target of [
      'https://a.example/in/hunter2',
      '/x-hunter2',
      '/in/77777',
      '/news/hunter2',
    ]) {
      const found = explained(target, 'GET', { routes })
      assert.doesNotMatch(JSON.stringify(found), /hunter2|77777/, target)
    }
    assert.equal(explained('/in/77777', 'GET', { routes }).path, '/in/digits(5)')
  })

  it('shows Allow of a REST resource', () => {
    const more = { controllers: new Map([['news', { get: action, put: action }]]), routes }
    assert.deepEqual(explained('/news/5', 'OPTIONS', more).allow, [
      ...['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS'],
    ])
  })
})
