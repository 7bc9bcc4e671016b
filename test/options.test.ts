import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorController } from '../lib/error-controller.ts'
import { indexController } from '../lib/index-controller.ts'
import { nameRules } from '../lib/names.ts'
import { checkedOptions, type FrontControllerOptions } from '../lib/options.ts'

const news = { index() {} }

describe('checkedOptions()', () => {
  it('has the defaults of SPEC section 7, and exact names', () => {
    const { limits, names, basePath, router, plugins } = checkedOptions({})
    assert.deepEqual(limits, { maxBodyBytes: 1_048_576, maxFields: 1_000, actionTimeoutMs: 25_000 })
    assert.equal(names, nameRules.exact)
    assert.deepEqual([basePath, router, plugins], ['', undefined, []])
  })

  it('takes each limit by itself', () => {
    const { limits } = checkedOptions({ limits: { maxFields: 1 } })
    assert.deepEqual(limits, { maxBodyBytes: 1_048_576, maxFields: 1, actionTimeoutMs: 25_000 })
  })

  it('passes on what is as it should be', () => {
    const router = { route: () => undefined }
    const plugins = [{}]
    const checked = checkedOptions({ router, plugins, names: 'zf1', basePath: '/app/v1.2' })
    assert.equal(checked.router, router)
    assert.equal(checked.plugins, plugins)
    assert.equal(checked.names, nameRules.zf1)
    assert.equal(checked.basePath, '/app/v1.2')
  })

  it('adds the built-in controllers: error always, index while nothing is registered', () => {
    const controllers = (options: FrontControllerOptions): unknown[] =>
      checkedOptions(options).modules.map(([module, each]) => [module, Object.fromEntries(each)])
    const error = errorController
    assert.deepEqual(controllers({}), [['default', { error, index: indexController }]])
    assert.deepEqual(controllers({ controllers: new Map([['news', news]]) }), [
      ['default', { error, news }],
    ])
    assert.deepEqual(controllers({ modules: new Map([['admin', new Map([['news', news]])]]) }), [
      ['default', { error }],
      ['admin', { news }],
    ])
  })

  it("lets the application's error controller take the built-in one's place, by the rule of names", () => {
    const mine = { error() {} }
    const errors = (options: FrontControllerOptions): unknown =>
      checkedOptions(options).modules.flatMap(([, each]) => [...each.values()])
    assert.deepEqual(errors({ controllers: new Map([['error', mine]]) }), [mine])
    assert.deepEqual(errors({ controllers: new Map([['ERROR', mine]]), names: 'zf1' }), [mine])
    assert.deepEqual(errors({ controllers: new Map([['ERROR', mine]]) }), [errorController, mine])
  })

  it('names what is not as it should be', () => {
    const table: [object, string, RegExp][] = [
      [{ names: 'loose' }, 'RangeError', /"names".*"exact" or "zf1".*"loose"/],
      [{ names: '__proto__' }, 'RangeError', /"names".*"__proto__"/],
      [{ names: 'toString' }, 'RangeError', /"names"/],
      [{ router: {} }, 'TypeError', /"router"/],
      [{ router: { route: true } }, 'TypeError', /"router"/],
      [{ plugins: {} }, 'TypeError', /"plugins"/],
      [{ controllers: { news } }, 'TypeError', /Map/],
      [{ modules: new Map([['admin', { news }]]) }, 'TypeError', /Map/],
      ...['app', '/', '/app/', '//app', '/a b', '/a?b', '/%61', '/a#b', '/ä'].map(
        (basePath): [object, string, RegExp] => [{ basePath }, 'TypeError', /"basePath"/],
      ),
      ...['maxBodyBytes', 'maxFields', 'actionTimeoutMs'].flatMap((name) =>
        [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', null].map(
          (value): [object, string, RegExp] => [
            { limits: { [name]: value } },
            'RangeError',
            new RegExp(`"${name}".*"${value}"`),
          ],
        ),
      ),
    ]
    for (const [options, name, message] of table) {
      assert.throws(() => checkedOptions(options), { name, message }, JSON.stringify(options))
    }
  })
})
