import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DEFAULT_LIMITS } from '../../lib/dispatch/options.ts'
import { type Setting, settings } from '../../lib/process/settings.ts'
import { DEFAULT_SERVER_LIMITS } from '../../lib/server/serve.ts'

const all = Object.entries(settings) as [string, Setting<unknown>][]

describe('settings', () => {
  it('has the limits of SPEC section 7 as its defaults', () => {
    const fallbacks = Object.fromEntries(all.map(([name, { fallback }]) => [name, fallback]))
    assert.deepEqual(fallbacks, {
      port: 3000,
      host: '127.0.0.1',
      app: undefined,
      controllers: undefined,
      public: undefined,
      publicCacheControl: 'no-cache',
      names: 'exact',
      basePath: '',
      env: 'production',
      showValues: false,
      workers: 0,
      trustProxy: [],
      healthPort: undefined,
      healthHost: undefined,
      drainDelayMs: 0,
      closeTimeoutMs: 10_000,
      maxBodyBytes: 1_048_576,
      maxFields: 1_000,
      maxTargetBytes: 8_192,
      maxHeaderBytes: 16_384,
      maxHeaderFields: 100,
      maxConnections: 10_000,
      headersTimeoutMs: 10_000,
      requestTimeoutMs: 30_000,
      keepAliveTimeoutMs: 65_000,
      socketTimeoutMs: 30_000,
      actionTimeoutMs: 25_000,
      logLevel: 'info',
      logParams: [],
      accessLog: false,
      idHeader: undefined,
    })
  })

  it('has every limit of a front controller and of a server, with the same default', () => {
    for (const [name, limit] of Object.entries({ ...DEFAULT_LIMITS, ...DEFAULT_SERVER_LIMITS })) {
      assert.equal(settings[name as keyof typeof settings].fallback, limit, name)
    }
  })

  it('names each flag like its option, in kebab case', () => {
    for (const [name, { flag }] of all) {
      assert.equal(
        flag,
        name.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`),
      )
    }
  })

  it('parses the text of each default to the default', () => {
    for (const [name, { fallback, parse }] of all) {
      if (fallback === undefined || Array.isArray(fallback)) continue
      assert.equal(parse(String(fallback)), fallback, name)
    }
  })

  it('describes each setting and its valid values', () => {
    for (const [name, { help, expected }] of all) assert.ok(help !== '' && expected !== '', name)
  })

  // biome-ignore format: a table
  const table: [name: keyof typeof settings, good: [text: string, value: unknown][], bad: string[]][] = [
    ['port', [['0', 0], ['65535', 65_535]], ['65536', '-1', '1.5', '', ' 1', '1e3', '٣']],
    ['healthPort', [['0', 0], ['3001', 3001]], ['65536', 'no']],
    ['host', [['::1', '::1'], ['localhost', 'localhost']], ['', 'a b', 'a\n']],
    ['app', [['./my app.js', './my app.js']], ['']],
    ['controllers', [['./my controllers', './my controllers']], ['']],
    ['public', [['public', 'public']], ['']],
    ['publicCacheControl', [['max-age=60, immutable', 'max-age=60, immutable']], ['', ' a', 'a ', 'a\nb', 'ä']],
    ['names', [['zf1', 'zf1'], ['exact', 'exact']], ['ZF1', '', '__proto__']],
    ['basePath', [['/app', '/app'], ['/a/b-c', '/a/b-c'], ['', '']], ['/', 'app', '/app/', '/a//b', '/a b', '/ä']],
    ['env', [['development', 'development']], ['dev', 'Production', '']],
    ['workers', [['0', 0], ['1024', 1_024]], ['1025', '-1', 'auto']],
    ['trustProxy', [['10.0.0.0/8,::1', ['10.0.0.0/8', '::1']]], ['', '10.0.0.0/8,', '10.0.0.0/8, ::1', 'localhost', '*']],
    ['healthHost', [['0.0.0.0', '0.0.0.0'], ['::1', '::1']], ['', 'a b']],
    ['drainDelayMs', [['0', 0], ['2147483647', 2_147_483_647]], ['2147483648', '5s', '-1']],
    ['closeTimeoutMs', [['1', 1]], ['0', '2147483648']],
    ['maxBodyBytes', [['1', 1], ['1099511627776', 2 ** 40]], ['0', '1099511627777', '1MB', '9'.repeat(16)]],
    ['maxFields', [['1', 1]], ['0', 'many']],
    ['maxTargetBytes', [['1', 1]], ['0']],
    ['maxHeaderBytes', [['1', 1]], ['0']],
    ['maxHeaderFields', [['1', 1]], ['0']],
    ['maxConnections', [['1', 1]], ['0']],
    ['headersTimeoutMs', [['1', 1]], ['0', '10s']],
    ['requestTimeoutMs', [['1', 1]], ['0', 'Infinity']],
    ['keepAliveTimeoutMs', [['1', 1]], ['0', '2147483648']],
    ['socketTimeoutMs', [['1', 1]], ['0', '2147483648']],
    ['actionTimeoutMs', [['1', 1]], ['0', '2147483648']],
    ['logLevel', [['warn', 'warn'], ['silent', 'silent']], ['debug', '']],
    ['logParams', [['page,sort', ['page', 'sort']]], ['', 'page,', 'page, sort']],
    ['showValues', [['true', true], ['false', false]], ['yes', '1', '']],
    ['accessLog', [['true', true], ['false', false]], ['yes', '1', '']],
    ['idHeader', [['X-Request-Id', 'X-Request-Id'], ['id', 'id']], ['', 'a b', 'a:', 'ä', 'a\n', 'TE', 'content-length']],
  ]
  for (const [name, good, bad] of table) {
    it(`checks ${name}`, () => {
      for (const [text, value] of good) assert.deepEqual(settings[name].parse(text), value, text)
      for (const text of bad) assert.equal(settings[name].parse(text), undefined, text)
    })
  }

  it('checks every setting', () => {
    assert.deepEqual(table.map(([name]) => name).sort(), Object.keys(settings).sort())
  })

  it('describes the expected values', () => {
    const expected = (name: keyof typeof settings): string => settings[name].expected
    assert.equal(expected('port'), 'a whole number from 0 to 65535')
    assert.equal(expected('drainDelayMs'), 'a whole number from 0 to 2147483647')
    assert.equal(expected('closeTimeoutMs'), 'a whole number from 1 to 2147483647')
    assert.equal(expected('logLevel'), '"info", "warn", "error" or "silent"')
    assert.equal(expected('names'), '"exact" or "zf1"')
  })
})
