import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { transform } from 'esbuild'
import { createFolder, type Files, writeFileIn } from '../support/folder.ts'
import { exchange, type RawRequest } from '../support/http.ts'
import { type Block, blocksOf } from '../support/markdown.ts'
import { install, pack, runCommand } from '../support/package.ts'
import { findFreePorts } from '../support/ports.ts'
import { repositoryFile } from '../support/repository.ts'
import { runNode } from '../support/run-node.ts'
import { ServerProcess } from '../support/server-process.ts'
import { Site } from '../support/site.ts'

const BIN = 'node_modules/.bin/portico'
const stripsTypes = Boolean((process.features as { typescript?: unknown }).typescript)

const blocks = blocksOf(readFileSync(repositoryFile('docs/guide.md'), 'utf8'))
// The last version of each file counts.
const files: Files = Object.fromEntries(
  blocks.filter(({ name }) => name !== '').map(({ name, code }) => [name, code]),
)
const example = repositoryFile('examples/notebook')

describe('docs/guide.md', () => {
  // A folder with nothing but the installed package.
  const installed = createFolder({ after })

  before(async () => {
    const archive = createFolder({ after })
    const packed = await pack(archive)
    const [manifest, command] = blocks
    assert.deepEqual([manifest?.name, command?.code], ['package.json', 'npm install portico\n'])
    writeFileIn(installed, 'package.json', manifest?.code ?? '')
    await install(installed, join(archive, packed.filename))
  })

  it('leads from an empty folder to the notebook, and shows what each command prints', async (t) => {
    const folder = copyOf(t, installed)
    const site = new Site(t, folder, { program: join(folder, BIN) })
    for (const block of blocks.slice(2)) await site.play(block, placeOf(block))
    assert.match(await runCommand(folder, 'npm', ['test']), /\bpass 3\b/)
  })

  it('shows the Dockerfile and the tsconfig.json of the package', () => {
    const dockerfile = readFileSync(repositoryFile('deploy/Dockerfile'), 'utf8')
    const instructions = dockerfile.replace(/^#.*\n/gm, '')
    assert.equal(files.Dockerfile?.replace(' PORTICO_PUBLIC=public', ''), instructions)
    const config = readFileSync(repositoryFile('templates/tsconfig.json'), 'utf8')
    assert.equal(files['tsconfig.json'], config)
  })

  it('has the same code as examples/notebook, but for the types', async () => {
    const names = Object.keys(files).filter((name) => /\.(?:js|css)$/.test(name))
    const typed = names.map((name) => name.replace(/\.js$/, '.ts'))
    assert.deepEqual(filesIn(example), typed.sort())
    for (const name of names) {
      const file = join(example, name.replace(/\.js$/, '.ts'))
      const code = readFileSync(file, 'utf8').replaceAll(".ts'", ".js'")
      assert.equal(await withoutTypes(code, file), await withoutTypes(files[name] ?? '', name))
    }
  })

  notebook('JavaScript', 'app.js', (folder) => {
    for (const [name, text] of Object.entries(files)) {
      if (name !== 'package.json') writeFileIn(folder, name, text)
    }
  })

  notebook('TypeScript', 'app.ts', (folder) => copyInto(folder, example))

  function notebook(language: string, app: string, write: (folder: string) => void): void {
    const skip =
      app.endsWith('.ts') &&
      !stripsTypes &&
      `Node ${process.versions.node} does not run TypeScript, 22.18 does`

    describe(`in ${language}`, { skip, concurrency: 4 }, () => {
      const folder = createFolder({ after })
      const options = ['--app', app, '--public', 'public']
      const start = (
        t: TestContext,
        args: readonly string[],
        env: Record<string, string> = {},
        where = folder,
      ): ServerProcess => new ServerProcess(t, args, env, { file: join(where, BIN), folder: where })

      before(() => {
        copyInto(folder, installed)
        write(folder)
      })

      it('passes its tests', async () => {
        const { code, output } = await runNode(['--test'], folder)
        assert.equal(code, 0, output)
        assert.match(output, /\bpass 3\b/)
      })

      it('has its routes, cookie, public files, plugins and error page', async (t) => {
        const port = await start(t, ['--port=0', ...options]).port()
        await converse(port, CONVERSATION)
      })

      it('is checked by --check', async (t) => {
        const { code, stdout, stderr } = await start(t, ['--check', ...options]).ended
        assert.deepEqual([code, stderr], [0, ''])
        const { app: file, public: publicFolder } = JSON.parse(stdout)
        assert.deepEqual([file, publicFolder], [app, 'public'])
      })

      it('is listed by --routes, each action with its line', async (t) => {
        const { stdout } = await start(t, ['--routes', '--json', ...options]).ended
        const { actions, routes } = JSON.parse(stdout)
        const urls = (actions as Listed[]).map(({ name, urls }) => [name, urls[0]])
        assert.deepEqual(Object.fromEntries(urls), URLS)
        assert.deepEqual(routes, [
          { name: 'note', kinds: ['path'], matches: '/note/:id', to: 'notes/view' },
        ])
        for (const { name, file, line } of actions as Listed[]) {
          const text = readFileSync(file, 'utf8').split('\n')[line - 1] ?? ''
          assert.match(text, new RegExp(`^ {2}${name.split('/').at(-1)}\\b`), name)
        }
      })

      it('is explained by --explain', async (t) => {
        const note = await start(t, ['--explain=/note/42', ...options]).ended
        assert.equal(note.code, 0)
        assert.match(note.stdout, /^Path +\/note\/digits\(2\)$/m)
        assert.match(note.stdout, /^Runs {2}notes\/view {2}controllers\/notes\.[jt]s:\d+$/m)
        const other = await start(t, ['--explain=/note/latest', ...options]).ended
        assert.equal(other.code, 1)
        assert.match(other.stdout, /^404 EXCEPTION_NO_CONTROLLER/m)
      })

      it('is restarted by --watch after a change', async (t) => {
        const own = copyOf(t, folder)
        const server = start(t, ['--watch', '--port=0', ...options], {}, own)
        const port = await server.port()
        for (const name of [`layout${app.slice(3)}`, `controllers/notes${app.slice(3)}`]) {
          const before = readFileSync(join(own, name), 'utf8')
          writeFileIn(
            own,
            name,
            before.replaceAll('</h1>', '!</h1>').replaceAll("'Notes'", "'New'"),
          )
          await server.printed(new RegExp(`Restarted: \\S*${name} changed`))
        }
        const { body } = await exchange(port, { target: '/notes' })
        assert.match(body, /<h1>New!<\/h1>/)
        server.child.kill('SIGTERM')
        assert.equal((await server.ended).code, 0)
      })

      it('is served by --workers, with a health port', async (t) => {
        const [healthPort = 0] = await findFreePorts(1)
        const health = `--health-port=${healthPort}`
        const server = start(t, ['--port=0', '--workers=2', health, ...options])
        const port = await server.port()
        for (const target of ['/livez', '/readyz']) {
          assert.equal((await exchange(healthPort, { target })).status, 200)
        }
        assert.equal((await start(t, ['--healthcheck', health]).ended).code, 0)
        await converse(port, CONVERSATION)
        server.child.kill('SIGTERM')
        assert.equal((await server.ended).code, 0)
        assert.equal((await start(t, ['--healthcheck', health]).ended).code, 1)
      })

      it('is served with the environment of its Dockerfile', async (t) => {
        const text = files.Dockerfile ?? ''
        const [, command = '[]'] = /^CMD (.*)$/m.exec(text) ?? []
        const [program, ...args] = JSON.parse(command.replace('app.js', app))
        assert.equal(program, BIN)
        const [port = 0, healthPort] = await findFreePorts(2)
        const env = Object.fromEntries(
          [...text.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]),
        )
        const free = { PORTICO_PORT: `${port}`, PORTICO_HEALTH_PORT: `${healthPort}` }
        await start(t, args, { ...env, ...free }).url()
        await converse(port, CONVERSATION)
      })
    })
  }
})

interface Listed {
  readonly name: string
  readonly urls: readonly string[]
  readonly file: string
  readonly line: number
}

// The first URL of each action.
const URLS = {
  'api/count': '/api/count/...',
  'index/index': '/',
  'notes/index': '/notes',
  'notes/view': '/notes/view/...',
  'notes/save': '/notes/save/...',
  'settings/theme': '/settings/theme/...',
  'admin/notes/clear': '/admin/notes/clear/...',
  'error/error': undefined,
}

const OWN_PAGE = ['Sec-Fetch-Site', 'same-origin'] as const
const FORM = ['Content-Type', 'application/x-www-form-urlencoded'] as const
const CLEAR = { method: 'POST', target: '/admin/notes/clear' }
const PASSWORD = ['Authorization', `Basic ${btoa('admin:correct horse')}`] as const

// Requests with the status and a part of the response. None of them changes a note: each worker has its own.
const CONVERSATION: readonly (readonly [RawRequest, number, RegExp])[] = [
  [{ target: '/' }, 200, /<h1>Notes<\/h1>/],
  [{ target: '/notes' }, 200, /<a href="\/note\/1">Milk &amp; honey<\/a>/],
  [{ target: '/note/1' }, 200, /class="light"/],
  [{ target: '/note/1', headers: [['Cookie', 'theme=dark']] }, 200, /class="dark"/],
  [{ target: '/note/2' }, 404, /<h1>Sorry<\/h1>\n<p>Status 404, error id [\da-f-]{36}<\/p>/],
  [{ target: '/site.css' }, 200, /Content-Type: text\/css.*\.dark \{/s],
  [
    { method: 'POST', target: '/settings/theme', headers: [OWN_PAGE, FORM], body: 'theme=dark' },
    303,
    /Set-Cookie: theme=dark; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax\r\n/,
  ],
  [
    {
      method: 'POST',
      target: '/api/count',
      headers: [OWN_PAGE, ['Content-Type', 'application/json']],
      body: '{"words":["a","b"]}',
    },
    200,
    /\{"count":2\}$/,
  ],
  [CLEAR, 403, /Status 403/],
  [{ ...CLEAR, headers: [OWN_PAGE] }, 401, /WWW-Authenticate: Basic\r\n/],
  [{ method: 'GET', target: CLEAR.target, headers: [PASSWORD] }, 405, /Allow: POST, OPTIONS\r\n/],
]

async function converse(port: number, conversation: typeof CONVERSATION): Promise<void> {
  for (const [request, status, part] of conversation) {
    const { status: actual, rawHeaders, body } = await exchange(port, request)
    const text = `${rawHeaders}\r\n\r\n${body}`
    assert.equal(actual, status, text)
    assert.match(text, part)
    assert.match(rawHeaders, /^Content-Security-Policy: default-src 'self'\r?$/m)
  }
}

/** Copies a folder. The end of the test removes the copy. */
function copyOf(t: TestContext, folder: string): string {
  const copy = createFolder(t)
  copyInto(copy, folder)
  return copy
}

// A link in node_modules/.bin must lead to the package in the copy: two copies of a package have two classes HttpError.
function copyInto(copy: string, folder: string): void {
  cpSync(folder, copy, { recursive: true, verbatimSymlinks: true })
}

async function withoutTypes(code: string, file: string): Promise<string> {
  const loader = file.endsWith('.css') ? 'css' : 'ts'
  return (await transform(code, { loader, target: 'esnext' })).code
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const found = entries.filter((entry) => entry.isFile())
  return found.map(({ parentPath, name }) => relative(folder, join(parentPath, name))).sort()
}

function placeOf({ line, section }: Block): string {
  return `docs/guide.md:${line}, "${section}"`
}
