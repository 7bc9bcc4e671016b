import { parseArgs } from 'node:util'

/** What `node server.js` runs with: each setting of {@link settings}, checked. */
export interface Config {
  readonly port: number
  readonly host: string
  readonly controllers: string | undefined
  readonly names: 'exact' | 'zf1'
}

/** What the command line asks for: to run, or to be told something. */
export type Command =
  | { readonly name: 'run'; readonly config: Config }
  | { readonly name: 'help' }
  | { readonly name: 'version' }

/** The environment, as `process.env` gives it. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Wrong settings: each problem is one line that names the setting, its value and what was expected. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  static {
    ConfigError.prototype.name = 'ConfigError'
  }

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

// Reads the text of a setting; undefined where it is not what was expected.
interface Setting<T> {
  readonly flag: string
  /** What else the environment may call it, beside `PORTICO_<FLAG>`. */
  readonly alias?: string
  readonly value: string
  readonly expected: string
  readonly help: string
  readonly fallback: T
  readonly parse: (text: string) => T | undefined
}

const settings: { readonly [Name in keyof Config]: Setting<Config[Name]> } = {
  port: {
    flag: 'port',
    alias: 'PORT',
    value: 'N',
    expected: 'a whole number from 0 to 65535',
    help: 'the port to listen on; 0 takes a free one',
    fallback: 3000,
    parse: wholeNumber(0, 65_535),
  },
  host: {
    flag: 'host',
    alias: 'HOST',
    value: 'ADDRESS',
    expected: 'an address or a host name',
    help: 'the address to listen on',
    fallback: '127.0.0.1',
    parse: matching(/^[^\s]+$/),
  },
  controllers: {
    flag: 'controllers',
    value: 'DIR',
    expected: 'a folder',
    help: 'the folder of controllers: DIR/<name>.js, DIR/<module>/<name>.js',
    fallback: undefined,
    parse: matching(/./),
  },
  names: {
    flag: 'names',
    value: 'RULE',
    expected: '"exact" or "zf1"',
    help: 'how names in a URL find controllers: exact, or folded as in Zend Framework 1 (zf1)',
    fallback: 'exact',
    parse: oneOf('exact', 'zf1'),
  },
}

const table: readonly Setting<unknown>[] = Object.values(settings)

/**
 * Reads the command line and the environment: flags over environment over defaults.
 *
 * @throws {ConfigError} With all problems at once.
 */
export function readConfig(args: readonly string[], env: Environment): Command {
  const flags = readFlags(args)
  if (flags.values.has('help')) return { name: 'help' }
  if (flags.values.has('version')) return { name: 'version' }

  const problems = [...flags.problems]
  const config = Object.entries(settings).map(([name, setting]: [string, Setting<unknown>]) => {
    const given = givenValue(setting, flags.values, env)
    if (given === undefined) return [name, setting.fallback]
    const value = setting.parse(given.text)
    if (value === undefined) problems.push(problem(given.name, given.text, setting.expected))
    return [name, value]
  })
  if (problems.length > 0) throw new ConfigError(problems)
  return { name: 'run', config: Object.freeze(Object.fromEntries(config)) }
}

/** The text of `--help`. */
export function helpText(): string {
  const rows = table.map(({ flag, value, help, fallback }) => [
    `--${flag} ${value}`,
    fallback === undefined ? help : `${help} (default ${fallback})`,
  ])
  rows.push(['--help', 'this text'], ['--version', 'the version'])
  const width = Math.max(...rows.map(([left = '']) => left.length))
  return [
    'Usage: node server.js [options]',
    '',
    ...rows.map(([left = '', right]) => `  ${left.padEnd(width)}  ${right}`),
    '',
    `Each can be set in the environment too: ${table.map(environmentName).join(', ')}.`,
    'PORT and HOST count where the PORTICO_ ones are absent. A flag wins.',
    '',
  ].join('\n')
}

interface Flags {
  readonly values: ReadonlyMap<string, string>
  readonly problems: readonly string[]
}

function readFlags(args: readonly string[]): Flags {
  const known = new Set(table.map(({ flag }) => flag))
  const options = Object.fromEntries([...known].map((flag) => [flag, { type: 'string' }] as const))
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const values = new Map<string, string>()
  const problems: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') problems.push(`Unexpected argument ${quoted(token.value)}`)
    if (token.kind !== 'option') continue
    if (['help', 'version'].includes(token.name)) values.set(token.name, '')
    else if (!known.has(token.name)) problems.push(`Unknown option ${quoted(token.rawName)}`)
    else values.set(token.name, isValue(token) ? token.value : '')
  }
  return { values, problems }
}

// `--host --version` is a forgotten address, not a strange one.
function isValue(token: { value: string | undefined; inlineValue: boolean | undefined }): token is {
  value: string
  inlineValue: boolean
} {
  return token.value !== undefined && (token.inlineValue === true || !token.value.startsWith('--'))
}

function givenValue(
  setting: Setting<unknown>,
  flags: ReadonlyMap<string, string>,
  env: Environment,
): { name: string; text: string } | undefined {
  const flag = flags.get(setting.flag)
  if (flag !== undefined) return { name: `--${setting.flag}`, text: flag }
  for (const name of [environmentName(setting), setting.alias ?? '']) {
    const text = env[name]
    // An empty variable is how a shell says that there is none.
    if (text) return { name, text }
  }
  return undefined
}

function environmentName({ flag }: Setting<unknown>): string {
  return `PORTICO_${flag.toUpperCase().replaceAll('-', '_')}`
}

function problem(name: string, text: string, expected: string): string {
  return `${name} is ${quoted(text)}: expected ${expected}`
}

// A line break in a value must not make two lines of one problem.
function quoted(text: string): string {
  return JSON.stringify(text)
}

function wholeNumber(least: number, most: number): (text: string) => number | undefined {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return number >= least && number <= most ? number : undefined
  }
}

function matching(pattern: RegExp): (text: string) => string | undefined {
  return (text) => (pattern.test(text) ? text : undefined)
}

function oneOf<T extends string>(...choices: readonly T[]): (text: string) => T | undefined {
  return (text) => choices.find((choice) => choice === text)
}
