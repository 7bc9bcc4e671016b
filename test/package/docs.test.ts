import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { bytesOf, parse, send } from '../support/http.ts'
import { type Block, blocksOf, commandsOf } from '../support/markdown.ts'
import { repositoryFile } from '../support/repository.ts'
import { ServerProcess } from '../support/server-process.ts'

// What stands behind the fence of a block says what becomes of it, beside the check of its types:
//
//   ```js controllers/news.js   a file of the page's site
//   ```js embed                 a program that has to end well, when it listens
//   ```js                       the same, where it has assertions
//   ```console                  after "npm start -- ...", each curl has to print what is shown; so has
//                               node dist/server.js ...
const docs = readdirSync(repositoryFile('docs')).filter((name) => name.endsWith('.md'))
// Without docs/reference/: TypeDoc writes it from the docstrings, whose examples are fragments.
const pages = ['README.md', ...docs.sort().map((name) => `docs/${name}`)].map((name) => ({
  name,
  blocks: blocksOf(readFileSync(repositoryFile(name), 'utf8')),
}))

describe('The code of the pages', () => {
  it('has no error of types', async (t) => {
    const root = await emptyFolder(t)
    let blocks = 0
    for (const [at, page] of pages.entries()) {
      // A file that is shown once more is another version, beside the same others.
      let version = join(root, `${at}-0`)
      const seen = new Set<string>()
      for (const block of page.blocks.filter(isScript)) {
        const isFile = block.name.includes('.')
        const file = isFile ? block.name : `line-${block.line}.${block.language}`
        if (seen.has(file)) {
          const next = join(root, `${at}-${block.line}`)
          await cp(version, next, { recursive: true })
          version = next
        }
        seen.add(file)
        await write(join(version, file), typed(block, page.name))
        blocks++
      }
    }
    assert.ok(blocks > 0)
    await writeFile(join(root, 'tsconfig.json'), JSON.stringify(TSCONFIG))
    const tsc = repositoryFile('node_modules/typescript/bin/tsc')
    const { code, output } = await run([tsc, '--project', root])
    assert.equal(code, 0, output)
  })

  for (const { name, blocks } of pages.filter(({ blocks }) => blocks.some(isRun))) {
    it(`runs, and prints what ${name} shows`, async (t) => {
      const site = new Site(t, await emptyFolder(t))
      for (const block of blocks.filter(isRun)) {
        await site.play(block, `${name}:${block.line}`)
      }
    })
  }
})

const TSCONFIG = {
  extends: repositoryFile('examples/tsconfig.json'),
  compilerOptions: {
    rootDir: '.',
    noImplicitAny: false,
    noUnusedParameters: false,
    noUnusedLocals: false,
    types: ['node'],
    typeRoots: [repositoryFile('node_modules/@types')],
  },
  include: ['.'],
  exclude: [],
}

/** What the reader of a page has built so far. */
class Site {
  readonly #t: TestContext
  readonly #folder: string
  #server: ServerProcess | undefined
  #args: readonly string[] = []

  constructor(t: TestContext, folder: string) {
    this.#t = t
    this.#folder = folder
  }

  async play(block: Block, place: string): Promise<void> {
    if (block.language === 'console') await this.#converse(block, place)
    else if (block.name.includes('.')) {
      await write(join(this.#folder, block.name), block.code)
      // The controllers are loaded once, at the start.
      this.#stop()
      if (/\.test\.js$/.test(block.name)) await this.#run(['--test', block.name], place)
    } else {
      const file = `program-${block.line}.js`
      await write(join(this.#folder, file), block.name === 'embed' ? ending(block) : block.code)
      await this.#run([file], place)
    }
  }

  async #run(args: readonly string[], place: string): Promise<void> {
    const { code, output } = await run(args, this.#folder)
    assert.equal(code, 0, `${place}: ${output}`)
  }

  async #converse(block: Block, place: string): Promise<void> {
    for (const { command, output } of commandsOf(block)) {
      const [, start] = /^npm start(?: -- (.*))?$/.exec(command) ?? []
      if (command.startsWith('npm start')) {
        this.#args = (start ?? '').split(' ').filter(Boolean)
        this.#stop()
      } else if (command.startsWith('curl ')) {
        assert.equal(withoutIds(await this.#curl(command)), withoutIds(output), place)
      } else if (command.startsWith('node dist/server.js ')) {
        const { stdout } = await new ServerProcess(this.#t, wordsOf(command).slice(2)).ended
        assert.equal(stdout.trimEnd(), output, place)
      } else assert.fail(`${place}: nothing here can run ${command}`)
    }
  }

  async #curl(command: string): Promise<string> {
    const args = this.#args.map((arg) => (arg === 'controllers' ? join(this.#folder, arg) : arg))
    this.#server ??= new ServerProcess(this.#t, ['--port', '0', ...args])
    const port = Number(new URL(await this.#server.url()).port)
    const { rawHeaders, body } = parse(await send(port, asBytes(command)))
    if (!command.startsWith('curl -i')) return body.trimEnd()
    const lines = rawHeaders.split('\r\n').filter((line) => !/^(Date|Connection):/.test(line))
    return [...lines, '', body].join('\n').trimEnd()
  }

  #stop(): void {
    this.#server?.child.kill('SIGKILL')
    this.#server = undefined
  }
}

function isScript({ language }: Block): boolean {
  return language === 'js' || language === 'ts'
}

function isRun(block: Block): boolean {
  const { language, name, code } = block
  return language === 'console' || (language === 'js' && (name !== '' || /'node:assert/.test(code)))
}

// In JavaScript nothing says what an action is given, but where it is an argument.
function typed({ language, code, line }: Block, page: string): string {
  const header = `// ${page}:${line}\n`
  if (language === 'ts') return header + code
  const parameters = code.replace(
    /\((_?request)(?:, (_?response))?\)(?= \{)/g,
    (_, request, response) =>
      `(/** @type {import('portico').HttpRequest} */ ${request}${
        response === undefined ? '' : `, /** @type {import('portico').HttpResponse} */ ${response}`
      })`,
  )
  return header + parameters
}

// Ends as soon as it listens, on a free port.
function ending({ code }: Block): string {
  const listening = code
    .replace(/listen\(3000.*\)/, "listen(0, '127.0.0.1', () => process.exit())")
    .replace('port: 3000', 'port: 0')
  return listening === code.replace('port: 3000', 'port: 0')
    ? `${listening}\nprocess.exit()\n`
    : listening
}

// As much of curl as the pages use.
function asBytes(command: string): string {
  const words = wordsOf(command)
  const optionValues = (option: string): string[] =>
    words.flatMap((word, i) => (word === option ? [words[i + 1] ?? ''] : []))
  const target = words.find((word) => word.startsWith('http://127.0.0.1:3000'))?.slice(21) ?? ''
  const body = optionValues('-d').join('&')
  const named = optionValues('-H').map((line) => line.split(': ', 2) as [string, string])
  const form = ['Content-Type', 'application/x-www-form-urlencoded'] as [string, string]
  const method = optionValues('-X')[0] ?? (body === '' ? 'GET' : 'POST')
  const sent = named.some(([name]) => name === 'Accept')
    ? named
    : [['Accept', '*/*'] as [string, string], ...named]
  const headers = body === '' ? sent : [...sent, form]
  return bytesOf({ method, target, headers, body })
}

// As a shell sees them.
function wordsOf(command: string): readonly string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

// Each answer has a UUID of its own; all are equally long.
function withoutIds(text: string): string {
  return text.replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '<UUID>')
}

async function run(
  args: readonly string[],
  cwd?: string,
): Promise<{ readonly code: number; readonly output: string }> {
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

// Beside the tests: there `portico` is the package that was built.
async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(repositoryFile('dist/test/docs-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}
