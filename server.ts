#!/usr/bin/env node
import cluster from 'node:cluster'
import { readFileSync, statSync } from 'node:fs'
import { run as serve } from './lib/commands/serve.ts'
import { type CommandLine, parseCommandLine } from './lib/process/command-line.ts'
import type { CommandName } from './lib/process/commands.ts'
import { exit, fail } from './lib/process/output.ts'
import { ConfigError, EXIT_CONFIG } from './lib/process/settings.ts'

// Parses the command line, and runs the command.

// The file of a command. If its function returns a number, that is the exit code of the process.
interface CommandFile {
  readonly run: (line: CommandLine, program: string) => unknown
}

// Loads the file of each command when the command is requested: serving needs none of the others.
const commandFiles: Readonly<
  Record<CommandName, (line: CommandLine) => CommandFile | Promise<CommandFile>>
> = {
  help: () => import('./lib/commands/help.ts'),
  version: () => import('./lib/commands/version.ts'),
  check: () => import('./lib/commands/check.ts'),
  healthcheck: () => import('./lib/commands/healthcheck.ts'),
  routes: () => import('./lib/commands/routes.ts'),
  explain: () => import('./lib/commands/explain.ts'),
  watch: () => import('./lib/commands/watch.ts'),
  serve: ({ config }) =>
    config.workers > 0 && cluster.isPrimary
      ? import('./lib/commands/supervise.ts')
      : { run: serve },
}

// A closed or full stdout or stderr must not end the process.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})
// Node would open the inspector on this signal.
process.on('SIGUSR1', () => {})

// Does not await: in the package, the files of the other commands import this file, and would wait for its end.
run(process.argv.slice(2)).catch((error) => {
  if (!(error instanceof ConfigError)) throw error
  return fail(EXIT_CONFIG, error.problems)
})

async function run(args: readonly string[]): Promise<void> {
  const exitCode = await runCommand(args)
  if (typeof exitCode === 'number') await exit(exitCode)
}

async function runCommand(args: readonly string[]): Promise<unknown> {
  const [name, ...others] = args
  if (name === 'init') {
    const { init } = await import('./lib/commands/init.ts')
    return init(others, new URL('templates/', import.meta.url))
  }
  if (name === 'routes-from-ini') {
    const { routesFromIni } = await import('./lib/commands/routes-from-ini.ts')
    return routesFromIni(others)
  }
  const line = parseCommandLine(args, process.env, readFile)
  const file = await commandFiles[line.command](line)
  return file.run(line, import.meta.url)
}

// Node reads the file of --env-file too, and so empties a pipe.
function readFile(file: string): string {
  if (statSync(file).isFIFO()) throw Object.assign(new Error(), { code: 'a pipe' })
  return readFileSync(file, 'utf8')
}
