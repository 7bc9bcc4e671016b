import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { repositoryFile } from './repository.ts'

/** The command in the first line of an example. */
export async function commandOf(example: string): Promise<string> {
  const [first = ''] = (await readFile(repositoryFile(example), 'utf8')).split('\n', 1)
  const [, command] = /^\/\/ (node .*)$/.exec(first) ?? []
  if (command === undefined) throw new Error(`No command in the first line of ${example}`)
  return command
}

/** Runs a command of the repository with this Node, until the test ends. */
export function runCommand(
  t: TestContext,
  command: string,
  env: Record<string, string> = {},
): ChildProcess {
  const [, ...args] = command.split(' ')
  const child = spawn(process.execPath, args, {
    cwd: repositoryFile('.'),
    env: { PATH: process.env.PATH, NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  return child
}

/** Starts an example by the command in its first line, on a free port: the first URL that it tells. */
export async function startExample(
  t: TestContext,
  example: string,
  env: Record<string, string> = {},
): Promise<string> {
  const child = runCommand(t, await commandOf(example), { PORT: '0', ...env })
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk) => {
    output += chunk
  })
  const ended = once(child, 'close').then(([code]) => {
    throw new Error(`${example} ended with ${code}: ${output}`)
  })
  // Ended by the test, it is nobody's error.
  ended.catch(() => {})
  for (;;) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0]
    if (url !== undefined) return url
    await Promise.race([child.stdout && once(child.stdout, 'data'), ended])
  }
}
