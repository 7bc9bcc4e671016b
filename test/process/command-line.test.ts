import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  ConfigError,
  type Environment,
  helpText,
  readConfig,
} from '../../lib/process/command-line.ts'
import { type Config, settings } from '../../lib/process/settings.ts'

// What they are is settings.test.ts's to say.
const defaults = Object.fromEntries(
  Object.entries(settings).map(([name, { fallback }]) => [name, fallback]),
)

describe('readConfig()', () => {
  it('names settings that contradict each other', () => {
    const args = ['--headers-timeout-ms=40000', '--action-timeout-ms=30000']
    assert.throws(() => readConfig(args, {}, () => ''), {
      name: 'ConfigError',
      problems: [
        '--headers-timeout-ms is "40000": expected at most --request-timeout-ms, "30000"',
        '--action-timeout-ms is "30000": expected less than --socket-timeout-ms, "30000"',
      ],
    })
  })

  it('runs with the defaults where nothing is said', () => {
    assert.deepEqual(config([]), defaults)
    assert.ok(Object.isFrozen(config([])))
  })

  it('reads flags, then the environment, then defaults', () => {
    const table: [string[], Environment, Partial<Config>][] = [
      [['--port', '8080'], {}, { port: 8080 }],
      [['--port=0'], {}, { port: 0 }],
      [['--port=65535'], {}, { port: 65535 }],
      [['--port=1', '--port=2'], {}, { port: 2 }],
      [['--host', '::1'], {}, { host: '::1' }],
      [['--controllers', './my controllers'], {}, { controllers: './my controllers' }],
      [['--names=zf1'], {}, { names: 'zf1' }],
      [['--env=development'], {}, { env: 'development' }],
      [[], { PORTICO_ENV: 'development', NODE_ENV: 'production' }, { env: 'development' }],
      [[], { NODE_ENV: 'development' }, {}],
      ...(['info', 'warn', 'error', 'silent'] as const).map(
        (logLevel): [string[], Environment, Partial<Config>] => [
          [`--log-level=${logLevel}`],
          { PORTICO_LOG_LEVEL: 'info' },
          { logLevel },
        ],
      ),
      [['--log-params', 'page'], {}, { logParams: ['page'] }],
      [[], { PORTICO_LOG_PARAMS: 'page,sort' }, { logParams: ['page', 'sort'] }],
      [
        ['--drain-delay', '5000', '--close-timeout=1'],
        {},
        { drainDelayMs: 5_000, closeTimeoutMs: 1 },
      ],
      [['--access-log'], {}, { accessLog: true }],
      [['--access-log', '--port=1'], {}, { accessLog: true, port: 1 }],
      [['--access-log=true'], {}, { accessLog: true }],
      [['--access-log=false'], { PORTICO_ACCESS_LOG: 'true' }, { accessLog: false }],
      [[], { PORTICO_ACCESS_LOG: 'true' }, { accessLog: true }],
      [[], { PORTICO_PORT: '81', PORTICO_HOST: '0.0.0.0' }, { port: 81, host: '0.0.0.0' }],
      [[], { PORTICO_NAMES: 'zf1', PORTICO_CONTROLLERS: 'c' }, { names: 'zf1', controllers: 'c' }],
      [[], { PORT: '82', HOST: 'localhost' }, { port: 82, host: 'localhost' }],
      [[], { PORT: '82', PORTICO_PORT: '83' }, { port: 83 }],
      [['--port=84'], { PORT: '82', PORTICO_PORT: '83' }, { port: 84 }],
      [['--port=84'], { PORTICO_PORT: 'wrong, but not asked' }, { port: 84 }],
      [[], { PORTICO_PORT: '', PORT: '', NAMES: 'zf1', CONTROLLERS: 'c' }, {}],
    ]
    for (const [args, env, expected] of table) {
      assert.deepEqual(config(args, env), { ...defaults, ...expected }, args.join(' '))
    }
  })

  it('is told to help, or to say its version', () => {
    assert.deepEqual(readConfig(['--help'], {}, noFile), { name: 'help' })
    assert.deepEqual(readConfig(['--version'], {}, noFile), { name: 'version' })
    assert.deepEqual(readConfig(['--port=1', '--help', '--version'], {}, noFile), { name: 'help' })
    assert.deepEqual(readConfig(['-h'], {}, noFile), { name: 'help' })
  })

  it('reads a file of the environment, which is below the environment itself', () => {
    const files: string[] = []
    const read = (file: string): string => {
      files.push(file)
      return 'PORTICO_PORT=81\nPORTICO_NAMES="zf1" # as before\nPORTICO_HOST=\n'
    }
    const command = readConfig(['--env-file', '.env'], { PORTICO_PORT: '82' }, read)
    assert.deepEqual(command, { name: 'run', config: { ...defaults, port: 82, names: 'zf1' } })
    assert.deepEqual(files, ['.env'])
    assert.throws(
      () =>
        readConfig(['--env-file=none', '--port=x'], {}, () => {
          throw Object.assign(new Error('x'), { code: 'ENOENT' })
        }),
      {
        problems: [
          '--env-file is "none": it can\'t be read (ENOENT)',
          '--port is "x": expected a whole number from 0 to 65535',
        ],
      },
    )
  })

  it('is told to check, or to ask whether a server is ready, with the same configuration', () => {
    for (const name of ['check', 'healthcheck']) {
      assert.deepEqual(readConfig([`--${name}`, '--port=1'], {}, noFile), {
        name,
        config: { ...defaults, port: 1 },
      })
    }
  })

  it('is told to print the routes, or to explain a target', () => {
    assert.deepEqual(readConfig(['--routes'], {}, noFile), {
      name: 'routes',
      config: defaults,
      json: false,
    })
    assert.deepEqual(readConfig(['--explain=/a', '--method', 'POST', '--json'], {}, noFile), {
      name: 'explain',
      config: defaults,
      json: true,
      method: 'POST',
      target: '/a',
    })
  })

  it('is in development while it watches, unless it is told otherwise', () => {
    const env = (args: string[], environment: Environment = {}): unknown => {
      const command = readConfig(['--watch', '--controllers=c', ...args], environment, noFile)
      assert.equal(command.name, 'watch')
      return (command as { config: Config }).config.env
    }
    assert.equal(env([]), 'development')
    assert.equal(env(['--env=production']), 'production')
    assert.equal(env([], { PORTICO_ENV: 'production' }), 'production')
  })

  it('reads no command from the environment', () => {
    const env = { PORTICO_WATCH: 'true', PORTICO_ROUTES: 'true', PORTICO_EXPLAIN: '/' }
    assert.equal(readConfig([], env, noFile).name, 'run')
  })

  it('quotes no target: it may hold a secret', () => {
    const problems = [
      '--explain expects a path or a URL without white space, such as "/news/list?page=2"',
    ]
    for (const target of ['', '/a b?code=CANARY', '/\nCANARY']) {
      assert.throws(() => readConfig([`--explain=${target}`], {}, noFile), { problems })
    }
  })

  it('names the setting, its value and what was expected, in one line each', () => {
    const port = 'expected a whole number from 0 to 65535'
    const table: [string[], Environment, string[]][] = [
      ...['65536', '-1', '1.5', '0x50', '1e3', ' 80', '80 ', 'http', '9'.repeat(20)].map(
        (text): [string[], Environment, string[]] => [
          [`--port=${text}`],
          {},
          [`--port is "${text}": ${port}`],
        ],
      ),
      [['--port'], {}, [`--port is "": ${port}`]],
      [['--port='], {}, [`--port is "": ${port}`]],
      [[], { PORT: 'x' }, [`PORT is "x": ${port}`]],
      [[], { PORTICO_PORT: 'x\ny' }, [`PORTICO_PORT is "x\\ny": ${port}`]],
      [['--host='], {}, ['--host is "": expected an address or a host name']],
      [['--method=GET'], {}, ['--method needs --explain']],
      [
        ['--explain=/', '--method=get'],
        {},
        ['--method is "get": expected a method such as "GET" or "POST"'],
      ],
      [['--json'], {}, ['--json needs --routes or --explain']],
      [['--watch'], {}, ['--watch needs --controllers']],
      [['--check=false'], {}, ['--check takes no value']],
      [['--check', '--routes'], {}, ['--check and --routes: expected one of them at a time']],
      [['--host=a b'], {}, ['--host is "a b": expected an address or a host name']],
      [['--controllers='], {}, ['--controllers is "": expected a folder']],
      [['--names=ZF1'], {}, ['--names is "ZF1": expected "exact" or "zf1"']],
      [
        [],
        { PORTICO_NAMES: '__proto__' },
        ['PORTICO_NAMES is "__proto__": expected "exact" or "zf1"'],
      ],
      [['--env=test'], {}, ['--env is "test": expected "production" or "development"']],
      [
        ['--log-level=debug'],
        {},
        ['--log-level is "debug": expected "info", "warn", "error" or "silent"'],
      ],
      ...['a,', ',a', 'a,,b', 'a, b', '', 'a b'].map((text): [string[], Environment, string[]] => [
        [`--log-params=${text}`],
        {},
        [`--log-params is "${text}": expected names with commas between, such as "page,sort"`],
      ]),
      [[], { PORTICO_ACCESS_LOG: '1' }, ['PORTICO_ACCESS_LOG is "1": expected "true" or "false"']],
      [['--access-log='], {}, ['--access-log is "": expected "true" or "false"']],
      [['--access-log', 'true'], {}, ['Unexpected argument "true"']],
      [['--host', '--version'], {}, ['--host is "": expected an address or a host name']],
      [['--prot=80'], {}, ['Unknown option "--prot": did you mean --port?']],
      [['--__proto__=80'], {}, ['Unknown option "--__proto__": see --help']],
      [['-p'], {}, ['Unknown option "-p": see --help']],
      [['80'], {}, ['Unexpected argument "80"']],
      [['--', '--port'], {}, ['Unexpected argument "--port"']],
      [['--a\nb'], {}, ['Unknown option "--a\\nb": see --help']],
      [
        ['--nope', '--port=x', 'y'],
        { HOST: 'a b' },
        [
          'Unknown option "--nope": see --help',
          'Unexpected argument "y"',
          `--port is "x": ${port}`,
          'HOST is "a b": expected an address or a host name',
        ],
      ],
    ]
    for (const [args, env, problems] of table) {
      assert.throws(
        () => readConfig(args, env, noFile),
        (error: unknown) => {
          assert.ok(error instanceof ConfigError)
          assert.deepEqual(error.problems, problems)
          assert.equal(error.name, 'ConfigError')
          assert.equal(error.message, problems.join('\n'))
          return true
        },
        args.join(' '),
      )
    }
  })
})

describe('helpText()', () => {
  it('has every setting: its flag, its variable, its default', () => {
    const text = helpText()
    for (const [name, fallback] of Object.entries(defaults)) {
      const words = name.split(/(?=[A-Z])/)
      const flag = `--${words.join('-').toLowerCase()}`
      // A switch has no value.
      const value = typeof fallback === 'boolean' ? '' : ' [A-Z]+'
      const isShown = typeof fallback === 'number' || typeof fallback === 'string'
      const shown = isShown ? String(fallback) : ''
      const tail = shown === '' ? '' : `.*\\(default ${shown}\\)$`
      assert.match(text, new RegExp(`^  ${flag}${value}  +\\w${tail}`, 'm'))
    }
    assert.match(text, /--max-fields as PORTICO_MAX_FIELDS/)
    for (const flag of ['--help', '--version', '--check', '--routes', '--json', '--watch'])
      assert.ok(text.includes(`  ${flag}  `), flag)
    assert.match(text, /^ {2}--explain TARGET /m)
    assert.doesNotMatch(text, /undefined/)
  })
})

function noFile(): never {
  assert.fail('a file was read')
}

function config(args: string[], env: Environment = {}): Config {
  const command = readConfig(args, env, noFile)
  assert.equal(command.name, 'run')
  return (command as { config: Config }).config
}
