import { spawnSync } from 'node:child_process'
import { Session } from 'node:inspector'
import { fileURLToPath } from 'node:url'
import { type ControllerDirectory, loadControllers } from '../controllers/load-controllers.ts'

const SYNTAX_CHECK_MS = 5_000

/**
 * Loads a folder as {@link loadControllers} does, and names the line of a file that is no JavaScript: for
 * people, and not for production, where the inspector is nothing.
 *
 * @param node The path of the Node.js that is asked for the line.
 */
export async function loadTelling(node: string, directory: string): Promise<ControllerDirectory> {
  const failure = new ParseFailure()
  try {
    return await loadControllers(directory)
  } catch (error) {
    const { message, cause } = error as Error
    const isSyntax = failure.url !== undefined && cause instanceof SyntaxError
    const place = isSyntax ? placeIn(failure.url, node) : undefined
    throw place === undefined ? error : new Error(`${message}, at ${place}`)
  } finally {
    failure.close()
  }
}

// The engine knows the line, and tells it only when it ends a process.
function placeIn(url: string, node: string): string | undefined {
  const { stderr } = spawnSync(node, ['--check', fileURLToPath(url)], {
    encoding: 'utf8',
    timeout: SYNTAX_CHECK_MS,
  })
  return /^.*:\d+$/m.exec(stderr)?.[0]
}

// A file that the engine could not parse.
class ParseFailure {
  readonly #session: Session | undefined = connected()
  #url: string | undefined

  /** From here on, until it is closed, files are watched for as they are loaded. */
  constructor() {
    this.#session?.on('Debugger.scriptFailedToParse', ({ params }) => {
      if (params.url.startsWith('file:')) this.#url = params.url
    })
    this.#session?.post('Debugger.enable')
  }

  /** The URL of the last such file: neither message nor stack of a module's SyntaxError names it. */
  get url(): string | undefined {
    return this.#url
  }

  close(): void {
    this.#session?.disconnect()
  }
}

// Not where the inspector must not be used (`node --permission`): then nothing is found.
function connected(): Session | undefined {
  try {
    const session = new Session()
    session.connect()
    return session
  } catch {
    return undefined
  }
}
