import { parseArgs, parseEnv } from 'node:util'
import { nearestName } from '../routing/nearest-name.ts'
import { type Command, type CommandName, commands, type Flag, options } from './commands.ts'
import { type Config, ConfigError, type Setting, settings } from './settings.ts'

/** The command to run, with its options. */
export interface CommandLine {
  readonly command: CommandName
  /** The settings; their defaults for a command that reads none. */
  readonly config: Config
  /** Whether `--json` is present. */
  readonly json: boolean
  /** The target of `--explain`; else empty. */
  readonly target: string
  /** The method of `--method` (default `GET`). */
  readonly method: string
}

/** Environment variables, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Reads a text file. */
export type ReadFile = (file: string) => string

type Values = ReadonlyMap<string, string>

const commandNames = Object.keys(commands) as (keyof typeof commands)[]
const flags: Readonly<Record<string, Flag>> = { ...commands, ...options }
const settingsByFlag: ReadonlyMap<string, Setting<unknown>> = new Map(
  Object.values<Setting<unknown>>(settings).map((setting) => [setting.flag, setting]),
)

/**
 * Parses the command line and the environment. The order of precedence is: flags, the environment, the file
 * of `--env-file`, defaults.
 *
 * @param readFile Reads the file of `--env-file`.
 * @throws {ConfigError} If there are problems; the error has all of them.
 */
export function parseCommandLine(
  args: readonly string[],
  env: Environment,
  readFile: ReadFile,
): CommandLine {
  const problems: string[] = []
  const values = parseFlags(args, problems)
  const command = commandNames.find((name) => values.has(name))
  const row: Command = command === undefined ? { help: '' } : commands[command]
  const line = {
    command: command ?? 'serve',
    json: values.has('json'),
    target: values.get('explain') ?? '',
    method: values.get('method') ?? 'GET',
  } as const
  if (row.ignoresSettings) return { ...line, config: parseSettings(new Map(), {}, {}, []) }

  const allEnv = { ...parseEnvFile(values.get('env-file'), readFile, problems), ...nonEmpty(env) }
  const config = parseSettings(values, allEnv, row.defaults ?? {}, problems)
  problems.push(...contradictions(config), ...misuses(values, config))
  if (problems.length > 0) throw new ConfigError(problems)
  return { ...line, config }
}

function parseFlags(args: readonly string[], problems: string[]): Values {
  const names = [...settingsByFlag.keys(), ...Object.keys(flags)]
  // The unit may be omitted: --drain-delay 5000.
  const shortNames = new Map(
    names.filter((name) => name.endsWith('-ms')).map((name) => [name.slice(0, -3), name]),
  )
  const types = [...names, ...shortNames.keys()].map((name) => {
    const type = takesArgument(shortNames.get(name) ?? name) ? 'string' : 'boolean'
    return [name, { type } as const] as const
  })
  const { tokens } = parseArgs({
    args: [...args],
    options: { ...Object.fromEntries(types), help: { type: 'boolean', short: 'h' } },
    strict: false,
    tokens: true,
  })
  const values = new Map<string, string>()
  for (const token of tokens) {
    if (token.kind === 'positional') problems.push(`Unexpected argument ${quoted(token.value)}`)
    if (token.kind !== 'option') continue
    const name = shortNames.get(token.name) ?? token.name
    if (!names.includes(name)) problems.push(unknownOption(token.rawName, names))
    else if (Object.hasOwn(flags, name) && !takesArgument(name) && token.value !== undefined)
      problems.push(`--${name} takes no value`)
    else values.set(name, textOf(token, takesArgument(name)))
  }
  return values
}

function takesArgument(name: string): boolean {
  const setting = settingsByFlag.get(name)
  return setting === undefined ? flags[name]?.argument !== undefined : setting.value !== ''
}

function unknownOption(rawName: string, names: readonly string[]): string {
  const nearest = nearestName(rawName.replace(/^-+/, ''), names)
  const hint = nearest === undefined ? 'see --help' : `did you mean --${nearest}?`
  return `Unknown option ${quoted(rawName)}: ${hint}`
}

interface OptionToken {
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function textOf({ value, inlineValue }: OptionToken, takesArgument: boolean): string {
  if (value === undefined) return takesArgument ? '' : 'true'
  // In `--host --version`, the address is missing. It is not "--version".
  return inlineValue === true || !value.startsWith('--') ? value : ''
}

function parseEnvFile(
  file: string | undefined,
  readFile: ReadFile,
  problems: string[],
): Environment {
  if (file === undefined) return {}
  try {
    return parseEnv(readFile(file)) as Environment
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    problems.push(`--env-file is ${quoted(file)}: it can't be read (${code})`)
    return {}
  }
}

// An empty variable counts as absent: `PORT= portico` is how a shell usually unsets one.
function nonEmpty(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([, text]) => text))
}

function parseSettings(
  values: Values,
  env: Environment,
  defaults: Partial<Config>,
  problems: string[],
): Config {
  const entries = Object.entries(settings).map(([name, setting]: [string, Setting<unknown>]) => {
    const source = sourceOf(setting, values, env)
    if (source === undefined) return [name, defaults[name as keyof Config] ?? setting.fallback]
    const value = setting.parse(source.text)
    if (value === undefined) {
      problems.push(`${source.name} is ${quoted(source.text)}: expected ${setting.expected}`)
    }
    return [name, value]
  })
  return Object.freeze(Object.fromEntries(entries))
}

function sourceOf(
  { flag, alias = '' }: Setting<unknown>,
  values: Values,
  env: Environment,
): { name: string; text: string } | undefined {
  const argument = values.get(flag)
  if (argument !== undefined) return { name: `--${flag}`, text: argument }
  const name = [`PORTICO_${flag.toUpperCase().replaceAll('-', '_')}`, alias].find(
    (each) => env[each],
  )
  return name === undefined ? undefined : { name, text: env[name] ?? '' }
}

// Finds settings that are valid alone, but contradict each other.
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

// Finds commands and options that are invalid, or that require another one.
function misuses(values: Values, config: Config): string[] {
  const requested = commandNames.filter((name) => values.has(name))
  const problems = Object.entries(flags).flatMap(([name, { problemOf }]) => {
    const argument = values.get(name)
    return (argument !== undefined && problemOf?.(argument)) || []
  })
  if (requested.length > 1) {
    problems.push(`${requested.map(flagOf).join(' and ')}: expected one of them at a time`)
  }
  for (const option of Object.keys(options).filter((name) => values.has(name))) {
    const owners = commandNames.filter((name) => commands[name].options?.includes(option))
    if (owners.length > 0 && !owners.some((name) => values.has(name))) {
      problems.push(`--${option} needs ${owners.map(flagOf).join(' or ')}`)
    }
  }
  for (const name of requested) {
    const { needs } = commands[name]
    if (needs !== undefined && config[needs] === undefined) {
      problems.push(`--${name} needs --${settings[needs].flag}`)
    }
  }
  return problems
}

function flagOf(name: string): string {
  return `--${name}`
}

// A line break in a value must not split the problem into two lines.
function quoted(text: string): string {
  return JSON.stringify(text)
}
