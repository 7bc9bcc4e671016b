import { METHODS } from 'node:http'
import { parseArgs, parseEnv } from 'node:util'
import type { ExplainRequest } from '../inspect/explain.ts'
import { nearestName } from '../routing/nearest-name.ts'
import { type Config, type Setting, settings } from './settings.ts'

/** What the command line asks for: to run, to check the configuration, to ask a running server, to be told something. */
export type Command =
  | { readonly name: 'run'; readonly config: Config }
  | { readonly name: 'check'; readonly config: Config }
  | { readonly name: 'healthcheck'; readonly config: Config }
  | { readonly name: 'watch'; readonly config: Config }
  | { readonly name: 'routes'; readonly config: Config; readonly json: boolean }
  | ({ readonly name: 'explain'; readonly config: Config; readonly json: boolean } & ExplainRequest)
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

// What stands alone on the command line, and is no setting.
const COMMANDS = {
  check: 'load everything, print the effective configuration, and exit',
  healthcheck: 'ask a running server on its health port whether it is ready; exit 0 or 1',
  routes: 'print every URL that leads to an action, its methods, the file and line, and exit',
  json: 'with --routes and --explain: one JSON document',
  watch: 'development: start again when a file below the controllers has changed',
  help: 'this text',
  version: 'the version',
} as const

// What has a value, and is no setting either: never read from the environment.
const ARGUMENTS = {
  'env-file': ['FILE', 'a file of environment variables; the environment itself wins'],
  explain: ['TARGET', 'tell where a request would go, and why; exit 0 if an action runs, 1 if not'],
  method: ['METHOD', 'with --explain: the method of the request (default GET)'],
} as const

const table: readonly Setting<unknown>[] = Object.values(settings)

/**
 * Reads the command line and the environment: flags over environment over `--env-file` over defaults.
 *
 * @param readFile Reads the file of `--env-file`.
 * @throws {ConfigError} With all problems at once.
 */
export function readConfig(
  args: readonly string[],
  env: Environment,
  readFile: (file: string) => string,
): Command {
  const { values, problems } = readFlags(args)
  if (values.has('help')) return { name: 'help' }
  if (values.has('version')) return { name: 'version' }

  const allProblems = [...problems]
  // An empty variable is how a shell says that there is none.
  const present = Object.entries(env).filter(([, text]) => text)
  const all = {
    ...readEnvFile(values.get('env-file'), readFile, allProblems),
    ...Object.fromEntries(present),
  }
  const config = Object.entries(settings).map(([name, setting]: [string, Setting<unknown>]) => {
    const given = givenValue(setting, values, all)
    if (given === undefined) return [name, fallbackOf(name, setting, values)]
    const value = setting.parse(given.text)
    if (value === undefined) {
      allProblems.push(`${given.name} is ${quoted(given.text)}: expected ${setting.expected}`)
    }
    return [name, value]
  })
  const whole: Config = Object.freeze(Object.fromEntries(config))
  allProblems.push(...contradictions(whole), ...misplaced(values, whole))
  if (allProblems.length > 0) throw new ConfigError(allProblems)
  return commandOf(values, whole)
}

function commandOf(values: ReadonlyMap<string, string>, config: Config): Command {
  const name = COMMAND_NAMES.find((each) => values.has(each)) ?? 'run'
  const json = values.has('json')
  switch (name) {
    case 'routes':
      return { name, config, json }
    case 'explain': {
      const [target = '', method = 'GET'] = [values.get('explain'), values.get('method')]
      return { name, config, json, method, target }
    }
    default:
      return { name, config }
  }
}

const COMMAND_NAMES = ['check', 'healthcheck', 'routes', 'explain', 'watch'] as const

// Who watches develops.
function fallbackOf(
  name: string,
  { fallback }: Setting<unknown>,
  flags: ReadonlyMap<string, string>,
): unknown {
  return name === 'env' && flags.has('watch') ? 'development' : fallback
}

// What makes no sense beside the rest of the command line. A target is not quoted: it may hold a secret.
function misplaced(flags: ReadonlyMap<string, string>, { controllers }: Config): string[] {
  const [target, method] = [flags.get('explain'), flags.get('method')]
  const commands = COMMAND_NAMES.filter((name) => flags.has(name)).map((name) => `--${name}`)
  const rules: readonly (readonly [boolean, string])[] = [
    [
      target !== undefined && !/^(?:[/*]|https?:)[!-~\u0080-\uffff]*$/i.test(target),
      '--explain expects a path or a URL without white space, such as "/news/list?page=2"',
    ],
    [
      method !== undefined && !METHODS.includes(method),
      `--method is ${quoted(method ?? '')}: expected a method such as "GET" or "POST"`,
    ],
    [commands.length > 1, `${commands.join(' and ')}: expected one of them at a time`],
    [method !== undefined && target === undefined, '--method needs --explain'],
    [
      flags.has('json') && target === undefined && !flags.has('routes'),
      '--json needs --routes or --explain',
    ],
    [flags.has('watch') && controllers === undefined, '--watch needs --controllers'],
  ]
  return rules.filter(([isBroken]) => isBroken).map(([, problem]) => problem)
}

// Settings that are fine by themselves, and not together.
function contradictions(config: Config): string[] {
  const { headersTimeoutMs, requestTimeoutMs, actionTimeoutMs, socketTimeoutMs } = config
  const problems: string[] = []
  if (headersTimeoutMs > requestTimeoutMs) {
    problems.push(
      `--headers-timeout-ms is "${headersTimeoutMs}": expected at most --request-timeout-ms, "${requestTimeoutMs}"`,
    )
  }
  if (actionTimeoutMs >= socketTimeoutMs) {
    problems.push(
      `--action-timeout-ms is "${actionTimeoutMs}": expected less than --socket-timeout-ms, "${socketTimeoutMs}"`,
    )
  }
  return problems
}

function readEnvFile(
  file: string | undefined,
  readFile: (file: string) => string,
  problems: string[],
): Environment {
  if (file === undefined) return {}
  try {
    return parseEnv(readFile(file)) as Environment
  } catch (error) {
    problems.push(
      `--env-file is ${quoted(file)}: it can't be read (${(error as NodeJS.ErrnoException).code})`,
    )
    return {}
  }
}

/** The text of `--help`. */
export function helpText(): string {
  const rows = table.map(({ flag, value, help, fallback }) => [
    `--${flag} ${value}`.trimEnd(),
    fallback !== '' && ['string', 'number'].includes(typeof fallback)
      ? `${help} (default ${fallback})`
      : help,
  ])
  for (const [name, [value, help]] of Object.entries(ARGUMENTS)) {
    rows.push([`--${name} ${value}`, help])
  }
  for (const [name, help] of Object.entries(COMMANDS)) rows.push([`--${name}`, help])
  const width = Math.max(...rows.map(([left = '']) => left.length))
  return [
    'Usage: portico [options], or node server.js [options]',
    '',
    ...rows.map(([left = '', right]) => `  ${left.padEnd(width)}  ${right}`),
    '',
    'Each setting can be given in the environment too: --max-fields as PORTICO_MAX_FIELDS. PORT and HOST',
    'count where the PORTICO_ ones are absent. A flag wins over the environment; its -ms may be left out.',
    '',
  ].join('\n')
}

interface Flags {
  readonly values: ReadonlyMap<string, string>
  readonly problems: readonly string[]
}

function readFlags(args: readonly string[]): Flags {
  const switches = table.filter(({ value }) => value === '').map(({ flag }) => flag)
  const known = new Set([...table.map(({ flag }) => flag), ...Object.keys(ARGUMENTS)])
  // The unit may be left out: --drain-delay 5000.
  const shortened = new Map(
    [...known].filter((flag) => flag.endsWith('-ms')).map((flag) => [flag.slice(0, -3), flag]),
  )
  const options = {
    ...Object.fromEntries(
      [...known, ...shortened.keys()].map((flag) => [
        flag,
        { type: switches.includes(flag) ? 'boolean' : 'string' } as const,
      ]),
    ),
    help: { type: 'boolean', short: 'h' } as const,
  }
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const values = new Map<string, string>()
  const problems: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') problems.push(`Unexpected argument ${quoted(token.value)}`)
    if (token.kind !== 'option') continue
    const name = shortened.get(token.name) ?? token.name
    if (Object.hasOwn(COMMANDS, name)) {
      if (token.value !== undefined) problems.push(`--${name} takes no value`)
      values.set(name, '')
    } else if (known.has(name)) values.set(name, textOf(token, switches.includes(name)))
    else problems.push(unknownOption(token.rawName, [...known, ...Object.keys(COMMANDS)]))
  }
  return { values, problems }
}

function unknownOption(rawName: string, known: readonly string[]): string {
  const meant = nearestName(rawName.replace(/^-+/, ''), known)
  const hint = meant === undefined ? 'see --help' : `did you mean --${meant}?`
  return `Unknown option ${quoted(rawName)}: ${hint}`
}

interface OptionToken {
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function textOf({ value, inlineValue }: OptionToken, isSwitch: boolean): string {
  if (value === undefined) return isSwitch ? 'true' : ''
  // `--host --version` is a forgotten address, not a strange one.
  return inlineValue === true || !value.startsWith('--') ? value : ''
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
    if (text) return { name, text }
  }
  return undefined
}

function environmentName({ flag }: Setting<unknown>): string {
  return `PORTICO_${flag.toUpperCase().replaceAll('-', '_')}`
}

// A line break in a value must not make two lines of one problem.
function quoted(text: string): string {
  return JSON.stringify(text)
}
