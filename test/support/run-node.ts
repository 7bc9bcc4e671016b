import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { repositoryFile } from './repository.ts'

/** The environment that a Node of a test needs: without it, c8 would not see what the program runs. */
export function childEnvironment(env: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE, ...env }
}

/** Returns why a test of another program is skipped; false if the program is installed. */
export function skipWithout(program: string): string | false {
  return spawnSync(program, ['-v']).error !== undefined && `${program} is not installed`
}

/** Starts `node <args>` in the root of the repository. The end of the test kills it. */
export function startNode(
  t: TestContext,
  args: readonly string[],
  env: Record<string, string> = {},
): ChildProcess {
  const child = spawn(process.execPath, args, {
    cwd: repositoryFile('.'),
    env: childEnvironment(env),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  return child
}

/** Runs `node <args>` to its end, and returns its exit code and both of its output streams. */
export async function runNode(
  args: readonly string[],
  cwd?: string,
): Promise<{ readonly code: number; readonly output: string }> {
  // Without it, a nested test runner would report to this one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk
    })
  }
  const [code] = await once(child, 'close')
  return { code, output }
}
