import { readFileSync } from 'node:fs'
import { translateIni } from '../inspect/ini-routes.ts'
import { EXIT_FAILURE, print, printProblems } from '../process/output.ts'
import { ConfigError } from '../process/settings.ts'
import { jsonLine } from '../scrubbing/printable.ts'

/**
 * Runs `portico routes-from-ini FILE [SECTION]`: prints the routes of an `application.ini` or a `routes.ini` of ZF1 as the
 * option `routes`, and names on stderr each line that it cannot translate.
 *
 * @returns The exit code: 1 if there is such a line, or no route.
 * @throws {ConfigError} If the arguments are invalid, or the file cannot be read.
 */
export function routesFromIni([file = '', section, ...others]: readonly string[]): number {
  if (file === '' || others.length > 0)
    throw new ConfigError(['Expected routes-from-ini FILE [SECTION]'])
  const { routes, problems } = translated(file, section)
  print(`export const routes = ${codeOf(routes)}\n`)
  const lines = problems.map(([line, problem]) => `${file}:${line}: ${problem}`)
  if (Object.keys(routes).length === 0) lines.push(`${file}: no route`)
  printProblems(lines)
  return lines.length > 0 ? EXIT_FAILURE : 0
}

// Returns the code of an object: JSON, with the literals of regular expressions between two NUL. translateIni() leaves no NUL in a text.
function codeOf(routes: object): string {
  const mark = (_: string, value: unknown): unknown =>
    value instanceof RegExp ? `\0${value}\0` : value
  return JSON.stringify(routes, mark, 2).replace(/"\\u0000(.*)\\u0000"/g, (_, literal) =>
    JSON.parse(`"${literal}"`),
  )
}

function translated(file: string, section?: string): ReturnType<typeof translateIni> {
  try {
    return translateIni(readFileSync(file, 'utf8'), section)
  } catch (error) {
    throw new ConfigError([`${jsonLine(file)} can't be translated: ${(error as Error).message}`])
  }
}
