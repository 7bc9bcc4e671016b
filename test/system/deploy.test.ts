import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { exchange } from '../support/http.ts'
import { Load } from '../support/load.ts'
import { repositoryFile } from '../support/repository.ts'
import { ServerProcess } from '../support/server-process.ts'

const APP = `
export async function who(_, response) {
  await new Promise((resolve) => setTimeout(resolve, 2))
  response.text(String(process.pid))
}
export function client({ client }, response) { response.json(client) }
`

interface Proxy {
  readonly name: string
  /** The file in deploy/. */
  readonly file: string
  /** The port that clients connect to. */
  readonly port: number
  /** What only the copy needs. */
  readonly adjust: (config: string, folder: string) => string
  readonly check: (config: string, folder: string) => string[]
  readonly run: (config: string, folder: string) => string[]
}

// Its temporary files, and its log, which are elsewhere where it is installed.
const nginxArgs = (config: string, folder: string, more: string): string[] => {
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  return ['-e', 'stderr', '-p', folder, '-c', config, '-g', `${user} pid ${folder}/pid; ${more}`]
}

const proxies: Proxy[] = [
  {
    name: 'nginx',
    file: 'nginx.conf',
    port: 8080,
    adjust: (config, folder) =>
      config.replace(
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
  const isMissing = spawnSync(proxy.name, ['-v']).error !== undefined
  const skip = isMissing && `${proxy.name} is not installed`

  describe(`deploy/${proxy.file}`, { skip }, () => {
    it(`loses no request while two instances are restarted one after the other behind ${proxy.name}`, async (t) => {
      const site = await served(t, proxy)
      const load = new Load(site.url, ['/app/who'], 20)
      t.after(() => load.stop())
      await load.until(() => load.seen.size === 2)
      for (const i of [0, 1]) {
        const old = site.instances[i]
        old?.child.kill('SIGTERM')
        assert.equal((await old?.ended)?.code, 0)
        const successor = await site.start(i)
        // Only when the proxy has taken it in, the next one may go.
        await load.until(() => load.seen.has(String(successor.child.pid)))
      }
      await load.more(100)
      await load.stop()
      assert.deepEqual(load.failures, [])
      assert.equal(load.seen.size, 4)
    })

    it('tells who asks, whatever the client says of itself', async (t) => {
      const site = await served(t, proxy)
      const headers = [
        ['X-Forwarded-For', '6.6.6.6'],
        ['X-Forwarded-Proto', 'https'],
        ['X-Forwarded-Host', 'evil.example'],
        ['Forwarded', 'for=6.6.6.6;proto=https;host=evil.example'],
      ] as const
      const { body } = await exchange(site.port, { target: '/app/client', headers })
      const { address, protocol, host } = JSON.parse(body)
      assert.deepEqual([address, protocol, host], ['127.0.0.1', 'http', '127.0.0.1'])
    })
  })
}

interface Site {
  readonly url: string
  readonly port: number
  readonly instances: ServerProcess[]
  /** Starts an instance in the place of one that has ended. */
  readonly start: (i: number) => Promise<ServerProcess>
}

async function served(t: TestContext, proxy: Proxy): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'app.mjs'), APP)
  const [port = 0, ...ports] = await freePorts(5)
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
  writeFileSync(config, proxy.adjust(text, folder))

  const start = async (i: number): Promise<ServerProcess> => {
    const instance = new ServerProcess(t, [
      `--port=${[one, two][i]}`,
      `--health-port=${[oneHealth, twoHealth][i]}`,
      '--drain-delay-ms=1000',
      '--trust-proxy=127.0.0.1',
      `--controllers=${folder}`,
    ])
    await instance.url()
    return instance
  }
  const instances = await Promise.all([start(0), start(1)])
  const checked = spawnSync(proxy.name, proxy.check(config, folder), { encoding: 'utf8' })
  assert.equal(checked.status, 0, checked.stderr)
  await started(t, spawn(proxy.name, proxy.run(config, folder)), port)
  return { url: `http://127.0.0.1:${port}`, port, instances, start }
}

// Until it answers: it does not say when.
async function started(t: TestContext, child: ChildProcess, port: number): Promise<void> {
  const ended = once(child, 'close')
  t.after(async () => {
    child.kill('SIGTERM')
    await ended
  })
  for (;;) {
    assert.equal(child.exitCode, null)
    const isUp = await exchange(port, { target: '/app/who' }).catch(() => undefined)
    if (isUp?.status === 200) return
    await new Promise(setImmediate)
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}
