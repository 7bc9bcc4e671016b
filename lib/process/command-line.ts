import { nearestName } from '../http/check-options.ts'
import { type Command, type CommandName, commands, type Flag, options } from './commands.ts'
import { contradictions } from './contradictions.ts'
import { type Config, ConfigError, type Setting, settings } from './settings.ts'

/** The command to run, with its options. */
export interface CommandLine {
  readonly command: CommandName
  /** The settings; their defaults for a command that reads none. */
  readonly config: Config
  /** Probable mistakes, which the log shows. */
  readonly warnings: readonly string[]
  /** The names of the settings that a flag or the environment sets. An application file sets no others. */
  readonly given: ReadonlySet<string>
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

// A flag, and its value after an equals sign.
const FLAG = /^(--[^=]+|-[^-])(?:=(.*))?/s

const commandNames = Object.keys(commands) as (keyof typeof commands)[]
const flags: Readonly<Record<string, Flag>> = { ...commands, ...options }
const settingsByFlag: ReadonlyMap<string, Setting<unknown>> = new Map(
  Object.values<Setting<unknown>>(settings).map((setting) => [setting.flag, setting]),
)
const variables: readonly string[] = [...settingsByFlag.keys()].map(variableOf)

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
  const { ignoresSettings, defaults = {} }: Partial<Command> = command ? commands[command] : {}
  const line = {
    command: command ?? 'serve',
    json: values.has('json'),
    target: values.get('explain') ?? '',
    method: values.get('method') ?? 'GET',
  } as const
  if (ignoresSettings) return { ...line, ...parseSettings(new Map(), {}, []), warnings: [] }

  const file = parseEnvFile(values.get('env-file'), readFile, problems)
  const texts = new Map<string, string>()
  for (const [name, text] of [...Object.entries(file), ...Object.entries(env)]) {
    // The unit may be omitted, as in a flag.
    const whole = variables.includes(`${name}_MS`) ? `${name}_MS` : name
    // An empty variable counts as absent: `PORT= portico` is how a shell usually unsets one.
    if (text) texts.set(whole, text)
  }
  for (const [name, text] of values) texts.set(flagOf(name), text)
  const { config, given } = parseSettings(texts, defaults, problems)
  // An application file has settings too: loadApplication() looks for contradictions when it has loaded the file.
  // --healthcheck does not know whether the server has such a file.
  if (config.app === undefined && command !== 'healthcheck')
    problems.push(...contradictions(config))
  problems.push(...misuses(values, config))
  if (problems.length > 0) throw new ConfigError(problems)
  return { ...line, config, given, warnings: misspelt([...texts.keys()]) }
}

function parseFlags(args: readonly string[], problems: string[]): ReadonlyMap<string, string> {
  const names = [...settingsByFlag.keys(), ...Object.keys(flags)]
  // The unit may be omitted: --drain-delay 5000.
  const nameOf = new Map(names.map((name) => [flagOf(name.replace(/-ms$/, '')), name]))
  for (const name of names) nameOf.set(flagOf(name), name)
  nameOf.set('-h', 'help')
  const values = new Map<string, string>()
  const rest = args.values()
  for (const arg of rest) {
    const [, flag, inlineValue] = FLAG.exec(arg) ?? []
    const name = nameOf.get(flag ?? '')
    // Rejects `--` too: a parent process appends flags, and `--` would make them arguments.
    if (arg === '--' || flag === undefined) problems.push(unexpected(arg, args))
    else if (name === undefined) problems.push(unknownOption(flag, names))
    // A switch has no value, or ''.
    else if (settingsByFlag.get(name)?.value ?? flags[name]?.argument) {
      const value: string = inlineValue ?? rest.next().value ?? ''
      // In `--host --version`, the address is missing. It is not "--version".
      values.set(name, inlineValue === undefined && value.startsWith('--') ? '' : value)
    } else if (Object.hasOwn(flags, name) && inlineValue !== undefined) {
      problems.push(`--${name} takes no value`)
    } else values.set(name, inlineValue ?? 'true')
  }
  return values
}

// With --explain, an argument may be a target, which may hold a secret.
function unexpected(argument: string, args: readonly string[]): string {
  if (args.some((each) => each.startsWith('--explain')))
    return 'Unexpected argument: --explain expects one'
  const words = ['init', 'routes-from-ini']
  const nearest = nearestName(argument, [...words, ...commandNames], 2)
  const meant = /\.[cm]?[jt]s$/.test(argument)
    ? '--app'
    : nearest && (words.includes(nearest) ? nearest : flagOf(nearest))
  // A line break in a value must not split the problem into two lines.
  return `Unexpected argument ${JSON.stringify(argument)}${meant ? `: did you mean ${meant}?` : ''}`
}

function unknownOption(flag: string, names: readonly string[]): string {
  const nearest = nearestName(flag.replace(/^-+/, ''), names)
  const hint = nearest === undefined ? 'see --help' : `did you mean --${nearest}?`
  return `Unknown option ${JSON.stringify(flag)}: ${hint}`
}

function parseEnvFile(
  file: string | undefined,
  readFile: ReadFile,
  problems: string[],
): Environment {
  if (file === undefined) return {}
  try {
    // Only this option needs node:util, which takes 1 ms to load.
    const { parseEnv } = process.getBuiltinModule('node:util')
    // Editors of Windows may begin a file with a byte order mark.
    return parseEnv(readFile(file).replace(/^\uFEFF/, '')) as Environment
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    problems.push(`--env-file is ${JSON.stringify(file)}: it can't be read (${code})`)
    return {}
  }
}

function parseSettings(
  texts: ReadonlyMap<string, string>,
  defaults: Partial<Config>,
  problems: string[],
): Pick<CommandLine, 'config' | 'given'> {
  const given = new Set<string>()
  const entries = Object.entries(settings).map(([name, setting]: [string, Setting<unknown>]) => {
    const { flag, alias = '', parse, expected, fallback } = setting
    const source = [flagOf(flag), variableOf(flag), alias].find((each) => texts.has(each))
    if (source === undefined) return [name, defaults[name as keyof Config] ?? fallback]
    given.add(name)
    const text = texts.get(source) ?? ''
    const value = parse(text)
    if (value === undefined)
      problems.push(`${source} is ${JSON.stringify(text)}: expected ${expected}`)
    return [name, value]
  })
  return { config: Object.freeze(Object.fromEntries(entries)), given }
}

function variableOf(flag: string): string {
  return `PORTICO_${flag.toUpperCase().replaceAll('-', '_')}`
}

// Finds misspelt variables. A cluster sets others for a service of this name, such as PORTICO_SERVICE_HOST.
function misspelt(names: readonly string[]): string[] {
  return names
    .filter((name) => name.startsWith('PORTICO_') && !variables.includes(name))
    .flatMap((name) => {
      const nearest = nearestName(name, variables, 2)
      return nearest ? [`There is no variable ${name}: did you mean ${nearest}?`] : []
    })
}

// Finds commands and options that are invalid, or that require another one.
function misuses(values: ReadonlyMap<string, string>, config: Config): string[] {
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
    if (needs?.every((setting) => config[setting] === undefined)) {
      const needed = needs.map((setting) => flagOf(settings[setting].flag))
      problems.push(`--${name} needs ${needed.join(' or ')}`)
    }
  }
  return problems
}

function flagOf(name: string): string {
  return `--${name}`
}
