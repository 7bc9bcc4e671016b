import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fetch } from 'undici'
import { createFolder, writeFileIn } from '../support/folder.ts'
import { occupyPort } from '../support/ports.ts'
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
    // Relative to the working directory of the program.
    assert.equal(file, 'examples/controllers/news.js')
    const source = await readFile(repositoryFile(file), 'utf8')
    assert.match(source.split('\n')[Number(line) - 1] ?? '', /function save\b/)
  })

  it('prints plain text into a pipe: no tab, no colour, no space at the end of a line', async (t) => {
    const { stdout } = await run(t, ['--routes', ...examples])
    assert.doesNotMatch(stdout, /[\t\u001b]| $/m)
  })

  it('marks the built-in actions', async (t) => {
    const { stdout } = await run(t, ['--routes'])
    assert.match(stdout, /^\/, \/index, \/index\/index\/\.\.\. +any +index\/index +built in$/m)
    assert.match(stdout, /^\(errors\) +any +error\/error +built in$/m)
  })

  it('prints one JSON document with --json', async (t) => {
    const { stdout } = await run(t, ['--routes', '--json', '--base-path=/app', ...examples])
    const { actions, routes } = JSON.parse(stdout)
    assert.deepEqual(routes, [])
    const daily = actions.find(({ name }: { name: string }) => name === 'admin/report/daily')
    const file = repositoryFile('examples/controllers/admin/report.js')
    assert.deepEqual(daily, {
      name: 'admin/report/daily',
      builtIn: false,
      handlesErrors: false,
      file,
      line: 1 + (await readFile(file, 'utf8')).split('\n').findIndex((s) => s.includes(' daily(')),
      urls: ['/app/admin/report/daily/...'],
      methods: null,
    })
  })
})

describe('node server.js with --public', () => {
  const createSite = (t: TestContext): { folder: string; args: readonly string[] } => {
    const folder = createFolder(t, {
      'package.json': '{"type":"module"}',
      'app.js': `const css = { index() {} }
        export default { controllers: { css }, basePath: '/app' }`,
      'public/css/site.css': 'a {}',
      'public/css/site.css.gz': 'zipped',
      'public/a b.txt': 'blank',
    })
    return { folder, args: ['--app', join(folder, 'app.js'), '--public', join(folder, 'public')] }
  }

  it('counts the files after the routes', async (t) => {
    const { folder, args } = createSite(t)
    const { stdout } = await run(t, ['--routes', ...args])
    const publicFolder = join(folder, 'public')
    const line = `Public files: 3 in ${publicFolder}, for GET and HEAD, before any action`
    assert.deepEqual(stdout.split('\n').slice(-3), ['', line, ''])
    const { stdout: json } = await run(t, ['--routes', '--json', ...args])
    assert.equal(JSON.parse(json).actions.length, 2)
  })

  it('explains that a file responds, and which', async (t) => {
    const { folder, args } = createSite(t)
    const file = join(folder, 'public/css/site.css')
    for (const target of ['/app/css/site.css?v=s3cr3t', 'https://a.example/app/css/site.css']) {
      for (const method of ['GET', 'HEAD']) {
        const { code, stdout } = await run(t, ['--explain', target, `--method=${method}`, ...args])
        assert.equal(code, 0)
        const [first, ...others] = stdout.split('\n')
        assert.match(first ?? '', new RegExp(`^Target  ${method} /app/`))
        assert.deepEqual(others, ['', `Sends  ${file}  a public file, before any routing`, ''])
        assert.doesNotMatch(stdout, /s3cr3t/)
      }
    }
    const { stdout } = await run(t, ['--explain', '/app/a%20b.txt', '--json', ...args])
    const { file: found, runs, error } = JSON.parse(stdout)
    assert.deepEqual([found, runs, error], [join(folder, 'public/a b.txt'), null, null])
  })

  it('explains the action for any other request', async (t) => {
    const { args } = createSite(t)
    for (const [target, method, outcome] of [
      ['/app/css', 'GET', /^Runs {2}css\/index /m],
      ['/app/css/site.css', 'POST', /^404 EXCEPTION_NO_ACTION /m],
      ['/css/site.css', 'GET', /^404 EXCEPTION_NO_ROUTE /m],
      ['/app/css%2Fsite.css', 'GET', /^404 EXCEPTION_NO_CONTROLLER /m],
      ['/app/css/site%2Ecss', 'GET', /^404 EXCEPTION_NO_ACTION /m],
      [`/app/css/site.css?${'a'.repeat(9_000)}`, 'GET', /^414 /m],
    ] as const) {
      const { stdout } = await run(t, ['--explain', target, `--method=${method}`, ...args])
      assert.match(stdout, outcome)
    }
  })
})

describe('node server.js --explain', () => {
  it('prints the action that would run, and exits with 0', async (t) => {
    const { code, stdout } = await run(t, ['--explain', '/news/view/id/s3cr3t', ...examples])
    assert.equal(code, 0)
    assert.match(stdout, /^Runs {2}news\/view {2}examples\/controllers\/news\.js:\d+$/m)
    assert.doesNotMatch(stdout, /s3cr3t/)
  })

  it('prints the error, the reason and the nearest action, and exits with 1', async (t) => {
    const { code, stdout, stderr } = await run(t, ['--explain', '/nwes/list', ...examples])
    assert.deepEqual([code, stderr], [1, ''])
    assert.match(stdout, /^404 EXCEPTION_NO_CONTROLLER {2}Invalid controller specified \(nwes\)$/m)
    assert.match(stdout, /^Why +The module default has no controller nwes; it has index, news$/m)
    assert.match(stdout, /^Nearest +news\/list$/m)
  })

  it('prints no value of a sign-in, as text and as JSON', async (t) => {
    const target =
      '/signin/v2/CANARY1?dsh=CANARY2&continue=https%3A%2F%2Fa.example%2F%3FCANARY3&CANARY9x4k2=1'
    for (const json of [[], ['--json']]) {
      const { code, stdout, stderr } = await run(t, ['--explain', target, ...json])
      assert.equal(code, 1)
      assert.match(stdout, /provider page/)
      assert.doesNotMatch(stdout + stderr, /CANARY/)
    }
  })

  it('considers the method', async (t) => {
    const wrong = await run(t, ['--explain=/news/save', ...examples])
    assert.equal(wrong.code, 1)
    assert.match(wrong.stdout, /^405 EXCEPTION_OTHER/m)
    const right = await run(t, ['--explain=/news/save', '--method=POST', ...examples])
    assert.deepEqual([right.code, /^Runs {2}news\/save/m.test(right.stdout)], [0, true])
  })
})

// Each test spends most of its time on the start of processes.
describe('node server.js --watch', { concurrency: 4 }, () => {
  it('restarts on the same port when a controller has changed, in development', async (t) => {
    const { folder, save } = createControllers(t)
    const watched = new Watched(t, ['--port=0', '--controllers', folder])
    const url = await watched.server.url()
    assert.equal(await (await fetch(`${url}/news/list`)).text(), 'one')
    await save('news.js', textAction('two'))
    await watched.until(/Restarted: news\.js changed/)
    assert.equal(await (await fetch(`${url}/news/list`)).text(), 'two')
    const page = await fetch(`${url}/nwes/list`, { headers: { Accept: 'text/html' } })
    assert.match(await page.text(), /Did you mean/)
  })

  it('does not wait for a request in flight until the close timeout', {
    timeout: 60_000,
  }, async (t) => {
    const { folder, save } = createControllers(t)
    await save('news.js', 'export const list = () => new Promise(() => {})\n')
    const args = ['--port=0', '--close-timeout-ms=600000', '--controllers', folder]
    const watched = new Watched(t, args)
    const port = await watched.server.port()
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write('GET /news/list HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'connect')
    await save('news.js', textAction('two'))
    await watched.until(/Restarted: news\.js changed/)
  })

  it('prints the line of a syntax error, and starts again after the next change', async (t) => {
    const { folder, save } = createControllers(t)
    const watched = new Watched(t, ['--port=0', '--controllers', folder])
    const url = await watched.server.url()
    await save('news.js', 'export function list() {\n  let a = ;\n}\n')
    await watched.until(/news\.js" does not load: Unexpected token ';', at \S*news\.js:2\n/)
    await watched.until(/starts again with the next change/)
    await save('news.js', textAction('mended'))
    await watched.until(/Restarted: news\.js changed/)
    assert.equal(await (await fetch(`${url}/news/list`)).text(), 'mended')
  })

  it('starts after the next change when the first start has failed', async (t) => {
    const { folder, save } = createControllers(t)
    await save('news.js', 'export {')
    const watched = new Watched(t, ['--port=0', '--controllers', folder])
    await watched.until(/starts again with the next change/)
    await save('news.js', textAction('mended'))
    assert.equal(await (await fetch(`${await watched.server.url()}/news/list`)).text(), 'mended')
  })

  it('restarts a supervisor with its workers, and ignores messages of a controller', async (t) => {
    const { folder, save } = createControllers(t)
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
    it(`stops the watcher and the server on ${signal} with exit code 0`, async (t) => {
      const { folder } = createControllers(t)
      const { server } = new Watched(t, ['--port=0', '--controllers', folder])
      const url = await server.url()
      server.child.kill(signal)
      const { code, stderr } = await server.ended
      assert.deepEqual([code, stderr], [0, ''])
      await assert.rejects(fetch(url))
    })
  }

  it('leaves no process behind when it is killed', async (t) => {
    const { folder } = createControllers(t)
    const { server } = new Watched(t, ['--port=0', '--controllers', folder])
    const url = await server.url()
    server.child.kill('SIGKILL')
    // The server shares stdout: 'close' follows when it has ended, too.
    await server.ended
    await assert.rejects(fetch(url))
  })

  it('exits with the code of a first start that cannot listen', async (t) => {
    const { folder } = createControllers(t)
    const port = await occupyPort(t)
    const { code, stderr } = await run(t, ['--watch', `--port=${port}`, '--controllers', folder])
    assert.deepEqual(
      [code, stderr],
      [
        1,
        `portico: Can't listen on 127.0.0.1, port ${port}: EADDRINUSE, another program listens there; see --port\n`,
      ],
    )
  })

  for (const workers of [0, 1]) {
    it(`restarts when a file has changed that a controller imports, with ${workers} workers`, async (t) => {
      const { folder, save } = createControllers(t)
      const text = "import('../lib/text.cjs').then(({ text }) => response.text(text))"
      const lazy = `export const list = (_, response) => ${text}\nimport '../lib/used.js'\n`
      await save('news.js', lazy)
      writeFileIn(folder, '../lib/used.js', 'export {}')
      writeFileIn(folder, '../lib/text.cjs', "exports.text = require('./deep.cjs')")
      writeFileIn(folder, '../lib/deep.cjs', 'module.exports = "one"')
      const args = ['--port=0', `--workers=${workers}`, '--controllers', folder]
      const watched = new Watched(t, args)
      const url = await watched.server.url()
      const body = async (): Promise<string> => (await fetch(`${url}/news/list`)).text()
      assert.equal(await body(), 'one')
      writeFileIn(folder, '../lib/used.js', 'export const a = 1')
      await watched.until(/Restarted: \S+lib\/used\.js changed/)
      assert.equal(await body(), 'one')
      writeFileIn(folder, '../lib/deep.cjs', 'module.exports = "two"')
      await watched.until(/Restarted: \S+lib\/deep\.cjs changed/)
      assert.equal(await body(), 'two')
    })
  }

  it('watches an application file alone, what it imports, and public files', async (t) => {
    const folder = createFolder(t, {
      'package.json': '{"type":"module"}',
      'app.js': "import './part.js'\nexport default {}",
      'part.js': '',
      'public/a.txt': 'one',
    })
    const app = join(folder, 'app.js')
    const watched = new Watched(t, ['--port=0', '--app', app, '--public', join(folder, 'public')])
    const url = await watched.server.url()
    for (const [file, text, shown] of [
      ['app.js', "import './part.js'\nexport default {} ", /Restarted: \S+app\.js changed/],
      ['part.js', ' ', /Restarted: \S+part\.js changed/],
      ['public/b.txt', 'two', /Restarted: b\.txt changed/],
      ['app.js', 'export default 1', /its default export is number.*starts again/s],
      ['app.js', 'export default {}', /Restarted: \S+app\.js changed/],
    ] as const) {
      writeFileIn(folder, file, text)
      await watched.until(shown)
    }
    assert.equal(await (await fetch(`${url}/b.txt`)).text(), 'two')
  })

  it('reports a missing folder', async (t) => {
    const { code, stderr } = await run(t, ['--watch', '--controllers=/no/such'])
    assert.equal(code, 2)
    assert.equal(stderr, 'portico: The folder "/no/such" can\'t be watched: ENOENT\n')
  })
})

describe('package.json', () => {
  it('has the program as its command, with a shebang line', async () => {
    const { bin } = JSON.parse(await readFile(repositoryFile('package.json'), 'utf8'))
    assert.deepEqual(bin, { portico: 'dist/server.js' })
    const program = await readFile(repositoryFile(bin.portico), 'utf8')
    assert.match(program, /^#!\/usr\/bin\/env node\n/)
  })
})

/** A server with `--watch`, and its output on both streams. */
class Watched {
  readonly server: ServerProcess
  #output = ''

  constructor(t: TestContext, args: readonly string[]) {
    this.server = new ServerProcess(t, ['--watch', ...args])
    const { stdout, stderr } = this.server.child
    for (const stream of [stdout, stderr]) {
      stream.on('data', (chunk) => {
        this.#output += chunk
        stdout.emit('output')
      })
    }
    // SIGTERM first: only the watcher can stop its server.
    t.after(async () => {
      this.server.child.kill('SIGTERM')
      await this.server.ended
    })
  }

  /** Waits for a text, and discards the output up to its end. */
  async until(pattern: RegExp): Promise<void> {
    for (;;) {
      const [match] = pattern.exec(this.#output) ?? []
      if (match !== undefined) {
        this.#output = this.#output.slice(this.#output.indexOf(match) + match.length)
        return
      }
      await Promise.race([once(this.server.child.stdout, 'output'), this.#failOnEnd()])
    }
  }

  async #failOnEnd(): Promise<never> {
    throw new Error(`The server ended: ${JSON.stringify(await this.server.ended)}`)
  }
}

function run(t: TestContext, args: readonly string[]): Promise<Outcome> {
  return new ServerProcess(t, args).ended
}

function textAction(text: string): string {
  return `export function list(request, response) { response.text('${text}') }\n`
}

function createControllers(t: TestContext) {
  const folder = createFolder(t, {
    'package.json': '{"type":"module"}',
    'controllers/news.js': textAction('one'),
  })
  // Editors save a file this way.
  const save = async (name: string, text: string): Promise<void> => {
    await writeFile(join(folder, 'new'), text)
    await rename(join(folder, 'new'), join(folder, 'controllers', name))
  }
  return { folder: join(folder, 'controllers'), save }
}
