import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createErrorController } from '../../lib/controllers/error-controller.ts'
import { welcomeController } from '../../lib/controllers/welcome-controller.ts'
import { type CheckedOptions, checkedOptions } from '../../lib/dispatch/checked-options.ts'
import { type FrontControllerOptions, withMaps } from '../../lib/dispatch/options.ts'
import { nameKeys } from '../../lib/routing/name-rules.ts'

const news = { index() {} }
class Misspelt {
  routeStartup() {}
  PostDispatch() {}
}
const errorController = createErrorController()
const checked = (options: FrontControllerOptions): CheckedOptions =>
  checkedOptions(withMaps(options), errorController)

describe('checkedOptions()', () => {
  it('has the defaults of SPEC section 7, and exact names', () => {
    const { limits, names, basePath, router, plugins } = checked({})
    assert.deepEqual(limits, {
      maxBodyBytes: 1_048_576,
      maxFields: 1_000,
      maxTargetBytes: 8_192,
      actionTimeoutMs: 25_000,
    })
    assert.equal(names, nameKeys.exact)
    assert.deepEqual([basePath, router, plugins], ['', undefined, []])
  })

  it('fills in the limits that are not given', () => {
    const { limits } = checked({ limits: { maxFields: 1 } })
    assert.deepEqual(limits, {
      maxBodyBytes: 1_048_576,
      maxFields: 1,
      maxTargetBytes: 8_192,
      actionTimeoutMs: 25_000,
    })
  })

  it('returns valid options unchanged', () => {
    const router = { route: () => undefined }
    const plugins = [{}]
    const onReport = (): void => {}
    const passed = checked({
      router,
      plugins,
      onReport,
      names: 'zf1',
      basePath: '/app/v1.2',
      logger: console,
      limits: { actionTimeoutMs: 2 ** 31 - 1 },
    })
    assert.equal(passed.logger, console)
    assert.equal(passed.onReport, onReport)
    assert.equal(passed.limits.actionTimeoutMs, 2 ** 31 - 1)
    assert.equal(passed.router, router)
    assert.equal(passed.plugins, plugins)
    assert.equal(passed.names, nameKeys.zf1)
    assert.equal(passed.basePath, '/app/v1.2')
  })

  it('treats undefined as not given', () => {
    const { limits, logger, onReport } = checked({
      limits: { maxFields: undefined } as object,
      logger: undefined,
      onReport: undefined,
      logParams: undefined,
      development: undefined,
    })
    assert.equal(limits.maxFields, 1_000)
    assert.deepEqual([logger, onReport], [undefined, undefined])
  })

  it('rejects "showValues" without "development"', () => {
    assert.throws(() => checked({ showValues: true }), {
      name: 'TypeError',
      message: 'Expected "development" with "showValues"',
    })
    assert.doesNotThrow(() => checked({ showValues: true, development: true }))
    assert.doesNotThrow(() => checked({ showValues: false }))
  })

  it('adds the built-in controllers: always error, and index when nothing is registered', () => {
    const controllers = (options: FrontControllerOptions): unknown[] =>
      checked(options).modules.map(([module, each]) => [module, Object.fromEntries(each)])
    const error = errorController
    assert.deepEqual(controllers({}), [['default', { error, index: welcomeController }]])
    assert.deepEqual(controllers({ controllers: new Map([['news', news]]) }), [
      ['default', { error, news }],
    ])
    assert.deepEqual(controllers({ modules: new Map([['admin', new Map([['news', news]])]]) }), [
      ['default', { error }],
      ['admin', { news }],
    ])
  })

  it('replaces the built-in error controller by that of the application, under the rule of names', () => {
    const mine = { error() {} }
    const errors = (options: FrontControllerOptions): unknown =>
      checked(options).modules.flatMap(([, each]) => [...each.values()])
    assert.deepEqual(errors({ controllers: new Map([['error', mine]]) }), [mine])
    assert.deepEqual(errors({ controllers: new Map([['ERROR', mine]]), names: 'zf1' }), [mine])
    assert.deepEqual(errors({ controllers: new Map([['ERROR', mine]]) }), [errorController, mine])
  })

  it('names all wrong options, and all wrong actions, a line for each', () => {
    const wrong = (property: object): object => Object.assign(() => {}, property)
    const options: object = {
      plugin: [],
      route: {},
      names: 'loose',
      basePath: 'app',
      limits: { maxFields: 0, maxBodyBytes: 0 },
      plugins: [{ guard() {} }, { predispatch() {} }],
      routes: { a: { path: 1, b: 2 }, c: {} },
      controllers: {
        news: { save: wrong({ methods: [], limits: { timeoutMs: 0 } }), 'a b': () => {} },
        shop: 1,
      },
    }
    assert.throws(
      () => checked(options),
      ({ name, message }) => {
        assert.equal(name, 'TypeError')
        const patterns = [
          /"plugin" or "route" among the options: did you mean "plugins" or "routes?r?"\?$/,
          /"basePath"/,
          /"names"/,
          /route "a"/,
          /route "c"/,
          /plugins\[0\]/,
          /plugins\[1\]/,
          /"maxFields"/,
          /"maxBodyBytes"/,
          /the methods of the action "news\/save"/,
          /"timeoutMs" of the action "news\/save"/,
          /the action "news\/a b"/,
          /the controller "shop"/,
        ]
        const lines: string[] = message.split('\n')
        for (const [i, line] of lines.entries()) assert.match(line, patterns[i] ?? /nothing/)
        assert.equal(lines.length, patterns.length)
        return true
      },
    )
  })

  it('names the wrong option', () => {
    const table: [object, string, RegExp][] = [
      [{ names: 'loose' }, 'RangeError', /"names".*"exact" or "zf1".*"loose"/],
      [{ names: '__proto__' }, 'RangeError', /"names".*"__proto__"/],
      [{ names: 'toString' }, 'RangeError', /"names"/],
      [{ router: {} }, 'TypeError', /"router"/],
      [
        { controler: new Map() },
        'TypeError',
        /^There is no "controler" among the options: did you mean "controllers"\?$/,
      ],
      [{ toString: 1 }, 'TypeError', /^There is no "toString" among the options$/],
      [
        { limits: { maxBodySize: 1 } },
        'TypeError',
        /^There is no "maxBodySize" among the limits: did you mean "maxBodyBytes"\?$/,
      ],
      [{ limits: { constructor: 1 } }, 'TypeError', /^There is no "constructor" among the limits$/],
      [{ limits: { actionTimeoutMs: 2 ** 31 } }, 'RangeError', /"actionTimeoutMs".*2147483647/],
      [{ logger: { info() {}, warn: 1, error() {} } }, 'TypeError', /^Expected "logger".*"warn"/],
      [{ logger: { info() {}, warn() {}, error: {} } }, 'TypeError', /^Expected "logger".*"error"/],
      [{ onReport: {} }, 'TypeError', /^Expected "onReport" to be a function$/],
      [{ plugins: [null] }, 'TypeError', /"plugins"/],
      [{ plugins: ['x'] }, 'TypeError', /"plugins"/],
      [{ router: { route: true } }, 'TypeError', /"router"/],
      [{ plugins: {} }, 'TypeError', /"plugins"/],
      [{ plugins: [{ preDispatch: 1 }] }, 'TypeError', /Expected "preDispatch" of plugins\[0\]/],
      [
        { plugins: [{}, { predispatch() {} }] },
        'TypeError',
        /"predispatch" for plugins\[1\]: .*"preDispatch"\?$/,
      ],
      [{ plugins: [new Misspelt()] }, 'TypeError', /"PostDispatch" for .* "postDispatch"\?$/],
      [
        { plugins: [{ guard() {} }] },
        'TypeError',
        /Expected plugins\[0\] to have at least one hook of /,
      ],
      ...[[], 'news', null, 1, new Misspelt(), () => {}].flatMap(
        (wrong): [object, string, RegExp][] => [
          [
            { controllers: wrong ?? 0 },
            'TypeError',
            /^Expected "controllers" to be an object or a Map$/,
          ],
          [{ modules: wrong ?? 0 }, 'TypeError', /^Expected "modules" to be an object or a Map$/],
          [
            { modules: { admin: wrong } },
            'TypeError',
            /^Expected "modules.admin" to be an object or a Map$/,
          ],
        ],
      ),
      [
        { controllers: { userAdmin: news, 'user-admin': news } },
        'TypeError',
        /^"controllers" has two keys for the name "user-admin"$/,
      ],
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
      assert.throws(() => checked(options), { name, message }, JSON.stringify(options))
    }
  })
})
