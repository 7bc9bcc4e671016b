import { pathToFileURL } from 'node:url'
import { withTimeout } from '../http/async.ts'
import { factsOf, read, toError } from '../http/exceptions.ts'
import { isOfPortico } from '../reporting/frames.ts'
import { FileError, loadModule } from './load-module.ts'
import { locateSyntaxError } from './syntax-error.ts'

// A file may load data before the first request. The limit ends a load that never settles.
const LOAD_TIMEOUT_MS = 10_000

/**
 * Loads a file, and reads its exports, within 10 seconds.
 *
 * @param kind The first words of the message, such as `The controller`.
 * @throws {Error} If either fails. The message is one line that names the file, or one for each wrong option.
 * @internal
 */
export async function loadFile<T extends object>(
  kind: string,
  file: string,
  readExports: (exports: object) => T | Promise<T>,
): Promise<T> {
  try {
    return await withTimeout(
      loadModule(file).then(readExports),
      LOAD_TIMEOUT_MS,
      'it is not loaded',
    )
  } catch (thrown) {
    const error = toError(thrown)
    const reason = await reasonOf(file, error)
    const lines = reason.split('\n').map((each) => `${kind} "${file}" does not load: ${each}`)
    throw new Error(lines.join('\n'), { cause: error })
  }
}

/**
 * Calls a function that reads files.
 *
 * @param subject What it reads: the first words of the message, such as `The folder "app"`.
 * @throws {Error} With the error code of the system.
 * @internal
 */
export function reading<T>(subject: string, call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw new Error(`${subject} can't be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

// Returns the message of an error, and the first location in its stack that is outside this package.
async function reasonOf(file: string, error: Error): Promise<string> {
  const { code, message } = factsOf(error)
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.[cm]?ts"/.test(message))
    return `${message}: Node.js 22.18 or later runs TypeScript without a build`
  if (error instanceof FileError) return message
  return lineOf(error, locationIn(error) ?? (await locateSyntaxError(file, error)))
}

/** Returns the first line of the message of an error, with its location outside of this package. @internal */
export function lineOf(error: Error, location = locationIn(error)): string {
  const { message } = factsOf(error)
  return [message.split('\n')[0] || 'it throws', location].filter(Boolean).join(', at ')
}

// The frames of an ES module have a URL, those of a CommonJS module a path. A SyntaxError of a CommonJS module
// begins with path and line. The `stack` of an error that a file throws may be any value.
function locationIn(error: Error): string | undefined {
  const stack = read(error, 'stack')
  if (typeof stack !== 'string') return undefined
  const locations = stack.match(/(?:file:[^\s)]*|(?<=^|\()\/[^\n()]*):\d+(?::\d+)?/gm) ?? []
  return locations
    .map((each) => each.replace(/^\/.*?(?=(?::\d+){1,2}$)/, (path) => pathToFileURL(path).href))
    .find((each) => !isOfPortico(each))
}
