import { commands, type Flag, options } from './commands.ts'
import { type Setting, settings } from './settings.ts'

/** Returns the text of `--help`. */
export function helpText(): string {
  const sections = [
    ['Commands:', Object.entries(commands).map(flagRow)],
    ['Options:', Object.entries(options).map(flagRow)],
    ['Settings:', Object.values<Setting<unknown>>(settings).map(settingRow)],
  ] as const
  const width = Math.max(...sections.flatMap(([, rows]) => rows.map(([flag]) => flag.length)))
  return [
    'Usage: portico [command] [options] [settings], or node server.js in place of portico.',
    'Without a command, it starts the server.',
    ...sections.flatMap(([title, rows]) => [
      '',
      title,
      ...rows.map(([flag, help]) => `  ${flag.padEnd(width)}  ${help}`),
    ]),
    '',
    'The environment can set them too: --max-fields as PORTICO_MAX_FIELDS. PORT and HOST are read if the',
    'PORTICO_ ones are absent. A flag wins over the environment. A flag may omit its -ms.',
    '',
  ].join('\n')
}

type Row = readonly [flag: string, help: string]

function flagRow([name, { argument = '', help }]: readonly [string, Flag]): Row {
  return [`--${name} ${argument}`.trimEnd(), help]
}

function settingRow({ flag, value, help, fallback }: Setting<unknown>): Row {
  const hasDefault = fallback !== '' && ['string', 'number'].includes(typeof fallback)
  return [`--${flag} ${value}`.trimEnd(), hasDefault ? `${help} (default ${fallback})` : help]
}
