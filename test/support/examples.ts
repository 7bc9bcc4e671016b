import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { repositoryFile } from './repository.ts'
import { startNode } from './run-node.ts'

/** Returns the command in the first line of an example, such as `node examples/hello/server.js`. */
export async function commandOf(example: string): Promise<string> {
  const [first = ''] = (await readFile(repositoryFile(example), 'utf8')).split('\n', 1)
  const [, command] = /^\/\/ (node .*)$/.exec(first) ?? []
  if (command === undefined) throw new Error(`No command in the first line of ${example}`)
  return command
}

/** Starts an example with the command in its first line on a free port, and returns the first URL that it prints. */
export async function startExample(
  t: TestContext,
  example: string,
  env: Record<string, string> = {},
): Promise<string> {
  const [, ...args] = (await commandOf(example)).split(' ')
  const child = startNode(t, args, { PORT: '0', ...env })
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk) => {
    output += chunk
  })
  const ended = once(child, 'close').then(([code]) => {
    throw new Error(`${example} ended with ${code}: ${output}`)
  })
  // The end of the test kills the example: that end is no error.
  ended.catch(() => {})
  for (;;) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0]
    if (url !== undefined) return url
    await Promise.race([child.stdout && once(child.stdout, 'data'), ended])
  }
}
