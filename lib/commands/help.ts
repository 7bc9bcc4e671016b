import { commands, type Flag, options } from '../process/commands.ts'
import { print } from '../process/output.ts'
import { type Setting, settings } from '../process/settings.ts'

/** Runs `--help`. */
export function run(): void {
  print(helpText())
}

/** Returns the text of `--help`. */
export function helpText(): string {
  const sections = [
    ['Commands:', Object.entries(commands).map(flagRow)],
    ['Options:', Object.entries(options).map(flagRow)],
    ['Settings:', rowsOf((setting) => !isLimit(setting) && !isTime(setting))],
    ['Limits:', rowsOf(isLimit)],
    ['Times, in milliseconds:', rowsOf(isTime)],
  ] as const
  const width = Math.max(...sections.flatMap(([, rows]) => rows.map(([flag]) => flag.length)))
  return [
    'Usage: portico [command] [options] [settings], or node server.js in place of portico.',
    'Without a command, it starts the server.',
    'portico init [DIR] [--ts] writes a small application into a folder, and overwrites no file.',
    'portico routes-from-ini FILE [SECTION] prints the routes of an application.ini or routes.ini of ZF1.',
    ...sections.flatMap(([title, rows]) => [
      '',
      title,
      ...rows.map(([flag, help]) => `  ${flag.padEnd(width)}  ${help}`),
    ]),
    '',
    'Each setting is also read from the environment: PORTICO_MAX_FIELDS sets --max-fields. PORT and HOST',
    'are read if PORTICO_PORT and PORTICO_HOST are absent. A flag takes precedence over the environment.',
    'The suffix -ms of a flag may be omitted.',
    '',
  ].join('\n')
}

function rowsOf(isListed: (setting: Setting<unknown>) => boolean): readonly Row[] {
  return Object.values<Setting<unknown>>(settings).filter(isListed).map(settingRow)
}

function isLimit({ flag }: Setting<unknown>): boolean {
  return flag.startsWith('max-')
}

function isTime({ value }: Setting<unknown>): boolean {
  return value === 'MS'
}

type Row = readonly [flag: string, help: string]

function flagRow([name, { argument = '', help }]: readonly [string, Flag]): Row {
  return [`--${name} ${argument}`.trimEnd(), help]
}

function settingRow({ flag, value, help, fallback }: Setting<unknown>): Row {
  const hasDefault = fallback !== '' && ['string', 'number'].includes(typeof fallback)
  return [`--${flag} ${value}`.trimEnd(), hasDefault ? `${help} (default ${fallback})` : help]
}
