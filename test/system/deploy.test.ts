import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createFolder, writeFileIn } from '../support/folder.ts'
import { exchange, parse, send } from '../support/http.ts'
import { Load } from '../support/load.ts'
import { blocksOf } from '../support/markdown.ts'
import { findFreePorts } from '../support/ports.ts'
import { repositoryFile } from '../support/repository.ts'
import { skipWithout } from '../support/run-node.ts'
import { ServerProcess } from '../support/server-process.ts'

const APP = `
import { appendFileSync } from 'node:fs'
import { incomingMessageOf } from '${pathToFileURL(repositoryFile('dist/lib/index.js')).href}'
export async function who(_, response) {
  await new Promise((resolve) => setTimeout(resolve, 2))
  response.text(String(process.pid))
}
export async function slow(_, response) {
  await new Promise((resolve) => setTimeout(resolve, 300))
  response.text('slow')
}
export function client({ client }, response) { response.json(client) }
export function ids(request, response) {
  response.json([request.header('X-Request-Id'), request.header('traceparent') || null])
}
export function length({ form }, response) { response.text(String(form.get('a').length)) }
export function unavailable(request, response) {
  appendFileSync(request.param('log'), request.method + '\\n')
  response.status = 503
}
export function cut(request) {
  appendFileSync(request.param('log'), request.method + '\\n')
  incomingMessageOf(request).socket.destroy()
}
`

const STARTED = `
export default {}
export function started({ server }) {
  server.on('upgrade', (message, socket) => {
    const accept = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='
    const head = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket']
    socket.end([...head, 'Sec-WebSocket-Accept: ' + accept, '', message.headers.upgrade].join('\\r\\n'))
  })
}
`

interface Proxy {
  readonly name: string
  /** The file in deploy/. */
  readonly file: string
  /** The port that clients connect to. */
  readonly port: number
  /** Returns the configuration with the changes that only the test needs. */
  readonly adjust: (config: string, folder: string) => string
  readonly check: (config: string, folder: string) => string[]
  readonly run: (config: string, folder: string) => string[]
}

// Temporary files and the log of nginx go into the folder of the test.
const nginxArgs = (config: string, folder: string, more: string): string[] => {
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  return [
    '-e',
    `${folder}/errors`,
    '-p',
    folder,
    '-c',
    config,
    '-g',
    `${user} pid ${folder}/pid; ${more}`,
  ]
}

const proxies: Proxy[] = [
  {
    name: 'nginx',
    file: 'nginx.conf',
    port: 8080,
    adjust: (config, folder) =>
      config
        .replace('error_log stderr', `error_log ${folder}/errors`)
        .replace(
          'http {\n',
          `http {\n${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
            .map((name) => `  ${name}_temp_path ${folder}/${name};\n`)
            .join('')}`,
        ),
    check: (config, folder) => ['-t', '-q', ...nginxArgs(config, folder, '')],
    run: (config, folder) => nginxArgs(config, folder, 'daemon off;'),
  },
  {
    name: 'haproxy',
    file: 'haproxy.cfg',
    port: 8081,
    adjust: (config) => config,
    check: (config) => ['-c', '-q', '-f', config],
    run: (config) => ['-db', '-q', '-f', config],
  },
]

for (const proxy of proxies) {
  const skip = skipWithout(proxy.name)

  describe(`deploy/${proxy.file}`, { skip }, () => {
    it(`loses no request while two instances are restarted one after the other behind ${proxy.name}`, async (t) => {
      const site = await startSite(t, proxy)
      const load = new Load(t, site.url, ['/app/who'], 20)
      await load.until(() => load.bodies.size === 2)
      for (const i of [0, 1]) {
        const old = site.instances[i]
        old?.child.kill('SIGTERM')
        assert.equal((await old?.ended)?.code, 0)
        const successor = await site.start(i)
        // Stop the next instance only after the proxy has sent requests to this one.
        await load.until(() => load.bodies.has(String(successor.child.pid)))
      }
      await load.more(100)
      await load.stop()
      assert.deepEqual(load.failures, [])
      assert.equal(load.bodies.size, 4)
    })

    it('never repeats a POST that an instance has cut', async (t) => {
      const site = await startSite(t, proxy)
      const log = join(createFolder(t), 'log')
      const target = `/app/cut?log=${encodeURIComponent(log)}`
      for (const method of ['POST', 'PATCH']) {
        assert.equal((await exchange(site.port, { method, target, body: 'a=1' })).status, 502)
      }
      assert.equal(readFileSync(log, 'utf8'), 'POST\nPATCH\n')
    })

    it('logs no query string of a request that fails', async (t) => {
      const site = await startSite(t, proxy)
      const log = join(createFolder(t), 'log')
      const target = `/app/cut?log=${encodeURIComponent(log)}`
      assert.equal((await exchange(site.port, { target })).status, 502)
      // nginx writes a large body to this folder.
      rmSync(join(site.folder, 'client_body'), { recursive: true, force: true })
      const large = { method: 'POST', target, body: 'a='.padEnd(100_000, 'b') }
      // HAProxy may close the connection while the body arrives: the client then loses the response.
      const { status } = await exchange(site.port, large)
      const isLost = proxy.name === 'haproxy' && Number.isNaN(status)
      assert.ok(status >= 500 || isLost, String(status))
      const errors = join(site.folder, 'errors')
      assert.equal(existsSync(errors) ? readFileSync(errors, 'utf8') : '', '')
    })

    it('passes on a 503 of an action once, and keeps serving the other actions', async (t) => {
      const site = await startSite(t, proxy)
      const log = join(createFolder(t), 'log')
      const target = `/app/unavailable?log=${encodeURIComponent(log)}`
      for (let i = 1; i <= 4; i++) {
        assert.equal((await exchange(site.port, { target })).status, 503)
        assert.equal(readFileSync(log, 'utf8'), 'GET\n'.repeat(i))
        assert.equal((await exchange(site.port, { target: '/app/who' })).status, 200)
      }
    })

    it('accepts a form of the maximum size', async (t) => {
      const site = await startSite(t, proxy)
      const headers = [['Content-Type', 'application/x-www-form-urlencoded']] as const
      const form = {
        method: 'POST',
        target: '/app/length',
        headers,
        body: 'a='.padEnd(1_048_576, 'b'),
      }
      assert.equal((await exchange(site.port, form)).body, '1048574')
      assert.equal((await exchange(site.port, { ...form, body: `${form.body}b` })).status, 413)
    })

    it('denies all spellings of a path', async (t) => {
      const site = await startSite(t, proxy, (config) =>
        config
          .replace(/# (?=http-request deny|if \(\$request_uri)/, '')
          .replace(/\badmin\b(?=[(/[])/g, 'app'),
      )
      for (const target of [
        ...['/app', '/app/who', '/default/app/who', '//app/who', '//default/app/who', '/app?a=1'],
        ...['/app/who/../..', 'http://127.0.0.1/app/who', 'http://127.0.0.1/default/app/who'],
      ]) {
        const { status, body } = await exchange(site.port, { target })
        assert.deepEqual([status, body.includes('urn:uuid')], [404, false], target)
      }
      const { body } = await exchange(site.port, { target: '/apple' })
      assert.match(body, /Invalid controller specified/)
    })

    it('passes on the address of the client, and ignores forwarded headers of the client', async (t) => {
      const site = await startSite(t, proxy)
      const headers = [
        ['X-Forwarded-For', '6.6.6.6'],
        ['X-Forwarded-Proto', 'https'],
        ['X-Forwarded-Host', 'evil.example'],
        ['Forwarded', 'for=6.6.6.6;proto=https;host=evil.example'],
        ['Connection', 'close, X-Forwarded-For, X-Forwarded-Proto, Host'],
      ] as const
      const { body } = await exchange(site.port, { target: '/app/client', headers })
      const { address, protocol, host } = JSON.parse(body)
      assert.deepEqual([address, protocol, host], ['127.0.0.1', 'http', '127.0.0.1'])
    })

    it('replaces the id of a request and the trace that a client chooses', async (t) => {
      const site = await startSite(t, proxy)
      const headers = [
        ['X-Request-Id', 'password=hunter2'],
        ['traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`],
        ['Connection', 'close, X-Request-Id'],
      ] as const
      const seen = async (): Promise<string[]> =>
        JSON.parse((await exchange(site.port, { target: '/app/ids', headers })).body)
      const [id = '', trace] = await seen()
      assert.match(id, /^[\da-f-]{32,36}$/)
      assert.equal(trace, null)
      assert.notEqual((await seen())[0], id)
    })

    it('passes on the host with its port, so that sameOrigin() accepts a form of the site', async (t) => {
      const site = await startSite(t, proxy)
      const received = await send(
        site.port,
        `GET /app/client HTTP/1.1\r\nHost: a.example:${site.port}\r\nConnection: close\r\n\r\n`,
      )
      assert.equal(JSON.parse(parse(received).body).host, `a.example:${site.port}`)
    })

    it('passes on no other host than that of an absolute target, which the proxy has used', async (t) => {
      const site = await startSite(t, proxy)
      for (const [target, host, expected] of [
        ['http://open.example/app/client', 'closed.example', 'open.example'],
        ['http://open.example:81/app/client', 'OPEN.example:81', 'open.example:81'],
        ['http://[::1]:81/app/client', '[::1]:81', '[::1]:81'],
      ] as const) {
        const head = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
        const { status, body } = parse(await send(site.port, head))
        const used = status === 200 ? JSON.parse(body).host.toLowerCase() : status
        assert.ok([expected, 400].includes(used), `${target}, ${host}: ${used}`)
      }
    })

    it('passes on a WebSocket, and an upgrade to no other protocol', async (t) => {
      const site = await startSite(t, proxy)
      const upgrade = (protocol: string): Promise<string> =>
        send(
          site.port,
          `GET /app/client HTTP/1.1\r\nHost: a.example\r\nConnection: close, Upgrade\r\nUpgrade: ${protocol}\r\n` +
            // The example of RFC 6455, section 1.3.
            'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
        )
      const { status, body } = parse(await upgrade('WebSocket'))
      assert.deepEqual([status, body], [101, 'websocket'])
      assert.equal(parse(await upgrade('h2c')).status, 200)
      // nginx passes on none of two, and HAProxy only this one.
      for (const both of ['h2c, websocket', 'websocket, h2c', 'h2c\r\nUpgrade: websocket']) {
        const response = parse(await upgrade(both))
        if (response.status !== 200) assert.equal(response.body, 'websocket', both)
      }
    })

    it('serves a client of HTTP/1.0 that sends no host', async (t) => {
      const site = await startSite(t, proxy)
      const { status, body } = parse(await send(site.port, 'GET /app/client HTTP/1.0\r\n\r\n'))
      assert.equal(status, 200)
      assert.match(JSON.parse(body).host, proxy.name === 'nginx' ? /^127\.0\.0\.1:\d+$/ : /^$/)
    })
  })
}

const [nginx] = proxies

describe('nginx', { skip: skipWithout('nginx') }, () => {
  it('logs no query string if it has no connection left', { timeout: 60_000 }, async (t) => {
    assert.ok(nginx)
    const site = await startSite(t, nginx, (config) =>
      config
        .replace('worker_processes auto', 'worker_processes 1')
        .replace('worker_connections 4096', 'worker_connections 16'),
    )
    const head =
      'POST /app/slow?code=secret HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n'
    const clients = Array.from({ length: 10 }, () => connect(site.port, '127.0.0.1'))
    t.after(() => clients.map((client) => client.destroy()))
    for (const client of clients) client.write(head)
    // nginx connects to an instance when it has the body.
    for (const [data] of await Promise.all(clients.map((client) => once(client, 'data')))) {
      assert.match(String(data), /^HTTP\/1\.1 100/)
    }
    const responses = clients.map((client) => once(client, 'data'))
    for (const client of clients) client.write('a=1')
    const statuses = (await Promise.all(responses)).map(([data]) => String(data).slice(9, 12))
    assert.ok(statuses.includes('500'), statuses.join())
    const errors = join(site.folder, 'errors')
    assert.equal(existsSync(errors) ? readFileSync(errors, 'utf8') : '', '')
  })

  it('sends no source of PHP with the block of docs/migrating-from-zf1.md', async (t) => {
    assert.ok(nginx)
    const folder = createFolder(t, {
      'public/site.css': 'css',
      'public/.well-known/a': 'known',
      'public/.htaccess': 'SetEnv A secret',
      'public/index.php': '<?php $a = "secret";',
      'public/old/INDEX.PHP.bak': '<?php $a = "secret";',
    })
    const [port = 0] = await findFreePorts(1)
    const page = readFileSync(repositoryFile('docs/migrating-from-zf1.md'), 'utf8')
    const block = blocksOf(page).find(({ language }) => language === 'nginx')?.code ?? ''
    const instance = new ServerProcess(t, ['--port=0', '--controllers', createFolder(t)])
    const server = block
      .replace('/srv/site', folder)
      .replaceAll('http://127.0.0.1:3000', await instance.url())
    const text = `error_log stderr emerg;\nevents {}\nhttp {\nserver {\nlisten 127.0.0.1:${port};\n${server}}\n}\n`
    writeFileIn(folder, 'nginx.conf', nginx.adjust(text, folder))
    const args = nginx.run(join(folder, 'nginx.conf'), folder)
    await waitUntilServing(t, spawn('nginx', args, { stdio: 'ignore' }), port)
    for (const [target, body] of [
      ['/site.css', 'css'],
      ['/.well-known/a', 'known'],
    ] as const) {
      assert.equal((await exchange(port, { target })).body, body)
    }
    for (const target of ['/index.php', '/index%2Ephp', '/.htaccess', '/old/INDEX.PHP.bak']) {
      const { status, body } = await exchange(port, { target })
      assert.deepEqual([status, body.includes('secret')], [404, false], target)
    }
  })
})

interface Site {
  readonly url: string
  readonly port: number
  /** The folder of the proxy. */
  readonly folder: string
  readonly instances: ServerProcess[]
  /** Starts an instance on the port of one that has ended. */
  readonly start: (i: number) => Promise<ServerProcess>
}

async function startSite(
  t: TestContext,
  proxy: Proxy,
  edit = (config: string): string => config,
): Promise<Site> {
  const folder = createFolder(t, { 'app.mjs': APP })
  const app = createFolder(t, { 'started.mjs': STARTED })
  const [port = 0, ...ports] = await findFreePorts(5)
  const [one, oneHealth, two, twoHealth] = ports
  const config = join(folder, proxy.file)
  const replaced = new Map([
    [proxy.port, port],
    [3000, one],
    [3001, oneHealth],
    [3010, two],
    [3011, twoHealth],
  ])
  const text = readFileSync(repositoryFile(`deploy/${proxy.file}`), 'utf8').replace(
    /(?<=127\.0\.0\.1:|check port )\d+/g,
    (given) => String(replaced.get(Number(given)) ?? given),
  )
  writeFileIn(folder, proxy.file, edit(proxy.adjust(text, folder)))

  const start = async (i: number): Promise<ServerProcess> => {
    const instance = new ServerProcess(t, [
      `--port=${[one, two][i]}`,
      `--health-port=${[oneHealth, twoHealth][i]}`,
      '--drain-delay-ms=1000',
      '--trust-proxy=127.0.0.1',
      `--controllers=${folder}`,
      `--app=${join(app, 'started.mjs')}`,
    ])
    await instance.url()
    return instance
  }
  const instances = await Promise.all([start(0), start(1)])
  const checked = spawnSync(proxy.name, proxy.check(config, folder), { encoding: 'utf8' })
  assert.equal(checked.status, 0, checked.stderr)
  // Without pipes: nginx logs every connection that fails, and a full pipe would stop it.
  const child = spawn(proxy.name, proxy.run(config, folder), { stdio: 'ignore' })
  await waitUntilServing(t, child, port)
  return { url: `http://127.0.0.1:${port}`, port, folder, instances, start }
}

/** Waits until a proxy responds: it does not print when it listens. */
async function waitUntilServing(t: TestContext, child: ChildProcess, port: number): Promise<void> {
  const ended = once(child, 'close')
  t.after(async () => {
    child.kill('SIGTERM')
    await ended
  })
  for (;;) {
    assert.equal(child.exitCode, null)
    const isUp = await exchange(port, { target: '/app/who' }).catch(() => undefined)
    if (isUp?.status === 200 || isUp?.status === 404) return
    await new Promise(setImmediate)
  }
}
