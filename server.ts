#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { type Config, ConfigError, helpText, readConfig } from './lib/config.ts'
import { loadControllers } from './lib/controller-directory.ts'
import { FrontController } from './lib/front-controller.ts'
import { type Service, serve } from './lib/serve.ts'

// The process: what comes from outside to a running server, and signals and exit codes back.

const EXIT_FAILURE = 1
const EXIT_CONFIG = 2

// A closed or full stdout must not end a server.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})
// Node opens the inspector on it otherwise.
process.on('SIGUSR1', () => {})

await main()

async function main(): Promise<void> {
  try {
    const command = readConfig(process.argv.slice(2), process.env)
    if (command.name === 'help') process.stdout.write(helpText())
    else if (command.name === 'version') process.stdout.write(`${version()}\n`)
    else await run(command.config)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    fail(EXIT_CONFIG, ...error.problems)
  }
}

async function run(config: Config): Promise<void> {
  const front = await frontController(config)
  const service = await serve(front, config).catch((error: NodeJS.ErrnoException) => {
    fail(EXIT_FAILURE, `Can't listen on ${config.host}, port ${config.port}: ${error.code}`)
  })
  if (service === undefined) return
  stopOnSignals(service)
  process.stdout.write(`Portico ${version()} listens on ${service.url}\n`)
}

async function frontController({ controllers, names }: Config): Promise<FrontController> {
  try {
    const loaded = controllers === undefined ? {} : await loadControllers(controllers)
    return new FrontController({ ...loaded, names })
  } catch (error) {
    throw new ConfigError([(error as Error).message])
  }
}

function stopOnSignals(service: Service): void {
  const stop = async (): Promise<void> => {
    // The second one ends the process at once.
    process.off('SIGTERM', stop).off('SIGINT', stop)
    const destroyed = await service.close()
    if (destroyed > 0) fail(EXIT_FAILURE, `Stopped; ${destroyed} connections had to be destroyed`)
    process.exit()
  }
  process.on('SIGTERM', stop).on('SIGINT', stop)
}

function fail(code: number, ...lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`portico: ${line}\n`)
  process.exitCode = code
}

function version(): string {
  const file = readFileSync(new URL('./package.json', import.meta.url), 'utf8')
  return JSON.parse(file).version
}
