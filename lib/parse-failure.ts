import { Session } from 'node:inspector'

/** A file that the engine could not parse. */
export class ParseFailure {
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
