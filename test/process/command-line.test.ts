import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type CommandLine,
  type Environment,
  parseCommandLine,
} from '../../lib/process/command-line.ts'
import { type Config, ConfigError, settings } from '../../lib/process/settings.ts'

// settings.test.ts checks their values.
const defaults = Object.fromEntries(
  Object.entries(settings).map(([name, { fallback }]) => [name, fallback]),
)

describe('parseCommandLine()', () => {
  it('names settings that contradict each other', () => {
    const args = ['--headers-timeout-ms=40000', '--action-timeout-ms=30000']
    assert.throws(() => parseCommandLine(args, {}, () => ''), {
      name: 'ConfigError',
      problems: [
        '--headers-timeout-ms is "40000": expected at most --request-timeout-ms, "30000"',
        '--action-timeout-ms is "30000": expected less than --socket-timeout-ms, "30000"',
      ],
    })
  })

  it('serves with the defaults when nothing is given', () => {
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
      [
        ['--env=development', '--show-values', '--host=localhost'],
        {},
        { env: 'development', showValues: true, host: 'localhost' },
      ],
      [['--log-params', 'page'], {}, { logParams: ['page'] }],
      [[], { PORTICO_LOG_PARAMS: 'page,sort' }, { logParams: ['page', 'sort'] }],
      [
        ['--drain-delay', '5000', '--close-timeout=1'],
        {},
        { drainDelayMs: 5_000, closeTimeoutMs: 1 },
      ],
      [['--access-log'], {}, { accessLog: true }],
      [
        ['--id-header', 'X-Request-Id', '--access-log'],
        {},
        { idHeader: 'X-Request-Id', accessLog: true },
      ],
      [
        [],
        { PORTICO_ID_HEADER: 'x_id', PORTICO_ACCESS_LOG: 'true' },
        { idHeader: 'x_id', accessLog: true },
      ],
      [['--access-log', '--port=1'], {}, { accessLog: true, port: 1 }],
      [['--access-log=true'], {}, { accessLog: true }],
      [['--access-log=false'], { PORTICO_ACCESS_LOG: 'true' }, { accessLog: false }],
      [[], { PORTICO_ACCESS_LOG: 'true' }, { accessLog: true }],
      [[], { PORTICO_PORT: '81', PORTICO_HOST: '0.0.0.0' }, { port: 81, host: '0.0.0.0' }],
      [[], { PORTICO_NAMES: 'zf1', PORTICO_CONTROLLERS: 'c' }, { names: 'zf1', controllers: 'c' }],
      [[], { PORT: '82', HOST: 'localhost' }, { port: 82, host: 'localhost' }],
      [[], { PORT: '82', PORTICO_PORT: '83' }, { port: 83 }],
      [['--port=84'], { PORT: '82', PORTICO_PORT: '83' }, { port: 84 }],
      [[], { PORTICO_ACTION_TIMEOUT: '5000' }, { actionTimeoutMs: 5_000 }],
      [['--port=84'], { PORTICO_PORT: 'wrong, but not read' }, { port: 84 }],
      [[], { PORTICO_PORT: '', PORT: '', NAMES: 'zf1', CONTROLLERS: 'c' }, {}],
    ]
    for (const [args, env, expected] of table) {
      assert.deepEqual(config(args, env), { ...defaults, ...expected }, args.join(' '))
    }
  })

  it('names the settings that a flag, the environment or the file sets', () => {
    const args = ['--port=0', '--env-file=.env', '--names=exact']
    const { given } = parseCommandLine(
      args,
      { PORTICO_ENV: 'production', PORTICO_HOST: '' },
      () => 'PORTICO_MAX_FIELDS=1000',
    )
    assert.deepEqual([...given].sort(), ['env', 'maxFields', 'names', 'port'])
  })

  it('leaves contradictions to the application file, which may solve them', () => {
    const { config } = parseCommandLine(['--show-values', '--app=app.js'], {}, noFile)
    assert.deepEqual([config.showValues, config.app], [true, 'app.js'])
  })

  it('ignores contradictions for --healthcheck, as the server may have an application file', () => {
    const args = ['--healthcheck', '--health-port=1', '--socket-timeout-ms=20000']
    const { command, config } = parseCommandLine(args, {}, noFile)
    assert.deepEqual([command, config.healthPort], ['healthcheck', 1])
  })

  it('finds --help and --version, and reads no settings then', () => {
    const table: [string[], Environment, CommandLine['command']][] = [
      [['--help'], {}, 'help'],
      [['--version'], {}, 'version'],
      [['--port=1', '--help', '--version'], {}, 'help'],
      [['-h'], {}, 'help'],
      [['--port=x', '--nope', '--check', '--version', '--env-file=x'], { PORT: 'y' }, 'version'],
    ]
    for (const [args, env, command] of table) {
      assert.deepEqual(parseCommandLine(args, env, noFile), lineOf(command))
    }
  })

  it('prefers the environment to the file also if one of them omits the unit of a time', () => {
    const lines = ['PORTICO_CLOSE_TIMEOUT_MS=1111', 'PORTICO_CLOSE_TIMEOUT=1111']
    for (const [i, env] of [
      { PORTICO_CLOSE_TIMEOUT: '5555' },
      { PORTICO_CLOSE_TIMEOUT_MS: '5555' },
    ].entries()) {
      const { config } = parseCommandLine(['--env-file=a'], env, () => lines[i] ?? '')
      assert.equal(config.closeTimeoutMs, 5_555)
    }
  })

  it('reads a file of --env-file that begins with a byte order mark', () => {
    const { config } = parseCommandLine(['--env-file=a'], {}, () => '\uFEFFPORT=82')
    assert.equal(config.port, 82)
  })

  it('reads the file of --env-file; the environment wins over it', () => {
    const files: string[] = []
    const read = (file: string): string => {
      files.push(file)
      return 'PORTICO_PORT=81\nPORTICO_NAMES="zf1" # as before\nPORTICO_HOST=\n'
    }
    const line = parseCommandLine(['--env-file', '.env'], { PORTICO_PORT: '82' }, read)
    assert.deepEqual(line, lineOf('serve', { port: 82, names: 'zf1' }))
    assert.deepEqual(files, ['.env'])
    assert.throws(
      () =>
        parseCommandLine(['--env-file=none', '--port=x'], {}, () => {
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

  it('finds --check and --healthcheck, with the same configuration', () => {
    assert.deepEqual(
      parseCommandLine(['--check', '--port=1'], {}, noFile),
      lineOf('check', { port: 1 }),
    )
    assert.deepEqual(
      parseCommandLine(['--healthcheck', '--port=1', '--health-port=2'], {}, noFile),
      lineOf('healthcheck', { port: 1, healthPort: 2 }),
    )
  })

  it('finds --routes and --explain, with their options', () => {
    assert.deepEqual(parseCommandLine(['--routes'], {}, noFile), lineOf('routes'))
    assert.deepEqual(parseCommandLine(['--explain=/a', '--method', 'POST', '--json'], {}, noFile), {
      ...lineOf('explain'),
      json: true,
      method: 'POST',
      target: '/a',
    })
  })

  it('has the environment "development" with --watch, unless another one is given', () => {
    const env = (args: string[], environment: Environment = {}): unknown => {
      const line = parseCommandLine(['--watch', '--controllers=c', ...args], environment, noFile)
      assert.equal(line.command, 'watch')
      return line.config.env
    }
    assert.equal(env([]), 'development')
    assert.equal(env(['--env=production']), 'production')
    assert.equal(env([], { PORTICO_ENV: 'production' }), 'production')
  })

  it('reads no command from the environment', () => {
    const env = { PORTICO_WATCH: 'true', PORTICO_ROUTES: 'true', PORTICO_EXPLAIN: '/' }
    assert.equal(parseCommandLine([], env, noFile).command, 'serve')
  })

  it('quotes no target, because it may hold a secret', () => {
    const problems = [
      '--explain expects a path or a URL without white space, such as "/news/list?page=2"',
    ]
    for (const target of [
      '',
      '/a b?code=CANARY',
      '/\nCANARY',
      'http:///CANARY',
      'http://',
      'http://CANARY@h/',
      'http://a CANARY/',
    ]) {
      assert.throws(() => parseCommandLine([`--explain=${target}`], {}, noFile), { problems })
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
      [['--watch'], {}, ['--watch needs --controllers or --app']],
      [['--healthcheck'], {}, ['--healthcheck needs --health-port']],
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
        [`--log-params is "${text}": expected comma-separated names, such as "page,sort"`],
      ]),
      [[], { PORTICO_ACCESS_LOG: '1' }, ['PORTICO_ACCESS_LOG is "1": expected "true" or "false"']],
      ...['', 'a b', 'a:', 'é', 'Connection', 'content-length'].map(
        (text): [string[], Environment, string[]] => [
          [`--id-header=${text}`],
          {},
          [`--id-header is "${text}": expected a header name such as "X-Request-Id"`],
        ],
      ),
      ...['', 'warn', 'error', 'silent'].map((level): [string[], Environment, string[]] => [
        ['--id-header=X-Id', ...(level ? ['--access-log', `--log-level=${level}`] : [])],
        {},
        ['--id-header needs --access-log and --log-level info, or a logger that writes this level'],
      ]),
      [
        ['--id-header=X-Id', '--access-log=no', '--log-level=all'],
        {},
        [
          '--log-level is "all": expected "info", "warn", "error" or "silent"',
          '--access-log is "no": expected "true" or "false"',
        ],
      ],
      [['--access-log='], {}, ['--access-log is "": expected "true" or "false"']],
      [['--access-log', 'true'], {}, ['Unexpected argument "true"']],
      [['--show-values'], {}, ['--show-values needs --env development, but --env is "production"']],
      [
        ['--env=development', '--host=0.0.0.0'],
        { PORTICO_SHOW_VALUES: 'true' },
        [
          '--show-values needs a --host on this machine, such as "127.0.0.1", but --host is "0.0.0.0"',
        ],
      ],
      [
        ['--show-values', '--env=dev', '--host='],
        {},
        [
          '--host is "": expected an address or a host name',
          '--env is "dev": expected "production" or "development"',
        ],
      ],
      [['--host', '--version'], {}, ['--host is "": expected an address or a host name']],
      [['--prot=80'], {}, ['Unknown option "--prot": did you mean --port?']],
      [['--__proto__=80'], {}, ['Unknown option "--__proto__": see --help']],
      [['-p'], {}, ['Unknown option "-p": see --help']],
      [['80'], {}, ['Unexpected argument "80"']],
      [['innit'], {}, ['Unexpected argument "innit": did you mean init?']],
      [['helthcheck'], {}, ['Unexpected argument "helthcheck": did you mean --healthcheck?']],
      [['app.js'], {}, ['Unexpected argument "app.js": did you mean --app?']],
      [['--', 'x'], {}, ['Unexpected argument "--"', 'Unexpected argument "x"']],
      [['--explain=/a', 's3cr3t'], {}, ['Unexpected argument: --explain expects one']],
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
        () => parseCommandLine(args, env, noFile),
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

describe('The warnings of a command line', () => {
  it('name misspelt variables, also those of a file', () => {
    const env = {
      PORTICO_PROT: '1',
      PORTICO_LOGLEVEL: 'info',
      // A cluster sets these for a service of this name.
      PORTICO_SERVICE_HOST: '10.0.0.1',
      PORTICO_PORT_3000_TCP_ADDR: '10.0.0.1',
      PORTICO_PORT: '3000',
    }
    const line = parseCommandLine(['--env-file=a'], env, () => 'PORTICO_HOSTS=a\nPORTICO_X=1')
    assert.deepEqual(line.warnings, [
      'There is no variable PORTICO_HOSTS: did you mean PORTICO_HOST?',
      'There is no variable PORTICO_PROT: did you mean PORTICO_PORT?',
      'There is no variable PORTICO_LOGLEVEL: did you mean PORTICO_LOG_LEVEL?',
    ])
  })
})

function noFile(): never {
  assert.fail('it read a file')
}

function config(args: string[], env: Environment = {}): Config {
  const line = parseCommandLine(args, env, noFile)
  assert.deepEqual(line, { ...lineOf('serve'), config: line.config, given: line.given })
  return line.config
}

/** The command line of a command without options. */
function lineOf(command: CommandLine['command'], config: Partial<Config> = {}): object {
  const given = new Set(Object.keys(config))
  return {
    command,
    config: { ...defaults, ...config },
    given,
    warnings: [],
    json: false,
    target: '',
    method: 'GET',
  }
}
