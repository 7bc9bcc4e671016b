import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, it } from 'node:test'
import { checkNames, nearestName } from '../../lib/http/check-options.ts'
import {
  createLogger,
  createMiddleware,
  createRequestListener,
  FrontController,
  HttpRequest,
  HttpResponse,
  nested,
  readJson,
  sameOrigin,
  serve,
  withPublicFiles,
} from '../../lib/index.ts'
import { createFolder } from '../support/folder.ts'

describe('The options of public functions', () => {
  it('have no unknown name', async (t) => {
    const front = new FrontController()
    const folder = createFolder(t)
    const request = new HttpRequest({ target: '/' })
    const wrong: object = { misspelt: undefined, typo: 1 }
    const functions: Record<string, () => unknown> = {
      FrontController: () => new FrontController(wrong),
      sameOrigin: () => sameOrigin(wrong),
      createLogger: () => createLogger({ stream: new Writable(), ...wrong }),
      createRequestListener: () => createRequestListener(front, wrong),
      headerLimits: () => createRequestListener(front, { headerLimits: wrong }),
      createMiddleware: () => createMiddleware(front, wrong),
      withPublicFiles: () => withPublicFiles(front, folder, wrong),
      forward: () => request.forward({ action: 'list', ...wrong }),
      urlFor: () => request.urlFor({}, wrong),
      cookies: () => new HttpResponse().cookies.set('a', 'b', wrong),
      nested: () => nested([], wrong),
      readJson: () => readJson(request, wrong),
      serve: () => serve(front, wrong),
    }
    for (const [name, run] of Object.entries(functions)) {
      const message = /^There is no "misspelt" or "typo" among the /
      await assert.rejects(async () => run(), { name: 'TypeError', message }, name)
    }
  })

  it('have values of their kind', async (t) => {
    const front = new FrontController()
    const folder = createFolder(t)
    const stream = new Writable()
    const functions: [(options: never) => unknown, object, RegExp][] = [
      [(options) => new FrontController(options), { logParams: 'page' }, /"logParams" .* strings$/],
      [(options) => new FrontController(options), { logParams: [1] }, /"logParams" .* strings$/],
      [
        (options) => new FrontController(options),
        { trustProxy: '10.0.0.1' },
        /^Expected "trustProxy"/,
      ],
      [
        (options) => new FrontController(options),
        { development: 'false' },
        /"development" .* true or/,
      ],
      [
        (options) => new FrontController(options),
        { headers: new Map() },
        /"headers" to be an object$/,
      ],
      [
        (options) => new FrontController(options),
        { headers: new Headers() },
        /"headers" .* object$/,
      ],
      [
        (options) => new FrontController(options),
        { headers: [['a', 'b']] },
        /"headers" .* object$/,
      ],
      [(options) => new FrontController(options), { limits: 3 }, /"limits" to be an object$/],
      [(options) => new FrontController(options), new Map(), /^Expected the options in an object$/],
      [() => new FrontController(null as never), {}, /^Expected the options in an object$/],
      [(options) => serve(front, options), { onAccess: 3 }, /"onAccess" to be a function$/],
      [(options) => serve(front, options), { limits: [] }, /"limits" to be an object$/],
      [(options) => createMiddleware(front, options), new Map(), /in an object$/],
      [
        (options) => serve(front, options),
        { closeTimeoutMs: -1 },
        /"closeTimeoutMs" to be a number/,
      ],
      [(options) => withPublicFiles(front, folder, options), { cacheControl: 3 }, /"cacheControl"/],
      [(options) => withPublicFiles(front, folder, options), { basePath: 3 }, /"basePath"/],
      [(options) => createRequestListener(front, options), { onAccess: {} }, /"onAccess"/],
      [
        (options) => createMiddleware(front, options),
        { fallThrough: 'no' },
        /"fallThrough" .* false$/,
      ],
      [(options) => withPublicFiles(front, folder, options), { headers: new Map() }, /"headers"/],
      [(options) => createLogger(options), {}, /^Expected "stream" to be a stream$/],
      [
        (options) => createLogger(options),
        { stream, level: 'debug' },
        /"level" to be one of info,/,
      ],
    ]
    for (const [run, options, message] of functions) {
      await assert.rejects(async () => run(options as never), { name: 'TypeError', message })
    }
    const options = {
      limits: undefined,
      headers: Object.create(null),
      logParams: [],
      trustProxy: [],
    }
    assert.doesNotThrow(() => new FrontController({ ...options, development: false }))
  })

  it('are checked for the limits of a request listener', () => {
    const front = new FrontController()
    for (const maxHeaderFields of [0, Number.NaN, '5' as unknown as number]) {
      assert.throws(() => createRequestListener(front, { headerLimits: { maxHeaderFields } }), {
        name: 'RangeError',
        message: /^Expected "maxHeaderFields" to be a whole number/,
      })
    }
  })
})

describe('nearestName()', () => {
  const names = ['news/list', 'news/view', 'index/index', 'admin/report/daily']

  it('returns the candidate with the smallest edit distance', () => {
    const table: [string, string | undefined][] = [
      ['news/list', 'news/list'],
      ['news/lst', 'news/list'],
      ['nwes/list', 'news/list'],
      ['news/views', 'news/view'],
      ['nets/viex', 'news/view'],
      ['admin/daily', 'admin/report/daily'],
      ['News/VIEW', 'news/view'],
    ]
    for (const [name, expected] of table) assert.equal(nearestName(name, names), expected, name)
  })

  it('returns undefined if more than half of every candidate would have to change', () => {
    assert.equal(nearestName('abxx', ['abcd']), 'abcd')
    assert.equal(nearestName('axxx', ['abcd']), undefined)
    assert.equal(nearestName('', ['ab']), undefined)
    assert.equal(nearestName('signin/v2', names), undefined)
    assert.equal(nearestName('news', []), undefined)
    assert.equal(nearestName('abxx', ['abcd'], 1), undefined)
  })

  it('returns the first of equally near candidates', () => {
    assert.equal(nearestName('news/xxxx', ['news/aaaa', 'news/bbbb']), 'news/aaaa')
    assert.equal(nearestName('abcd', ['abxd', 'abcd', 'axcd']), 'abcd')
  })

  it('compares only the first 64 characters of a name', () => {
    assert.equal(nearestName(`${'a'.repeat(64)}zzz`, ['a'.repeat(64)]), 'a'.repeat(64))
    assert.equal(nearestName('a'.repeat(100_000), ['b']), undefined)
  })
})

describe('checkNames()', () => {
  it('names the nearest known names', () => {
    const check =
      (...names: string[]) =>
      () =>
        checkNames('options', Object.fromEntries(names.map((name) => [name, 1])), [
          'plugins',
          'routes',
        ])
    assert.doesNotThrow(check('routes'))
    assert.throws(check('Plugin'), {
      name: 'TypeError',
      message: 'There is no "Plugin" among the options: did you mean "plugins"?',
    })
    assert.throws(check('plugin', 'x', 'route', 'rotes'), {
      message:
        'There is no "plugin" or "x" or "route" or "rotes" among the options: did you mean "plugins" or "routes"?',
    })
    assert.throws(check('x'), { message: 'There is no "x" among the options' })
  })
})
