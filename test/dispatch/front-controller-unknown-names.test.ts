import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpRequest } from '../../lib/index.ts'
import {
  createWatchedFront,
  expectDispatch,
  expectError,
  factsOf,
  namesOf,
  urlEncoded,
} from '../support/loop.ts'

const rules = ['exact', 'zf1'] as const
const objectNames = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', 'valueOf']

describe('FrontController.handle() without an action of the requested name', () => {
  it('dispatches error/error with the names as requested', async () => {
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
      const [run, response] = await expectError({ list() {} }, target, options)
      assert.deepEqual(factsOf(run), [type, message, code])
      assert.equal(run.exception.cause, undefined)
      assert.deepEqual([...namesOf(run.request), run.request.q], names)
      assert.equal(response.status, 404)
    }
  })

  it('knows one spelling of a name under exact, and folds names under zf1', async () => {
    for (const target of ['/NEWS/list', '/news/LIST', '/n.ews!/list', '/news/l!ist']) {
      const [run] = await expectError({ list() {} }, target)
      assert.match(run.type, /NO_(CONTROLLER|ACTION)/)
    }
    const { front, runs } = createWatchedFront({ list() {} }, { names: 'zf1' })
    for (const target of ['/NEWS/list', '/news/LIST', '/news!/list', '/news/l!ist']) {
      assert.equal((await front.handle(new HttpRequest({ target }))).status, 200, target)
    }
    assert.deepEqual(runs, [])
  })

  it('treats the names of inherited properties as ordinary names', async () => {
    for (const names of rules) {
      for (const name of objectNames) {
        const [asController] = await expectError({}, `/${name}/${name}`, { names })
        assert.deepEqual(factsOf(asController), [
          'EXCEPTION_NO_CONTROLLER',
          `Invalid controller specified (${name})`,
          0,
        ])
        const [asAction] = await expectError({}, `/news/${name}`, { names })
        assert.deepEqual(factsOf(asAction), [
          'EXCEPTION_NO_ACTION',
          `Action "${name}" does not exist`,
          404,
        ])
      }
    }
  })

  it('treats the names of inherited properties as data in parameters', async () => {
    for (const name of objectNames) {
      const post = { method: 'POST', headers: urlEncoded }
      for (const request of [
        { target: `/news/list/${name}/value` },
        { target: `/news/list?${name}=value` },
        { ...post, target: '/news/list', body: `${name}=value` },
      ]) {
        const received = await expectDispatch(request)
        assert.equal(received.param(name), 'value')
      }
      assert.equal((await expectDispatch('/news/list')).param(name), undefined)
    }
  })

  it('does not route a request to error/error', async () => {
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
          const [run] = await expectError({}, { target, method }, { names })
          assert.equal(run.type, 'EXCEPTION_NO_CONTROLLER')
          assert.equal(run.exception.message, `Invalid controller specified (${name})`)
          assert.equal(run.request.errorHandler, undefined)
        }
      }
    }
  })

  it('does not reach error/error by a router or a forward', async () => {
    const destination = { module: 'default', controller: 'error', action: 'error' }
    const [routed] = await expectError({}, '/', { router: { route: () => destination } })
    assert.equal(routed.type, 'EXCEPTION_NO_CONTROLLER')
    const list = (request: HttpRequest): HttpRequest => request.forward(destination)
    const [forwarded] = await expectError({ list }, '/news/list')
    assert.equal(forwarded.type, 'EXCEPTION_NO_CONTROLLER')
  })
})
