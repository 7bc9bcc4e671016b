import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fetch } from 'undici'
import { createFolder, type Files, writeFileIn } from '../support/folder.ts'
import { exchange } from '../support/http.ts'
import { findFreePorts } from '../support/ports.ts'
import { logLinesOf, type Outcome, ServerProcess } from '../support/server-process.ts'
import { portOf } from '../support/serving.ts'

const APP = `
const news = { list: (_, response) => response.text('list') }
export default {
  controllers: { news },
  routes: { article: { path: '/article/:id', defaults: { controller: 'news', action: 'list' } } },
  headers: { 'X-App': '1' },
  plugins: [{ preDispatch: (_, response) => void response.headers.set('X-Plugin', '1') }],
}
`
const OTHER = "export const index = (_, response) => response.text('other')\n"

describe('node server.js --app', { concurrency: 4 }, () => {
  it('serves what the file exports, beside a folder of controllers', async (t) => {
    const folder = createApp(t, APP, { 'controllers/other.js': OTHER })
    const args = ['--port=0', '--app', join(folder, 'app.js')]
    const server = new ServerProcess(t, [...args, '--controllers', join(folder, 'controllers')])
    const url = await server.url()
    for (const [path, text] of Object.entries({
      'article/7': 'list',
      'news/list': 'list',
      other: 'other',
    })) {
      const response = await fetch(`${url}/${path}`)
      assert.equal(await response.text(), text)
      assert.deepEqual(
        [response.headers.get('x-app'), response.headers.get('x-plugin')],
        ['1', '1'],
      )
    }
  })

  it('is used by --check, --routes and --explain, and read from the environment', async (t) => {
    const file = join(createApp(t, APP), 'app.js')
    const check = await run(t, ['--check'], { PORTICO_APP: file })
    assert.deepEqual([check.code, JSON.parse(check.stdout).app], [0, file])
    const routes = await run(t, ['--routes', '--app', file])
    assert.match(
      routes.stdout,
      /^\/news\/list\/\.\.\. +any +news\/list +\S+app\.js:2\n.*\barticle +path +\/article\/:id +news\/list\n/ms,
    )
    const explain = await run(t, ['--explain=/article/7', '--app', file])
    assert.deepEqual([explain.code, /^Runs +news\/list/m.test(explain.stdout)], [0, true])
  })

  it('lets a flag and a variable win over the file, and the file over the defaults', async (t) => {
    const source = `export default {
      names: 'zf1', basePath: '/app', logParams: ['page'], trustProxy: ['::1'], development: true,
      limits: { maxFields: 5, actionTimeoutMs: 6 },
    }`
    const args = ['--check', '--app', join(createApp(t, source), 'app.js'), '--max-fields=7']
    const { stdout } = await run(t, args, { PORTICO_NAMES: 'exact' })
    const {
      names,
      basePath,
      logParams,
      trustProxy,
      env,
      maxFields,
      actionTimeoutMs,
      maxBodyBytes,
    } = JSON.parse(stdout)
    assert.deepEqual(
      { names, basePath, logParams, trustProxy, env, maxFields, actionTimeoutMs, maxBodyBytes },
      {
        ...{ names: 'exact', basePath: '/app', logParams: ['page'], trustProxy: ['::1'] },
        ...{ env: 'development', maxFields: 7, actionTimeoutMs: 6, maxBodyBytes: 1_048_576 },
      },
    )
  })

  it('finds settings of the file and of flags that contradict each other', async (t) => {
    const app = [
      '--check',
      '--app',
      join(createApp(t, 'export default { showValues: true }'), 'app.js'),
    ]
    const { code, stderr } = await run(t, app)
    const line = '--show-values needs --env development, but --env is "production"'
    assert.deepEqual([code, stderr], [2, `portico: ${line}\n`])
    assert.equal((await run(t, [...app, '--env=development'])).code, 0)
    const late = createApp(t, 'export default { limits: { actionTimeoutMs: 30000 } }')
    assert.match(
      (await run(t, ['--check', '--app', join(late, 'app.js')])).stderr,
      /--action-timeout-ms is "30000"/,
    )
    // --log-level does not apply to a log of the file.
    for (const [source, expected] of [
      ['', 2],
      ['logger: console', 0],
      ['logger: { ...console, isLevelEnabled: (level) => level !== "info" }', 2],
    ] as const) {
      const file = join(createApp(t, `export default { ${source} }`), 'app.js')
      const args = ['--check', '--app', file, '--id-header=X-Id', '--log-level=warn']
      assert.equal((await run(t, [...args, '--access-log'])).code, expected)
      assert.equal((await run(t, args)).code, 2)
    }
  })

  it('warns about actions that may be silent for longer than a connection', async (t) => {
    const source = `
      const limited = (limits) => Object.assign(() => {}, { limits })
      const news = {
        slow: limited({ timeoutMs: 30_000 }),
        slower: limited({ timeoutMs: 31_000 }),
        quick: limited({ timeoutMs: 29_999 }),
        upload: limited({ timeoutMs: 60_000, maxBodyBytes: 1e9 }),
      }
      export default { controllers: { news } }`
    const args = ['--check', '--app', join(createApp(t, source), 'app.js')]
    const { code, stderr } = await run(t, args)
    const problem =
      'portico: The "timeoutMs" of news/slow, news/slower is not less than --socket-timeout-ms, "30000"\n'
    assert.deepEqual([code, stderr], [0, problem])
    assert.equal((await run(t, [...args, '--socket-timeout-ms=31001'])).stderr, '')
  })

  it('warns about routes that lead to no action', async (t) => {
    const source = `
      const userAdmin = { saveAll: () => {} }
      const anything = { __call: () => {} }
      const to = (controller, action) => ({ controller, action })
      const routes = {
        right: { path: '/a', defaults: to('user-admin', 'save-all') },
        wrong: { path: '/b', defaults: to('userAdmin', 'saveAll') },
        none: { path: '/c/:id' },
        any: { path: '/d', defaults: to('anything', 'x') },
        given: { path: '/e/:controller/:action' },
        rest: { rest: ['admin'] },
        regex: { regex: 'f/([a-z]+)', map: { 1: 'controller' } },
        parent: { path: '/g', abstract: true },
        child: { path: 'h', under: 'parent', defaults: to('nosuch', 'index') },
      }
      export default { controllers: { userAdmin, anything }, modules: { admin: {} }, routes }`
    const { code, stderr } = await run(t, [
      '--check',
      '--app',
      join(createApp(t, source), 'app.js'),
    ])
    const lines = [
      ['wrong', 'userAdmin/saveAll', ': did you mean "user-admin/save-all"?'],
      ['none', 'index/index', ''],
      ['child', 'nosuch/index', ''],
    ].map(
      ([name, to, hint]) =>
        `portico: The route "${name}" leads to "${to}", which does not exist${hint}\n`,
    )
    assert.deepEqual([code, stderr], [0, lines.join('')])
  })

  it('warns about controllers without an action', async (t) => {
    const source = `
      import * as news from './news.js'
      export default { controllers: { news, empty: { list: 5 } }, modules: { admin: { news } } }`
    const folder = createApp(t, source, { 'news.js': 'export default { list() {} }\n' })
    const { code, stderr } = await run(t, ['--check', '--app', join(folder, 'app.js')])
    const lines = ['news', 'empty', 'admin/news'].map(
      (name) =>
        `portico: The controller "${name}" exports no function, and no object of a class: it has no action\n`,
    )
    assert.deepEqual([code, stderr], [0, lines.join('')])
  })

  it('serves TypeScript without a build where Node runs it, and logs no warning', {
    skip: !(process.features as { typescript?: unknown }).typescript,
  }, async (t) => {
    const folder = createApp(t, '', {
      'app.ts': `import type { Nothing } from './nothing.ts'\n${APP.replace('(_, response)', '(_: unknown, response: any)')}`,
      'controllers/other.mts': OTHER.replace('(_, response)', '(_: unknown, response: any)'),
    })
    const args = ['--port=0', '--app', join(folder, 'app.ts')]
    const server = new ServerProcess(t, [...args, '--controllers', join(folder, 'controllers')])
    const url = await server.url()
    assert.equal(await (await fetch(`${url}/article/7`)).text(), 'list')
    assert.equal(await (await fetch(`${url}/other`)).text(), 'other')
    server.child.kill('SIGTERM')
    const { code, stdout } = await server.ended
    assert.deepEqual([code, logLinesOf(stdout).map(({ event }) => event)], [0, ['start', 'stop']])
  })

  it('rejects one name in the file and in the folder, by the rule for names', async (t) => {
    for (const [source, file, rule, name] of [
      ['{ controllers: { news: {} } }', 'news.js', 'exact', 'news'],
      ['{ controllers: { newsItem: {} } }', 'news.item.js', 'zf1', 'news.item'],
      ['{ modules: { admin: { news: {} } } }', 'admin/news.js', 'exact', 'admin/news'],
    ] as const) {
      const folder = createApp(t, `export default ${source}`, { [`controllers/${file}`]: OTHER })
      const [app, controllers] = [join(folder, 'app.js'), join(folder, 'controllers')]
      const args = ['--check', '--app', app, '--controllers', controllers, `--names=${rule}`]
      const { code, stderr } = await run(t, args)
      const problem = `The controller "${name}" is in the application file "${app}" and in the folder "${controllers}"`
      assert.deepEqual([code, stderr], [2, `portico: ${problem}\n`])
    }
  })

  it('joins a module of the file with that of the folder', async (t) => {
    const source = 'export default { modules: { admin: { news: { list() {} } } } }'
    const folder = createApp(t, source, { 'controllers/admin/other.js': OTHER })
    const args = ['--app', join(folder, 'app.js'), '--controllers', join(folder, 'controllers')]
    const { stdout } = await run(t, ['--routes', ...args])
    assert.match(stdout, /admin\/news\/list.*admin\/other/s)
  })

  it('reports a file that does not load, with and without workers, and exits with 2', async (t) => {
    const file = join(createApp(t, 'export default { plugin: [], basePath: 1 }'), 'app.js')
    const start = `portico: The application file "${file}" does not load: `
    const problem = `${start}There is no "plugin" among the options: did you mean "plugins"?\n${start}Expected "basePath" to be a path such as "/app", without a slash at its end\n`
    for (const workers of [0, 1]) {
      const { code, stderr } = await run(t, ['--port=0', `--workers=${workers}`, '--app', file])
      assert.deepEqual([code, stderr], [2, problem])
    }
  })

  it('reports an exception of a timer or a promise while it loads, and exits with 2', async (t) => {
    const wait = 'await new Promise(() => setInterval(() => {}, 1_000)); export default {}'
    const folder = createFolder(t, {
      'timer.mjs': `setTimeout(() => { throw new Error('timer') }); ${wait}`,
      'promise.mjs': `Promise.reject(new Error('promise')); ${wait}`,
      'last.mjs': `Promise.reject(new Error('last')); export default {}`,
    })
    for (const name of ['timer', 'promise', 'last']) {
      for (const more of ['--workers=0', '--workers=1', '--check']) {
        const app = join(folder, `${name}.mjs`)
        const { code, stderr } = await new ServerProcess(t, ['--port=0', '--app', app, more]).ended
        assert.equal(code, 2, more)
        const line = /^portico: The application does not load: (\w+), at file:.*\.mjs:1:\d+\n$/
        assert.equal(line.exec(stderr)?.[1], name, stderr)
      }
    }
  })

  it('calls close() once after the drain, and uses the logger of the file', async (t) => {
    const source = `
      import { writeFileSync } from 'node:fs'
      const log = (level) => (fields, message) => console.log(JSON.stringify({ mine: 1, level, ...fields, message }))
      export default { logger: { info: log('info'), warn: log('warn'), error: log('error') } }
      let calls = 0
      export async function close() { writeFileSync(new URL('closed', import.meta.url), String(++calls)) }`
    const folder = createApp(t, source)
    const server = new ServerProcess(t, ['--port=0', '--app', join(folder, 'app.js')])
    await server.url()
    server.child.kill('SIGTERM')
    const { code, stdout } = await server.ended
    assert.equal(code, 0)
    assert.equal(readFileSync(join(folder, 'closed'), 'utf8'), '1')
    const events = logLinesOf(stdout).map(({ mine, event }) => [mine, event])
    assert.deepEqual(events, [
      [1, 'start'],
      [1, 'stop'],
    ])
  })

  it('serves and stops as usual if the logger of the file throws', async (t) => {
    const source = `
      import { writeFileSync } from 'node:fs'
      const log = (fields, message) => {
        console.log(JSON.stringify({ ...fields, message }))
        throw new Error('no disk')
      }
      export default { logger: { info: log, warn: log, error: log } }
      export async function close() { writeFileSync(new URL('closed', import.meta.url), '1') }`
    const folder = createApp(t, source)
    const [health] = await findFreePorts(1)
    const options = ['--port=0', '--access-log', `--health-port=${health}`]
    const server = new ServerProcess(t, [...options, '--app', join(folder, 'app.js')])
    const url = await server.url()
    for (let i = 0; i < 100; i++) assert.equal((await fetch(`${url}/no-${i}`)).status, 404)
    server.child.kill('SIGTERM')
    const { code, stdout } = await server.ended
    assert.equal(code, 0)
    assert.equal(readFileSync(join(folder, 'closed'), 'utf8'), '1')
    const events = logLinesOf(stdout).map(({ event }) => event)
    assert.ok(events.includes('start') && events.includes('stop'))
  })

  for (const workers of [0, 2]) {
    it(`passes the service to started() for upgrades, with ${workers} workers`, async (t) => {
      const source = `
        export default {}
        export async function started({ server, closing }) {
          server.on('upgrade', (message, socket) => {
            socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n')
            closing.addEventListener('abort', () => socket.end('bye'))
          })
        }`
      const args = ['--port=0', '--close-timeout-ms=600000', `--workers=${workers}`]
      const app = join(createApp(t, source), 'app.js')
      const server = new ServerProcess(t, [...args, '--app', app])
      const socket = connect(await server.port(), '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
      const [first] = await once(socket, 'data')
      assert.match(String(first), /^HTTP\/1\.1 101 /)
      server.child.kill('SIGTERM')
      assert.equal(await text(socket), 'bye')
      const { code, stdout } = await server.ended
      const stop = logLinesOf(stdout).at(-1)
      assert.deepEqual([code, stop.event, stop.connections ?? 0], [0, 'stop', 0])
    })
  }

  const closings = {
    'closes the service at once': 'service.close()',
    'closes the service later': 'setTimeout(() => service.close(), 20)',
    'closes the server': 'setTimeout(() => service.server.close(), 20)',
  }
  for (const [what, close] of Object.entries(closings)) {
    it(`stops with 0 if the application ${what}`, async (t) => {
      const [healthPort] = await findFreePorts(1)
      const source = `
        export default {}
        export function started(service) { ${close} }
        export function close() { process.stdout.write('closed\\n') }
      `
      const app = join(createApp(t, source), 'app.js')
      const { code, stdout } = await run(t, [
        '--port=0',
        `--health-port=${healthPort}`,
        '--app',
        app,
      ])
      assert.equal(code, 0)
      assert.match(stdout, /closed\n.*"event":"stop".*\n$/)
    })
  }

  for (const kind of ['function', 'async function']) {
    it(`reports what the ${kind} started() throws, and exits with 1`, async (t) => {
      const source = `export default {}\nexport ${kind} started() { throw new Error('failed') }`
      const app = join(createApp(t, source), 'app.js')
      const { code, stdout, stderr } = await run(t, ['--port=0', '--app', app])
      assert.deepEqual([code, stderr], [1, ''])
      assert.match(stdout, /"level":"error".*app\.js:2:/)
    })
  }

  const closes = {
    throws: 'export const close = () => { throw new Error("failed") }',
    'never ends': 'export const close = () => new Promise(() => {})',
  }
  for (const [what, close] of Object.entries(closes)) {
    for (const workers of [0, 1]) {
      it(`exits with 1 and an error when close() ${what}, with ${workers} workers`, async (t) => {
        const folder = createApp(t, `export default {}\n${close}`)
        const args = ['--port=0', '--close-timeout=1', `--workers=${workers}`]
        const server = new ServerProcess(t, [...args, '--app', join(folder, 'app.js')])
        await server.url()
        server.child.kill('SIGTERM')
        const { code, stdout } = await server.ended
        assert.equal(code, 1)
        const errors = logLinesOf(stdout).filter(({ level }) => level === 'error')
        assert.equal(errors.length, 1)
        const stop = logLinesOf(stdout).findLast(({ event }) => event === 'stop')
        if (workers === 0) assert.match(stop.message, /^Stopped with an error of `close`, /)
      })
    }
  }

  for (const workers of [0, 2]) {
    it(`asks ready() for /readyz, with ${workers} workers`, async (t) => {
      const source = `
        import { existsSync } from 'node:fs'
        export default {}
        export const ready = async () => existsSync(new URL('ready', import.meta.url))`
      const folder = createApp(t, source)
      const [healthPort = 0] = await findFreePorts(1)
      const args = ['--port=0', `--health-port=${healthPort}`, `--workers=${workers}`]
      const server = new ServerProcess(t, [...args, '--app', join(folder, 'app.js')])
      await server.url()
      const status = async (target: string): Promise<number> =>
        (await exchange(healthPort, { target })).status
      assert.deepEqual([await status('/livez'), await status('/readyz')], [200, 503])
      writeFileIn(folder, 'ready', '')
      assert.equal(await status('/readyz'), 200)
      const probe = ['--healthcheck', `--health-port=${healthPort}`]
      assert.equal((await run(t, probe)).code, 0)
    })
  }

  it('is ready during a reload if ready() takes longer than the stop of the old worker', async (t) => {
    const source = `
      import { setTimeout } from 'node:timers/promises'
      export default {}
      export const ready = () => setTimeout(400, true)`
    const folder = createApp(t, source)
    const [healthPort = 0] = await findFreePorts(1)
    const args = ['--port=0', `--health-port=${healthPort}`, '--workers=1']
    const server = new ServerProcess(t, [...args, '--app', join(folder, 'app.js')])
    await server.url()
    let isReloaded = false
    const reloaded = server.printed(/workers were replaced/).then(() => {
      isReloaded = true
    })
    server.child.kill('SIGHUP')
    const probes: Promise<{ status: number | undefined }>[] = []
    while (!isReloaded) {
      probes.push(exchange(healthPort, { target: '/readyz' }))
      await setTimeout(20)
    }
    await reloaded
    const statuses = new Set((await Promise.all(probes)).map(({ status }) => status))
    assert.deepEqual([...statuses], [200])
  })

  it('runs the middlewares of the export "before"', async (t) => {
    const source = `export default {}
      export const before = [(req, res, next) => { res.setHeader('X-Before', '1'); next() }]`
    const folder = createApp(t, source)
    const server = new ServerProcess(t, ['--port=0', '--app', join(folder, 'app.js')])
    const response = await exchange(portOf(await server.url()), { target: '/' })
    assert.deepEqual([response.status, response.headers['x-before']], [200, '1'])
  })
})

function createApp(t: TestContext, source: string, files: Files = {}): string {
  return createFolder(t, { 'package.json': '{"type":"module"}', 'app.js': source, ...files })
}

function run(t: TestContext, args: readonly string[], env = {}): Promise<Outcome> {
  return new ServerProcess(t, args, env).ended
}
