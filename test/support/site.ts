import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { writeFileIn } from './folder.ts'
import { bytesOf, parse, send } from './http.ts'
import { type Block, commandsOf } from './markdown.ts'
import { findFreePorts } from './ports.ts'
import { repositoryFile } from './repository.ts'
import { runNode } from './run-node.ts'
import { ServerProcess } from './server-process.ts'

/** The options of a {@link Site}. */
export interface SiteOptions {
  /** The file that `npx portico` runs (default: the built program). */
  readonly program?: string
  /** The output that each program of a block must print. */
  readonly output?: RegExp
}

const PORT = 3000
const HEALTH_PORT = 3001

// A secret has 32 bytes or more.
const SECRET = 'a-value-of-the-tests-of-the-pages'

// The commands that start the program, with an option of Node, and the arguments.
const START =
  /^(?:npx portico|npm start(?: --)?|(node dist\/server\.js)|node (--env-file=\S+) node_modules\/portico\/dist\/server\.js)(?: (.*))?$/

// These commands end by themselves.
const PRINTS = /--(?:routes|explain|check)\b/

/** The site that a reader of a page builds in a folder, block by block. */
export class Site {
  readonly #t: TestContext
  readonly #folder: string
  readonly #program: string
  readonly #output: RegExp
  #server: ServerProcess | undefined
  #args: readonly string[] = []
  #nodeOptions: readonly string[] = []
  #healthPort = 0

  constructor(t: TestContext, folder: string, options: SiteOptions = {}) {
    const { program = repositoryFile('dist/server.js'), output = /(?:)/ } = options
    this.#t = t
    this.#folder = folder
    this.#program = program
    this.#output = output
  }

  /**
   * Writes the file of a block, or runs its program, or runs its commands and compares their output with that of the page.
   *
   * @param place Names the block in the message of a failure.
   */
  async play(block: Block, place: string): Promise<void> {
    const { language, name, code, line } = block
    if (language === 'console') return this.#runCommands(block, place)
    if (/^[A-Z]|\./.test(name)) {
      // Each value that the reader chooses is one that a secret may have.
      const filled = name === '.env' ? code.replaceAll('=...', `=${SECRET}`) : code
      writeFileIn(this.#folder, name, filled)
      // The server loads its controllers once, at the start.
      this.#stop()
      if (/\.test\.js$/.test(name)) await this.#run(['--test', name], place)
    } else {
      const file = `program-${line}.js`
      writeFileIn(this.#folder, file, name === 'embed' ? endWhenListening(code) : code)
      await this.#run([file], place)
    }
  }

  async #run(args: readonly string[], place: string): Promise<void> {
    const { code, output } = await runNode(args, this.#folder)
    assert.equal(code, 0, `${place}: ${output}`)
    assert.match(output, this.#output, place)
  }

  async #runCommands(block: Block, place: string): Promise<void> {
    for (const { command, output } of commandsOf(block)) {
      const printed = await this.#runCommand(command)
      assert.notEqual(printed, undefined, `${place}: this test cannot run ${command}`)
      assert.equal(withoutIds(printed ?? ''), withoutIds(output), place)
    }
  }

  // Returns what a command prints; undefined if it is unknown.
  async #runCommand(command: string): Promise<string | undefined> {
    if (command.startsWith('curl ')) return this.#curl(command)
    const [start, isBuilt, nodeOption, rest = ''] = START.exec(command) ?? []
    const args = wordsOf(rest)
    if (PRINTS.test(rest)) {
      const program = isBuilt === undefined ? this.#inFolder() : undefined
      return (await new ServerProcess(this.#t, args, {}, program).ended).stdout.trimEnd()
    }
    if (start === undefined || isBuilt !== undefined) return undefined
    this.#args = args
    this.#nodeOptions = nodeOption === undefined ? [] : [nodeOption]
    this.#stop()
    return ''
  }

  async #curl(command: string): Promise<string> {
    this.#server ??= await this.#start()
    const port = await this.#server.port()
    const toHealth = command.includes(`:${HEALTH_PORT}/`)
    const bytes = curlBytesOf(command)
    const { rawHeaders, body } = parse(await send(toHealth ? this.#healthPort : port, bytes))
    if (!command.startsWith('curl -i')) return body.trimEnd()
    const lines = rawHeaders.split('\r\n').filter((line) => !/^(Date|Connection):/.test(line))
    return [...lines, '', body].join('\n').trimEnd()
  }

  async #start(): Promise<ServerProcess> {
    const [healthPort = 0] = await findFreePorts(1)
    this.#healthPort = healthPort
    const args = this.#args.map((arg) => (arg === String(HEALTH_PORT) ? String(healthPort) : arg))
    const program = { ...this.#inFolder(), nodeOptions: this.#nodeOptions }
    return new ServerProcess(this.#t, ['--port', '0', ...args], {}, program)
  }

  #inFolder(): { readonly file: string; readonly folder: string } {
    return { file: this.#program, folder: this.#folder }
  }

  #stop(): void {
    this.#server?.child.kill('SIGKILL')
    this.#server = undefined
  }
}

/** Returns a program that listens on a free port, and ends as soon as it listens. */
function endWhenListening(code: string): string {
  const onFreePort = code.replace(`port: ${PORT}`, 'port: 0')
  const listening = onFreePort.replace(
    new RegExp(`listen\\(${PORT}.*\\)`),
    "listen(0, '127.0.0.1', () => process.exit())",
  )
  return listening === onFreePort ? `${listening}\nprocess.exit()\n` : listening
}

/** Returns the request of a curl command. Knows the options that the pages use. */
function curlBytesOf(command: string): string {
  const words = wordsOf(command)
  const optionValues = (option: string): string[] =>
    words.flatMap((word, i) => (word === option ? [words[i + 1] ?? ''] : []))
  const url = words.find((word) => word.startsWith('http://127.0.0.1:')) ?? ''
  const body = optionValues('-d').join('&')
  const method = optionValues('-X')[0] ?? (body === '' ? 'GET' : 'POST')
  const headers = new Map([['Accept', '*/*']])
  if (body !== '') headers.set('Content-Type', 'application/x-www-form-urlencoded')
  const [user] = optionValues('-u')
  if (user !== undefined) headers.set('Authorization', `Basic ${btoa(user)}`)
  for (const line of optionValues('-H')) {
    const [name = '', value = ''] = line.split(': ', 2)
    headers.set(name, value)
  }
  const target = url.slice(`http://127.0.0.1:${PORT}`.length)
  return bytesOf({ method, target, headers: [...headers], body })
}

/** Splits a command as a shell does. */
function wordsOf(command: string): readonly string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

/** Replaces each UUID: every response has a new one of the same length. */
function withoutIds(text: string): string {
  return text.replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '<UUID>')
}
