import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FrontController } from '../../lib/dispatch/front-controller.ts'
import type { FrontControllerOptions } from '../../lib/dispatch/options.ts'
import { HttpRequest } from '../../lib/http/request.ts'
import { type Explanation, explain } from '../../lib/inspect/explain.ts'
import { siteOf } from '../../lib/inspect/site.ts'

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
  return explain(siteOf({ ...options, ...more }), { method, target })
}

describe('explain()', () => {
  it('goes from the target to the path, to names, to pairs', () => {
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
        error: null,
      },
    )
  })

  it('tells which source a parameter has, what is hidden, and what is ignored', () => {
    const { parameters } = explained('/news/list/id/1?id=22&id=333&action=x&q=yy')
    assert.deepEqual(parameters, [
      { name: 'id', source: 'path', shape: 'digits(1)', values: 1, hiddenBy: null },
      { name: 'id', source: 'query', shape: 'digits(3)', values: 2, hiddenBy: 'path' },
      { name: 'action', source: 'query', shape: 'word(1)', values: 1, hiddenBy: 'routing' },
      { name: 'q', source: 'query', shape: 'word(2)', values: 1, hiddenBy: 'routing' },
    ])
  })

  it('tells of a controller that is missing which there are, and the nearest', () => {
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

  it('finds the nearest of an action, of a module, of a controller alone, and in other letters', () => {
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

  it('says why, for an action that is missing and for the error controller', () => {
    assert.deepEqual(explained('/news/lst').error?.why, [
      'The controller news has no action lst; it has list, view, save',
    ])
    const [why] = explained('/error').error?.why ?? []
    assert.equal(why, 'The error controller answers for errors, and can not be asked for')
  })

  it('knows methods: 405, and what OPTIONS is told', () => {
    const { error } = explained('/news/save')
    assert.deepEqual([error?.status, error?.why], [405, ['The action takes POST, OPTIONS']])
    assert.equal(explained('/news/save', 'POST').runs?.name, 'news/save')
    const { allow, runs, error: none } = explained('/news/save', 'OPTIONS')
    assert.deepEqual([allow, runs, none], [['POST', 'OPTIONS'], null, null])
    assert.equal(explained('/news/list', 'TRACE').error?.status, 405)
  })

  it('tells what is refused before an action is looked up', () => {
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
      assert.equal(explained(target, 'GET', { limits }).error?.status, status, target)
    }
  })

  it('knows the base path', () => {
    const inside = explained('/app/news/list', 'GET', { basePath: '/app' })
    assert.deepEqual([inside.target, inside.path], ['/app/news/list', '/news/list'])
    const { target, error } = explained('/news/list', 'GET', { basePath: '/app' })
    assert.equal(target, '/news/list')
    assert.deepEqual(
      [error?.type, error?.why],
      ['EXCEPTION_NO_ROUTE', ['The path does not begin with the base path /app']],
    )
  })

  it('recognizes a sign-in, and by the host of a whole URL whose redirect_uri it has', () => {
    const query = 'client_id=c&redirect_uri=https%3A%2F%2Fown.example%2Fno%2Fsuch'
    assert.equal(explained(`/signin/v2?${query}`).error?.looksLike, 'authorization request')
    const { target, error } = explained(`https://own.example/signin/v2?${query}`)
    assert.equal(target, '/signin/v2?client_id=word(1)&redirect_uri=url')
    assert.match(error?.hint ?? '', /no controller serves/)
  })

  it('shows no value, wherever it stands', () => {
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
    ]
    for (const more of [{}, { basePath: '/app' }, { names: 'zf1' } as const]) {
      for (const target of targets) {
        assert.doesNotMatch(JSON.stringify(explained(target, 'GET', more)), /c4n4ry/i, target)
      }
    }
  })

  it('comes to what the front controller comes to', async () => {
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
