import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Config, ConfigError, type Environment, helpText, readConfig } from '../lib/config.ts'

const defaults = { port: 3000, host: '127.0.0.1', controllers: undefined, names: 'exact' }

describe('readConfig()', () => {
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
    assert.deepEqual(readConfig(['--help'], {}), { name: 'help' })
    assert.deepEqual(readConfig(['--version'], {}), { name: 'version' })
    assert.deepEqual(readConfig(['--port=1', '--help', '--version'], {}), { name: 'help' })
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
      [['--host=a b'], {}, ['--host is "a b": expected an address or a host name']],
      [['--controllers='], {}, ['--controllers is "": expected a folder']],
      [['--names=ZF1'], {}, ['--names is "ZF1": expected "exact" or "zf1"']],
      [
        [],
        { PORTICO_NAMES: '__proto__' },
        ['PORTICO_NAMES is "__proto__": expected "exact" or "zf1"'],
      ],
      [['--prot=80'], {}, ['Unknown option "--prot"']],
      [['--__proto__=80'], {}, ['Unknown option "--__proto__"']],
      [['-p'], {}, ['Unknown option "-p"']],
      [['80'], {}, ['Unexpected argument "80"']],
      [['--', '--port'], {}, ['Unexpected argument "--port"']],
      [['--a\nb'], {}, ['Unknown option "--a\\nb"']],
      [
        ['--nope', '--port=x', 'y'],
        { HOST: 'a b' },
        [
          'Unknown option "--nope"',
          'Unexpected argument "y"',
          `--port is "x": ${port}`,
          'HOST is "a b": expected an address or a host name',
        ],
      ],
    ]
    for (const [args, env, problems] of table) {
      assert.throws(
        () => readConfig(args, env),
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
    for (const name of Object.keys(defaults)) {
      assert.match(text, new RegExp(`^  --${name} [A-Z]+  +\\w`, 'm'))
      assert.ok(text.includes(`PORTICO_${name.toUpperCase()}`))
    }
    for (const value of ['(default 3000)', '(default 127.0.0.1)', '(default exact)', '--version']) {
      assert.ok(text.includes(value), value)
    }
    assert.doesNotMatch(text, /undefined/)
  })
})

function config(args: string[], env: Environment = {}): Config {
  const command = readConfig(args, env)
  assert.equal(command.name, 'run')
  return (command as { config: Config }).config
}
