import { METHODS } from 'node:http'
import type { Config } from './settings.ts'

/** A flag of the command line that is not a setting: it is never read from the environment. */
export interface Flag {
  /** The name of its argument in the help text; a flag without one is a switch. */
  readonly argument?: string
  readonly help: string
  /** Checks the argument, and returns the problem in one line. */
  readonly problemOf?: (argument: string) => string | undefined
}

/** A command: the program runs it instead of serving. Only one command is allowed at a time. */
export interface Command extends Flag {
  /** The options that belong to the command. */
  readonly options?: readonly string[]
  /** The settings of which the command requires one. */
  readonly needs?: readonly (keyof Config)[]
  /** The defaults of settings that differ for this command. */
  readonly defaults?: Partial<Config>
  /** Whether the command reads no settings, and so also works with invalid ones. */
  readonly ignoresSettings?: boolean
}

/** The name of a command is its flag. `serve` has no flag: the program serves by default. */
export type CommandName =
  | ('help' | 'version' | 'check' | 'healthcheck')
  | ('routes' | 'explain' | 'watch' | 'serve')

/** Every command that has a flag. `server.ts` has the function that runs it. */
export const commands: Readonly<Record<Exclude<CommandName, 'serve'>, Command>> = {
  help: { help: 'print this text', ignoresSettings: true },
  version: { help: 'print the version', ignoresSettings: true },
  check: { help: 'load everything, print the effective configuration, and exit' },
  healthcheck: {
    help: 'ask the health port whether the server is ready; exit code 0 or 1',
    needs: ['healthPort'],
  },
  routes: {
    help: 'print every URL with its methods, action, file and line, and exit',
    options: ['json'],
  },
  explain: {
    argument: 'TARGET',
    help: 'print where a request would go, and why; exit code 0 or 1',
    options: ['json', 'method'],
    // The target is not quoted: it may hold a secret.
    problemOf: (target) =>
      /^(?:[/*]|https?:\/\/[!-.0->A-~]+(?![^/?]))[!-~\u0080-\uffff]*$/i.test(target)
        ? undefined
        : '--explain expects a path or a URL without white space, such as "/news/list?page=2"',
  },
  watch: {
    help: 'for development: restart when a file of the application changes',
    needs: ['controllers', 'app'],
    defaults: { env: 'development' },
  },
}

/** Every option that is neither a command nor a setting. */
export const options: Readonly<Record<string, Flag>> = {
  json: { help: 'with --routes or --explain: print one JSON document' },
  method: {
    argument: 'METHOD',
    help: 'with --explain: the method of the request (default GET)',
    problemOf: (method) =>
      METHODS.includes(method)
        ? undefined
        : `--method is ${JSON.stringify(method)}: expected a method such as "GET" or "POST"`,
  },
  'env-file': {
    argument: 'FILE',
    help: 'file of settings, such as PORT=80; the environment takes precedence',
  },
}
