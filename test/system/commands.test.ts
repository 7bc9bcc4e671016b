import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fetch } from 'undici'
import { repositoryFile } from '../support/repository.ts'
import { type Outcome, ServerProcess } from '../support/server-process.ts'

const examples = ['--controllers', repositoryFile('examples/controllers')]

describe('node server.js --routes', () => {
  it('prints a table with the file and the line of each action', async (t) => {
    const { code, stdout, stderr } = await run(t, ['--routes', ...examples])
    assert.deepEqual([code, stderr], [0, ''])
    const rows = stdout.trimEnd().split('\n')
    assert.match(rows[0] ?? '', /^URL +METHODS +ACTION +FILE$/)
    const save = rows.find((row) => row.includes('news/save')) ?? ''
    const [, file = '', line] =
      /^\/news\/save\/\.\.\. +POST, OPTIONS +news\/save +(.*):(\d+)$/.exec(save) ?? []
    // From where the program was started.
    assert.equal(file, 'examples/controllers/news.js')
    const source = await readFile(repositoryFile(file), 'utf8')
    assert.match(source.split('\n')[Number(line) - 1] ?? '', /function save\b/)
  })

  it('is plain in a pipe: no tab, no colour, nothing at the end of a line', async (t) => {
    const { stdout } = await run(t, ['--routes', ...examples])
    assert.doesNotMatch(stdout, /[\t\u001b]| $/m)
  })

  it('marks what is built in', async (t) => {
    const { stdout } = await run(t, ['--routes'])
    assert.match(stdout, /^\/, \/index, \/index\/index\/\.\.\. +any +index\/index +built in$/m)
    assert.match(stdout, /^\(errors\) +any +error\/error +built in$/m)
  })

  it('is one JSON document with --json', async (t) => {
    const { stdout } = await run(t, ['--routes', '--json', '--base-path=/app', ...examples])
    const routes = JSON.parse(stdout) as { name: string }[]
    const daily = routes.find(({ name }) => name === 'admin/report/daily')
    const file = repositoryFile('examples/controllers/admin/report.js')
    assert.deepEqual(daily, {
      name: 'admin/report/daily',
      builtIn: false,
      file,
      line: 1 + (await readFile(file, 'utf8')).split('\n').findIndex((s) => s.includes(' daily(')),
      urls: ['/app/admin/report/daily/...'],
      methods: null,
    })
  })
})

describe('node server.js --explain', () => {
  it('tells what would run, and exits with 0', async (t) => {
    const { code, stdout } = await run(t, ['--explain', '/news/view/id/s3cr3t', ...examples])
    assert.equal(code, 0)
    assert.match(stdout, /^Runs {2}news\/view {2}examples\/controllers\/news\.js:\d+$/m)
    assert.doesNotMatch(stdout, /s3cr3t/)
  })

  it('tells the error, why and what is nearest, and exits with 1', async (t) => {
    const { code, stdout, stderr } = await run(t, ['--explain', '/nwes/list', ...examples])
    assert.deepEqual([code, stderr], [1, ''])
    assert.match(stdout, /^404 EXCEPTION_NO_CONTROLLER {2}Invalid controller specified \(nwes\)$/m)
    assert.match(stdout, /^Why +The module default has no controller nwes; it has index, news$/m)
    assert.match(stdout, /^Nearest +news\/list$/m)
  })

  it('shows no value of a sign-in, as text and as JSON', async (t) => {
    const target =
      '/signin/v2/CANARY1?dsh=CANARY2&continue=https%3A%2F%2Fa.example%2F%3FCANARY3&CANARY9x4k2=1'
    for (const json of [[], ['--json']]) {
      const { code, stdout, stderr } = await run(t, ['--explain', target, ...json])
      assert.equal(code, 1)
      assert.match(stdout, /provider page/)
      assert.doesNotMatch(stdout + stderr, /CANARY/)
    }
  })

  it('knows the method', async (t) => {
    const wrong = await run(t, ['--explain=/news/save', ...examples])
    assert.equal(wrong.code, 1)
    assert.match(wrong.stdout, /^405 EXCEPTION_OTHER/m)
    const right = await run(t, ['--explain=/news/save', '--method=POST', ...examples])
    assert.deepEqual([right.code, /^Runs {2}news\/save/m.test(right.stdout)], [0, true])
  })
})

describe('node server.js --watch', () => {
  it('restarts on the same port when a controller has changed, in development', async (t) => {
    const { folder, save } = await controllers(t)
    const watched = new Watched(t, ['--port=0', '--controllers', folder])
    const url = await watched.server.url()
    assert.equal(await (await fetch(`${url}/news/list`)).text(), 'one')
    await save('news.js', textAction('two'))
    await watched.until(/Restarted: news\.js changed/)
    assert.equal(await (await fetch(`${url}/news/list`)).text(), 'two')
    const page = await fetch(`${url}/nwes/list`, { headers: { Accept: 'text/html' } })
    assert.match(await page.text(), /Did you mean/)
  })

  it('does not wait long for a request under way', async (t) => {
    const { folder, save } = await controllers(t)
    await save('news.js', 'export const list = () => new Promise(() => {})\n')
    const watched = new Watched(t, ['--port=0', '--controllers', folder])
    const { port } = new URL(await watched.server.url())
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    socket.write('GET /news/list HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'connect')
    const startedAt = performance.now()
    await save('news.js', textAction('two'))
    await watched.until(/Restarted: news\.js changed/)
    // Its own patience is 10 seconds.
    assert.ok(performance.now() - startedAt < 8_000)
  })

  it('says where a controller is wrong, and goes on with the next change', async (t) => {
    const { folder, save } = await controllers(t)
    const watched = new Watched(t, ['--port=0', '--controllers', folder])
    const url = await watched.server.url()
    await save('news.js', 'export function list() {\n  let a = ;\n}\n')
    await watched.until(/news\.js" does not load: Unexpected token ';', at \S*news\.js:2\n/)
    await watched.until(/starts again with the next change/)
    await save('news.js', textAction('mended'))
    await watched.until(/Restarted: news\.js changed/)
    assert.equal(await (await fetch(`${url}/news/list`)).text(), 'mended')
  })

  it('goes on with the next change when the first start fails too', async (t) => {
    const { folder, save } = await controllers(t)
    await save('news.js', 'export {')
    const watched = new Watched(t, ['--port=0', '--controllers', folder])
    await watched.until(/starts again with the next change/)
    await save('news.js', textAction('mended'))
    assert.equal(await (await fetch(`${await watched.server.url()}/news/list`)).text(), 'mended')
  })

  it('restarts a supervisor with its workers, whatever a controller says to its parent', async (t) => {
    const { folder, save } = await controllers(t)
    await save('news.js', `process.send?.('ready')\n${textAction('one')}`)
    const watched = new Watched(t, ['--port=0', '--workers=2', '--controllers', folder])
    const url = await watched.server.url()
    assert.equal(await (await fetch(`${url}/news/list`)).text(), 'one')
    await save('news.js', `process.send?.(null)\n${textAction('two')}`)
    await watched.until(/Restarted: news\.js changed/)
    assert.equal(await (await fetch(`${url}/news/list`)).text(), 'two')
    watched.server.child.kill('SIGTERM')
    assert.equal((await watched.server.ended).code, 0)
    await assert.rejects(fetch(url))
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`stops both on ${signal} with exit code 0`, async (t) => {
      const { folder } = await controllers(t)
      const { server } = new Watched(t, ['--port=0', '--controllers', folder])
      const url = await server.url()
      server.child.kill(signal)
      const { code, stderr } = await server.ended
      assert.deepEqual([code, stderr], [0, ''])
      await assert.rejects(fetch(url))
    })
  }

  it('leaves nothing behind when it is killed', async (t) => {
    const { folder } = await controllers(t)
    const { server } = new Watched(t, ['--port=0', '--controllers', folder])
    const url = await server.url()
    server.child.kill('SIGKILL')
    // 'close' comes when the program that shares its stdout has gone as well.
    await server.ended
    await assert.rejects(fetch(url))
  })

  it('ends with the exit code of a first start that can not listen', async (t) => {
    const { folder } = await controllers(t)
    const other = createServer().listen(0, '127.0.0.1')
    t.after(() => other.close())
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { code, stderr } = await run(t, ['--watch', `--port=${port}`, '--controllers', folder])
    assert.deepEqual(
      [code, stderr],
      [
        1,
        `portico: Can't listen on 127.0.0.1, port ${port}: EADDRINUSE, another program listens there; see --port\n`,
      ],
    )
  })

  it('says that there is no such folder', async (t) => {
    const { code, stderr } = await run(t, ['--watch', '--controllers=/no/such'])
    assert.equal(code, 2)
    assert.equal(
      stderr,
      'portico: The folder of controllers "/no/such" can\'t be watched: ENOENT\n',
    )
  })
})

describe('package.json', () => {
  it('has the program as its command, and it begins as one', async () => {
    const { bin } = JSON.parse(await readFile(repositoryFile('package.json'), 'utf8'))
    assert.deepEqual(bin, { portico: 'dist/server.js' })
    const program = await readFile(repositoryFile(bin.portico), 'utf8')
    assert.match(program, /^#!\/usr\/bin\/env node\n/)
  })
})

/** A server under `--watch`, and what it says on both streams. */
class Watched {
  readonly server: ServerProcess
  #said = ''

  constructor(t: TestContext, args: readonly string[]) {
    this.server = new ServerProcess(t, ['--watch', ...args])
    const { stdout, stderr } = this.server.child
    for (const stream of [stdout, stderr]) {
      stream.on('data', (chunk) => {
        this.#said += chunk
        stdout.emit('said')
      })
    }
    // The watcher alone can end its program.
    t.after(async () => {
      this.server.child.kill('SIGTERM')
      await this.server.ended
    })
  }

  /** Waits until it has said something, and forgets all before and with it. */
  async until(pattern: RegExp): Promise<void> {
    for (;;) {
      const [match] = pattern.exec(this.#said) ?? []
      if (match !== undefined) {
        this.#said = this.#said.slice(this.#said.indexOf(match) + match.length)
        return
      }
      await Promise.race([once(this.server.child.stdout, 'said'), this.#failOnEnd()])
    }
  }

  async #failOnEnd(): Promise<never> {
    throw new Error(`It ended: ${JSON.stringify(await this.server.ended)}`)
  }
}

function run(t: TestContext, args: readonly string[]): Promise<Outcome> {
  return new ServerProcess(t, args).ended
}

function textAction(text: string): string {
  return `export function list(request, response) { response.text('${text}') }\n`
}

async function controllers(t: TestContext) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'portico-')))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await mkdir(join(folder, 'controllers'))
  // As editors do.
  const save = async (name: string, text: string): Promise<void> => {
    await writeFile(join(folder, 'new'), text)
    await rename(join(folder, 'new'), join(folder, 'controllers', name))
  }
  await save('news.js', textAction('one'))
  return { folder: join(folder, 'controllers'), save }
}
