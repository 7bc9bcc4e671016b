import assert from 'node:assert/strict'
import { AsyncResource } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { METHODS } from 'node:http'
import { BlockList } from 'node:net'
import { Readable, Transform } from 'node:stream'
import { describe, it } from 'node:test'
import { runInNewContext } from 'node:vm'
import { Dispatcher } from '../../lib/dispatch/dispatcher.ts'
import { toErrorRequest } from '../../lib/dispatch/error-request.ts'
import { HttpError } from '../../lib/http/errors.ts'
import { HttpRequest, withState } from '../../lib/http/request.ts'
import { HttpResponse } from '../../lib/http/response.ts'
import { type NameRule, nameKeys } from '../../lib/routing/name-rules.ts'

const noController = (name: string): object => ({
  name: 'NoControllerError',
  message: `Invalid controller specified (${name})`,
  controller: name,
  code: 0,
})
const noAction = (name: string): object => ({
  name: 'NoActionError',
  message: `Action "${name}" does not exist`,
  action: name,
  code: 404,
})

describe('new Dispatcher()', () => {
  it('rejects a name that no URL can contain', () => {
    for (const name of ['', 'a/b', 'a?b', 'a#b', 'a b', 'a\n']) {
      assert.throws(() => dispatcher({ [name]: {} }), { name: 'TypeError', message: /"/ })
      assert.throws(() => new Dispatcher([[name, new Map()]], nameKeys.exact), TypeError)
      assert.throws(() => dispatcher({ news: { [name]() {} } }), TypeError)
    }
    assert.throws(() => dispatcher({ '!': {} }, 'zf1'), /No URL can name the controller "!"/)
  })

  it('rejects two names that the rule of names treats as one', () => {
    const one = { 'user-admin': {}, 'USER.ADMIN': {} }
    assert.doesNotThrow(() => dispatcher(one, 'exact'))
    assert.throws(() => dispatcher(one, 'zf1'), {
      name: 'TypeError',
      message: 'No URL can distinguish the controller "USER.ADMIN" from "user-admin"',
    })
    assert.throws(() => dispatcher({ news: { fooBar() {}, 'foo-bar'() {} } }), {
      message: 'There is a second definition of the action "news/foo-bar"',
    })
    const modules = ['admin', 'ADMIN'].map((name) => [name, new Map()] as const)
    assert.doesNotThrow(() => new Dispatcher(modules, nameKeys.exact))
    assert.throws(() => new Dispatcher(modules, nameKeys.zf1), /the module "ADMIN" from "admin"/)
  })

  it('rejects a controller that is no object', () => {
    for (const controller of [null, undefined, () => {}, class {}, 'text', 42, true]) {
      assert.throws(() => dispatcher({ news: controller }), {
        name: 'TypeError',
        message: 'Expected the controller "news" to be an object of functions',
      })
    }
  })

  it('rejects an instance of a built-in class, whose methods would be actions', () => {
    const expected = 'Expected the controller "news" to be an object of functions, got a '
    class Cache extends Map {
      index(): void {}
    }
    for (const [controller, got] of [
      [Promise.resolve({ index() {} }), 'Promise: is an "await" missing?'],
      [new Map([['index', () => {}]]), 'Map'],
      [new Cache(), 'Map'],
      [[() => {}], 'Array'],
      [new Date(), 'Date'],
      [Buffer.alloc(1), 'Uint8Array'],
    ] as const) {
      const message = expected + got
      assert.throws(() => dispatcher({ news: controller }), { name: 'TypeError', message })
    }
    const actions = (controller: object): readonly string[] =>
      dispatcher({ news: controller }).registered
    class News {
      index(): void {}
    }
    assert.deepEqual(actions(new News()), ['news/index'])
    assert.deepEqual(actions(runInNewContext('({ index() {} })')), ['news/index'])
    assert.deepEqual(actions(Object.assign(Object.create(null), new News())), [])
  })

  it('registers no method of a class of Node that the class of a controller extends', () => {
    for (const Base of [EventEmitter, EventTarget, AsyncResource, Readable, Transform]) {
      class Shared extends (Base as new (name: string) => object) {
        list(): void {}
      }
      class News extends Shared {
        view(): void {}
        emit(): void {}
      }
      const names = dispatcher({ news: new News('news') }).registered
      assert.deepEqual([...names].sort(), ['news/emit', 'news/list', 'news/view'], Base.name)
    }
  })

  it('accepts every method of node:http except TRACE and CONNECT', () => {
    for (const method of METHODS) {
      const save = Object.assign(() => 'ran', { methods: [method] })
      const make = (): Dispatcher => dispatcher({ news: { save } })
      if (['TRACE', 'CONNECT'].includes(method)) assert.throws(make, TypeError)
      else if (method !== 'OPTIONS')
        assert.equal(bound(make()).dispatch(requestFor('news', 'save', { method })), 'ran', method)
    }
  })

  it('rejects the misspelt property "method", which would allow every method', () => {
    const save = Object.assign(() => {}, { method: ['POST'] })
    assert.throws(() => dispatcher({ news: { save } }), {
      name: 'TypeError',
      message: 'There is no "method" for the action "news/save": did you mean "methods"?',
    })
  })

  it('rejects wrong methods', () => {
    for (const methods of [[], 'GET', ['get'], ['TRACE'], ['CONNECT'], [''], [1], null, {}]) {
      const save = Object.assign(() => {}, { methods })
      assert.throws(() => dispatcher({ news: { save } }), {
        name: 'TypeError',
        message:
          'Expected the methods of the action "news/save" to be a list of methods, such as GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      })
    }
  })
})

describe('Dispatcher.dispatch()', () => {
  it('calls the action on its controller, and returns its return value', () => {
    const calls: unknown[] = []
    const news = {
      list(...args: unknown[]) {
        calls.push(this, ...args)
        return 'returned'
      },
    }
    const [request, response] = [requestFor('news', 'list'), new HttpResponse()]
    assert.equal(run(dispatcher({ news }), request, response), 'returned')
    assert.deepEqual(calls, [news, request, response])
  })

  it('finds an action by its exact name: one URL for one action', () => {
    const table: [string, string, object | undefined][] = [
      ['user-admin', 'save-all', undefined],
      ['user-admin', 'saveAll', noAction('saveAll')],
      ['user-admin', 'SAVE-ALL', noAction('SAVE-ALL')],
      ['user-admin', 'save.all', noAction('save.all')],
      ['User-Admin', 'save-all', noController('User-Admin')],
      ['userAdmin', 'save-all', noController('userAdmin')],
      ['user%2Dadmin', 'save-all', noController('user%2Dadmin')],
      ['', '', noController('')],
    ]
    for (const [controller, action, error] of table) check('exact', controller, action, error)
  })

  it("finds an action by its folded name under 'zf1'", () => {
    const table: [string, string, object | undefined][] = [
      ['user-admin', 'save-all', undefined],
      ['User.Admin', 'SAVE--ALL', undefined],
      ['u!ser-admin', 'save.all', undefined],
      ['user-admin', 'saveAll', noAction('saveAll')],
      ['useradmin', 'save-all', noController('useradmin')],
      ['user_admin', 'save-all', noController('user_admin')],
    ]
    for (const [controller, action, error] of table) check('zf1', controller, action, error)
  })

  it('finds own functions only', () => {
    const base = { inherited() {} }
    const news = Object.assign(Object.create(base), {
      title: 'x',
      list() {},
      nested: { list() {} },
    })
    Object.defineProperty(news, 'hidden', { value() {}, enumerable: false })
    const names = ['inherited', 'title', 'nested', 'constructor', 'toString', '__proto__', 'then']
    for (const rule of ['exact', 'zf1'] as const) {
      const { dispatch } = bound(dispatcher({ news }, rule))
      dispatch(requestFor('news', 'list'))
      for (const name of names) {
        assert.throws(() => dispatch(requestFor('news', name)), noAction(name))
        assert.throws(() => dispatch(requestFor(name, 'list')), noController(name))
        assert.throws(
          () => dispatch(requestFor('news', 'list', { module: name })),
          noController('news'),
        )
      }
    }
  })

  it('finds the methods of an instance of classes, but none of Object', () => {
    class Base {
      list(): string {
        return 'base'
      }
      edit(): string {
        return `edit ${this.#secret()}`
      }
      remove(): void {}
      get title(): never {
        throw new Error('A getter is not called')
      }
      static helper(): void {}
      #secret(): string {
        return 'ok'
      }
    }
    class News extends Base {
      override list(): string {
        return `news, ${super.list()}`
      }
      view = (): string => 'view'
    }
    // The class has no action `remove` any more.
    Object.defineProperty(News.prototype, 'remove', { get: () => undefined })
    for (const rule of ['exact', 'zf1'] as const) {
      const { dispatch } = bound(dispatcher({ news: new News() }, rule))
      assert.equal(dispatch(requestFor('news', 'list')), 'news, base')
      assert.equal(dispatch(requestFor('news', 'edit')), 'edit ok')
      assert.equal(dispatch(requestFor('news', 'view')), 'view')
      const others = ['constructor', 'title', 'helper', 'secret', 'remove', 'toString', '__proto__']
      for (const name of others) {
        assert.throws(() => dispatch(requestFor('news', name)), noAction(name))
      }
    }
  })

  it('finds a registered action with the name of a property of Object', () => {
    const names = ['constructor', 'hasOwnProperty', 'then', '__proto__']
    const all = (value: unknown): object => Object.fromEntries(names.map((name) => [name, value]))
    const { dispatch } = bound(dispatcher(all(all(() => 'ran'))))
    for (const controller of names) {
      for (const action of ['constructor', 'has-own-property', 'then', '__proto__']) {
        assert.equal(dispatch(requestFor(controller, action)), 'ran')
      }
    }
  })

  it('allows only the methods of the action, and HEAD with GET', () => {
    const only = (...methods: string[]): object => Object.assign(() => 'ran', { methods })
    const actions = { any: () => 'ran', page: only('GET'), save: only('POST', 'PUT') }
    const { dispatch } = bound(dispatcher({ news: actions }))
    const table: [string, string[], string[]][] = [
      [
        'any',
        ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'],
        ['TRACE', 'CONNECT'],
      ],
      ['page', ['GET', 'HEAD'], ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'get']],
      ['save', ['POST', 'PUT'], ['GET', 'HEAD', 'PATCH', 'DELETE', 'TRACE']],
    ]
    for (const [action, allowed, rejected] of table) {
      for (const method of allowed) {
        assert.equal(dispatch(requestFor('news', action, { method })), 'ran', `${method} ${action}`)
      }
      for (const method of rejected) {
        assert.throws(
          () => dispatch(requestFor('news', action, { method })),
          (error: unknown) => error instanceof HttpError && error.status === 405,
          `${method} ${action}`,
        )
      }
    }
  })

  it('lists the methods in Allow, in a 405 and in the 204 to OPTIONS', () => {
    const allowed: [string[], string[]][] = [
      [['GET'], ['GET', 'HEAD', 'OPTIONS']],
      [
        ['GET', 'HEAD', 'OPTIONS'],
        ['GET', 'HEAD', 'OPTIONS'],
      ],
      [
        ['POST', 'POST'],
        ['OPTIONS', 'POST'],
      ],
      [['PROPFIND'], ['OPTIONS', 'PROPFIND']],
    ]
    for (const [methods, expected] of allowed) {
      const news = { save: Object.assign((): never => assert.fail(), { methods }) }
      const sorted = (allow = ''): string[] => allow.split(', ').sort()
      const response = new HttpResponse()
      const options = requestFor('news', 'save', { method: 'OPTIONS' })
      assert.equal(run(dispatcher({ news }), options, response), undefined)
      assert.deepEqual([response.status, response.body], [204, undefined])
      assert.deepEqual(sorted(response.headers.get('Allow')), expected)
      assert.throws(
        () => run(dispatcher({ news }), requestFor('news', 'save', { method: 'DELETE' }), response),
        (error: HttpError) => {
          assert.deepEqual(sorted(error.headers.Allow), expected)
          return true
        },
      )
    }
  })

  it('lists the standard methods for a method that every action rejects', () => {
    const news = { any: (): never => assert.fail() }
    for (const method of ['TRACE', 'CONNECT']) {
      assert.throws(
        () => run(dispatcher({ news }), requestFor('news', 'any', { method }), new HttpResponse()),
        {
          status: 405,
          headers: { Allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' },
        },
      )
    }
  })

  it('calls an action with properties named as those of Function', () => {
    const own = { call: 'x', apply: () => 'never', bind: null }
    const list = Object.assign(() => 'ran', own)
    assert.equal(bound(dispatcher({ news: { list } })).dispatch(requestFor('news', 'list')), 'ran')
    const bare = Object.setPrototypeOf(() => 'ran', null)
    assert.equal(bound(dispatcher({ news: { bare } })).dispatch(requestFor('news', 'bare')), 'ran')
  })

  it('does not treat an exported class as an action', () => {
    class Item {}
    const news = { Item, item: Item, classify: () => 'ran' }
    const { dispatch } = bound(dispatcher({ news }))
    assert.throws(() => dispatch(requestFor('news', 'item')), noAction('item'))
    assert.equal(dispatch(requestFor('news', 'classify')), 'ran')
  })

  it('ignores inherited methods of an action', () => {
    const save = Object.setPrototypeOf(
      () => 'ran',
      Object.assign(() => {}, { methods: ['POST'] }),
    )
    assert.equal(bound(dispatcher({ news: { save } })).dispatch(requestFor('news', 'save')), 'ran')
  })

  it('finds error/error only for the loop, by any method', () => {
    const error = Object.assign(() => 'ran', { methods: ['GET'] })
    for (const rule of ['exact', 'zf1'] as const) {
      const { dispatch } = bound(dispatcher({ error: { error, other: error } }, rule))
      for (const name of ['error', 'ERROR', '-error', 'e!rror']) {
        assert.throws(() => dispatch(requestFor(name, 'error')), noController(name))
        assert.throws(() => dispatch(requestFor(name, 'other')), noController(name))
      }
      for (const method of ['GET', 'POST', 'OPTIONS', 'TRACE']) {
        const request = toErrorRequest(requestFor('news', 'list', { method }), new Error('x'))
        assert.equal(dispatch(request), 'ran')
      }
    }
  })

  it('finds the controller error of another module', () => {
    const error = { error: () => 'ran' }
    const modules = [['admin', new Map([['error', error]])] as const]
    const { dispatch } = bound(new Dispatcher(modules, nameKeys.exact))
    assert.equal(dispatch(requestFor('error', 'error', { module: 'admin' })), 'ran')
  })
})

describe('Dispatcher.registered', () => {
  it('lists every action that a URL can reach, by its name in URLs', () => {
    const noop = (): void => {}
    class Item {}
    const modules = [
      ['default', new Map<string, object>([['news', { list: noop, saveAll: noop, Item, n: 1 }]])],
      ['admin', new Map<string, object>([['error', { error: noop }]])],
    ] as const
    const withError = new Map([...modules[0][1], ['error', { error: noop }]])
    const { registered } = new Dispatcher([['default', withError], modules[1]], nameKeys.exact)
    assert.deepEqual(registered, ['news/list', 'news/save-all', 'admin/error/error'])
    assert.deepEqual(new Dispatcher([], nameKeys.exact).registered, [])
    const folded = dispatcher({ ERROR: { error: noop }, 'User-Admin': { list: noop } }, 'zf1')
    assert.deepEqual(folded.registered, ['User-Admin/list'])
  })
})

describe('Dispatcher.hasController()', () => {
  it('knows the controllers that a URL can reach, under the rule of names', () => {
    const modules = [
      [
        'default',
        new Map([
          ['news', {}],
          ['error', {}],
        ]),
      ],
      ['admin', new Map([['error', {}]])],
    ] as const
    const table: [string, string, boolean, boolean][] = [
      ['default', 'news', true, true],
      ['default', 'NEWS', false, true],
      ['default', 'error', false, false],
      ['default', 'ERROR', false, false],
      ['default', 'constructor', false, false],
      ['admin', 'error', true, true],
      ['ADMIN', 'Error', false, true],
      ['admin', 'news', false, false],
      ['nope', 'news', false, false],
      ['', '', false, false],
    ]
    const [exact, zf1] = [nameKeys.exact, nameKeys.zf1].map((n) => new Dispatcher(modules, n))
    for (const [module, controller, ...expected] of table) {
      const request = requestFor(controller, 'x', { module })
      assert.deepEqual(
        [exact?.hasController(request), zf1?.hasController(request)],
        expected,
        controller,
      )
    }
  })
})

describe('Dispatcher.replaceErrorController()', () => {
  it('replaces the error action, and nothing else', () => {
    const own = dispatcher({ error: { error: () => 'own' }, news: { list: () => 'news' } })
    own.replaceErrorController({ error: () => 'replaced' })
    const request = toErrorRequest(requestFor('news', 'list'), new Error('x'))
    assert.equal(run(own, request, new HttpResponse()), 'replaced')
    assert.equal(run(own, requestFor('news', 'list'), new HttpResponse()), 'news')
    assert.throws(() => run(own, requestFor('error', 'error'), new HttpResponse()), /\(error\)/)
    assert.deepEqual(own.registered, ['news/list'])
  })
})

function check(rule: NameRule, controller: string, action: string, error?: object): void {
  const { dispatch } = bound(dispatcher({ 'user-admin': { saveAll: () => 'ran' } }, rule))
  if (error === undefined) assert.equal(dispatch(requestFor(controller, action)), 'ran')
  else assert.throws(() => dispatch(requestFor(controller, action)), error)
}

function dispatcher(controllers: object, rule: NameRule = 'exact'): Dispatcher {
  return new Dispatcher([['default', new Map(Object.entries(controllers))]], nameKeys[rule])
}

function bound(dispatcher: Dispatcher): { dispatch: (request: HttpRequest) => unknown } {
  return { dispatch: (request) => run(dispatcher, request, new HttpResponse()) }
}

function run(dispatcher: Dispatcher, request: HttpRequest, response: HttpResponse): unknown {
  const found = dispatcher.find(request)
  if (found instanceof Error) throw found
  return dispatcher.run(found, request, response)
}

function requestFor(
  controller: string,
  action: string,
  { module = 'default', method = 'GET' } = {},
): HttpRequest {
  const route = { module, controller, action }
  const request = new HttpRequest({ target: '/', method })
  return withState(request, {
    path: '/',
    q: '/',
    route,
    settings: { maxBodyBytes: 1, trusted: new BlockList() },
  })
}
