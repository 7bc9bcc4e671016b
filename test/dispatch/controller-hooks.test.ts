import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import {
  type Action,
  HttpError,
  HttpRequest,
  type HttpResponse,
  NoActionError,
} from '../../lib/index.ts'
import { createFront } from '../support/front.ts'

/** Returns a controller whose functions note their names; `own` replaces some of them. */
function noting(calls: string[], own: Record<string, Action> = {}): Record<string, Action> {
  const names = ['init', 'preDispatch', 'index', 'list', 'postDispatch']
  const noters = names.map((name) => [name, () => void calls.push(name)] as const)
  const others = Object.entries(own).map(([name, run]): [string, Action] => [
    name,
    (request, response) => {
      calls.push(name)
      return run(request, response)
    },
  ])
  return Object.fromEntries([...noters, ...others])
}

async function handle(
  account: object,
  target: string,
  others: object = {},
  init: { method?: string } = {},
): Promise<HttpResponse> {
  const front = createFront({ account, ...others })
  return front.handle(new HttpRequest({ target, ...init }))
}

describe('the hooks of a controller', () => {
  it('run around each action, in the order of ZF1', async () => {
    const calls: string[] = []
    await handle(noting(calls), '/account/list')
    assert.deepEqual(calls, ['init', 'preDispatch', 'list', 'postDispatch'])
  })

  it('must be functions, spelt exactly: a guard would not run', () => {
    const guard = (): never => {
      throw new HttpError(401)
    }
    class Base {
      preDispatch(): never {
        return guard()
      }
    }
    const hiding = ['text', undefined, null, guard, [guard]].flatMap((value) => [
      Object.defineProperty(new Base(), 'preDispatch', { value }),
      Object.defineProperty(new (class extends Base {})(), 'preDispatch', { get: () => value }),
      new (class extends Base {
        static {
          Object.defineProperty(this.prototype, 'preDispatch', { get: () => value })
        }
      })(),
    ])
    class Setter extends Base {
      static {
        Object.defineProperty(this.prototype, 'preDispatch', { set() {} })
      }
    }
    const wrong: [object, RegExp][] = [
      ...[...hiding, new Setter()].map((each): [object, RegExp] => [
        each,
        /Expected "preDispatch"/,
      ]),
      [
        { preDispatch: [guard] },
        /Expected "preDispatch" of the controller "account" to be a function/,
      ],
      [{ preDispatch: { preDispatch: guard } }, /Expected "preDispatch"/],
      [{ init: Promise.resolve(guard) }, /Expected "init"/],
      [{ postDispatch: class {} }, /Expected "postDispatch"/],
      [{ index() {}, preDispatch: undefined }, /Expected "preDispatch"/],
      [{ index() {}, __call: null }, /Expected "__call"/],
      [{ __call: ['index'] }, /Expected "__call"/],
      [
        { predispatch: guard },
        /no hook "predispatch" for the controller "account": did you mean "preDispatch"/,
      ],
    ]
    for (const [account, message] of wrong) {
      assert.throws(() => createFront({ account }), { name: 'TypeError', message })
    }
  })

  it('are never actions, in no spelling', async () => {
    for (const names of ['exact', 'zf1'] as const) {
      const front = createFront({ account: noting([]) }, { names })
      for (const action of [
        'init',
        'pre-dispatch',
        'post-dispatch',
        'preDispatch',
        '__call',
        'pre.dispatch',
      ]) {
        const response = await front.handle(new HttpRequest({ target: `/account/${action}` }))
        assert.equal(response.status, 404, action)
        assert.ok(response.exceptions[0] instanceof NoActionError, action)
      }
    }
  })

  it('may be asynchronous, with `this` as for actions', async () => {
    const account = {
      user: '',
      async init() {
        await turn()
        this.user = 'ada'
      },
      async preDispatch() {
        await turn()
        this.user += '!'
      },
      list(_: HttpRequest, response: HttpResponse) {
        response.text(this.user)
      },
      async postDispatch(_: HttpRequest, response: HttpResponse) {
        await turn()
        response.text(`${response.body}?`)
      },
    }
    assert.equal((await handle(account, '/account/list')).body, 'ada!?')
  })

  it('guard every action, and every name that is none', async () => {
    const guard: Action = () => {
      throw new HttpError(403, 'Forbidden')
    }
    for (const hook of ['init', 'preDispatch']) {
      for (const target of ['/account', '/account/list', '/account/missing']) {
        const calls: string[] = []
        const { status } = await handle(noting(calls, { [hook]: guard }), target)
        assert.equal(status, 403, `${hook} ${target}`)
        assert.equal(calls.at(-1), hook)
      }
    }
  })

  it('run before a missing action is reported', async () => {
    const calls: string[] = []
    const response = await handle(noting(calls), '/account/missing')
    assert.equal(response.exceptions[0]?.message, 'Action "missing" does not exist')
    assert.deepEqual(calls, ['init', 'preDispatch'])
  })

  it('can return a request, which is dispatched instead', async () => {
    for (const hook of ['init', 'preDispatch']) {
      const calls: string[] = []
      const forward: Action = (request) => request.forward({ controller: 'login', action: 'index' })
      const login = { index: (_: HttpRequest, response: HttpResponse) => response.text('log in') }
      const { body } = await handle(noting(calls, { [hook]: forward }), '/account/list', { login })
      assert.equal(body, 'log in')
      assert.equal(calls.at(-1), hook)
    }
  })

  it('run for each forward, and for the error action', async () => {
    const calls: string[] = []
    const list: Action = (request) => request.forward({ action: 'index' })
    await handle(noting(calls, { list }), '/account/list')
    const round = [
      'init',
      'preDispatch',
      'list',
      'postDispatch',
      'init',
      'preDispatch',
      'index',
      'postDispatch',
    ]
    assert.deepEqual(calls, round)

    const errorCalls: string[] = []
    const error = noting(errorCalls, { error: () => {} })
    await handle({ list: () => Promise.reject(new Error('fails')) }, '/account/list', { error })
    assert.deepEqual(errorCalls, ['init', 'preDispatch', 'error', 'postDispatch'])
  })

  it('dispatch the request of postDispatch after the action', async () => {
    const calls: string[] = []
    let rounds = 0
    const postDispatch: Action = (request) =>
      rounds++ === 0 ? request.forward({ action: 'index' }) : undefined
    await handle(noting(calls, { postDispatch }), '/account/list')
    assert.deepEqual(
      calls.filter((name) => name === 'list' || name === 'index'),
      ['list', 'index'],
    )
  })

  it('skip postDispatch if the action fails', async () => {
    const calls: string[] = []
    const list: Action = () => {
      throw new Error('fails')
    }
    assert.equal((await handle(noting(calls, { list }), '/account/list')).status, 500)
    assert.deepEqual(calls, ['init', 'preDispatch', 'list'])
  })

  it('skip the action after a redirect, as ZF1 does', async () => {
    const calls: string[] = []
    const preDispatch: Action = (_, response) => void response.redirect('/login')
    const { status } = await handle(noting(calls, { preDispatch }), '/account/list')
    assert.equal(status, 302)
    assert.deepEqual(calls, ['init', 'preDispatch', 'postDispatch'])
  })

  it('skip the action after any status of redirection, as ZF1 does', async () => {
    for (const [status, expected] of [
      [304, ['init', 'preDispatch', 'postDispatch']],
      [404, ['init', 'preDispatch', 'list', 'postDispatch']],
    ] as const) {
      const calls: string[] = []
      const init: Action = (_, response) => {
        response.status = status
      }
      assert.equal((await handle(noting(calls, { init }), '/account/list')).status, status)
      assert.deepEqual(calls, expected)
    }
  })

  it('run after the redirect of a plugin, or of an action that forwards, but the action does not', async () => {
    const redirect: Action = (_, response) => void response.redirect('/login')
    const news = {
      index(request: HttpRequest, response: HttpResponse) {
        redirect(request, response)
        return request.forward({ controller: 'account', action: 'list' })
      },
    }
    for (const hooks of [[], ['postDispatch']]) {
      const calls: string[] = []
      const functions = Object.entries(noting(calls))
      const account = Object.fromEntries(
        functions.filter(([name]) => name === 'list' || hooks.includes(name)),
      )
      const guarded = createFront({ account }, { plugins: [{ preDispatch: redirect }] })
      await guarded.handle(new HttpRequest({ target: '/account/list' }))
      assert.deepEqual(calls.splice(0), hooks)
      await handle(account, '/news', { news })
      assert.deepEqual(calls, hooks)
    }
  })

  it('do not run for a method that the action does not accept', async () => {
    const calls: string[] = []
    const account = noting(calls)
    const list = Object.assign(() => {}, { methods: ['GET'] })
    const front = { ...account, list }
    assert.equal((await handle(front, '/account/list', {}, { method: 'POST' })).status, 405)
    assert.equal((await handle(front, '/account/list', {}, { method: 'OPTIONS' })).status, 204)
    assert.deepEqual(calls, [])
  })

  it('have the names of actions where they are no functions', async () => {
    const account = {
      init: 'data',
      list: (_: HttpRequest, response: HttpResponse) => response.text('ok'),
    }
    assert.equal((await handle(account, '/account/list')).body, 'ok')
  })

  it('report a return value that is no request', async () => {
    const response = await handle(
      noting([], { preDispatch: (() => 1) as unknown as Action }),
      '/account/list',
    )
    assert.match(
      response.exceptions[0]?.message ?? '',
      /^preDispatch returned a value of the type number/,
    )
  })

  it('have one deadline together with the action', async () => {
    const account = { preDispatch: () => new Promise<void>(() => {}), list() {} }
    const front = createFront({ account }, { limits: { actionTimeoutMs: 20 } })
    const { status } = await front.handle(new HttpRequest({ target: '/account/list' }))
    assert.equal(status, 503)
  })
})

describe('__call', () => {
  const account = {
    list: (_: HttpRequest, response: HttpResponse) => response.text('list'),
    __call: (request: HttpRequest, response: HttpResponse) =>
      response.text(`called ${request.action}`),
  }

  it('is the action for names that the controller does not have', async () => {
    assert.equal((await handle(account, '/account/list')).body, 'list')
    assert.equal((await handle(account, '/account/orders')).body, 'called orders')
    assert.equal((await handle(account, '/account')).body, 'called index')
    assert.equal((await handle(account, '/account/__call')).body, 'called __call')
  })

  it('runs between the hooks', async () => {
    const calls: string[] = []
    await handle(noting(calls, { __call: () => {} }), '/account/orders')
    assert.deepEqual(calls, ['init', 'preDispatch', '__call', 'postDispatch'])
  })

  it('is not looked for in Object.prototype', async () => {
    const inherited = Object.create({ __call: () => {} })
    assert.equal((await handle(inherited, '/account/orders')).status, 404)
  })
})
