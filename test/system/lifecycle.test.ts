import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { Client } from 'undici'
import { bytesOf, exchange } from '../support/http.ts'
import { Load } from '../support/load.ts'
import { repositoryFile } from '../support/repository.ts'
import { ServerProcess } from '../support/server-process.ts'

const serverFile = repositoryFile('dist/server.js')

// Its timer would keep a process that waits for its end.
const app = (version: string): string => `
import { Readable } from 'node:stream'
setInterval(() => {}, 1_000)
export function who(_, response) { response.text('${version} ' + process.pid) }
export async function slow(request, response) {
  await new Promise((resolve) => setTimeout(resolve, 20))
  response.text('<' + request.param('id') + '>')
}
export function echo(request, response) { response.text('<' + request.param('id') + '>') }
export function drip(_, response) {
  response.body = Readable.from((async function* () {
    yield 'begun'
    await new Promise(() => {})
  })())
}
export function crash(_, response) {
  setTimeout(() => { throw new Error('the token is CANARY') })
  response.text('crashing')
}
export function forget(_, response) {
  setTimeout(() => Promise.reject(new Error('the token is CANARY')))
  response.text('forgetting')
}
`

describe('node server.js, when it is told to stop', () => {
  for (const workers of [0, 2]) {
    it(`answers whole what 200 keep-alive connections under load have asked, resets none, and exits with 0 (--workers ${workers})`, async (t) => {
      const args = ['--port=0', `--workers=${workers}`, `--controllers=${folder(t)}`]
      const server = new ServerProcess(t, args)
      const url = await server.url()
      const connected = new Set<number>()
      let answered = 0
      const wrong: string[] = []
      let isTold = false
      const stop = (): void => {
        // A second signal would end it at once.
        if (!isTold) isTold = server.child.kill('SIGTERM')
      }
      const run = async (id: number): Promise<void> => {
        const client = new Client(url)
        const path = id % 2 === 0 ? `/app/slow/id/${id}` : `/app/echo/id/${id}`
        try {
          for (let isOpen = true; isOpen; ) {
            const { statusCode, headers, body } = await client.request({ path, method: 'GET' })
            const text = await body.text()
            if (statusCode !== 200 || text !== `<${id}>`) wrong.push(`${statusCode} ${text}`)
            isOpen = headers.connection !== 'close'
            connected.add(id)
            if (++answered >= 1_000 && connected.size === 200) stop()
          }
        } catch (error) {
          wrong.push(String(error))
        } finally {
          await client.destroy()
        }
      }
      await Promise.all(Array.from({ length: 200 }, (_, id) => run(id)))
      const { code, stdout, stderr } = await server.ended
      assert.deepEqual(wrong, [])
      assert.deepEqual([code, stderr], [0, ''])
      assert.equal(lastLine(stdout).event, 'stop')
    })
  }

  it('answers on for the drain delay, and is not ready already', async (t) => {
    const [health = 0] = await freePorts(1)
    const server = new ServerProcess(t, [
      '--port=0',
      `--health-port=${health}`,
      '--drain-delay-ms=1000',
    ])
    const port = portOf(await server.url())
    assert.equal((await exchange(health, { target: '/readyz' })).status, 200)
    server.child.kill('SIGTERM')
    while ((await exchange(health, { target: '/readyz' })).status === 200);
    assert.equal((await exchange(health, { target: '/readyz' })).status, 503)
    assert.equal((await exchange(health, { target: '/livez' })).status, 200)
    const { status, headers } = await exchange(port, { target: '/' })
    assert.deepEqual([status, headers.connection], [200, 'close'])
    assert.equal((await server.ended).code, 0)
  })

  it('destroys what is left at the deadline, says how many, and exits with 1', async (t) => {
    const server = new ServerProcess(t, [
      '--port=0',
      '--close-timeout-ms=50',
      `--controllers=${folder(t)}`,
    ])
    const port = portOf(await server.url())
    await Promise.all([begun(t, port), begun(t, port)])
    server.child.kill('SIGTERM')
    const { code, stdout } = await server.ended
    assert.equal(code, 1)
    const { event, destroyed, message } = lastLine(stdout)
    assert.deepEqual([event, destroyed], ['stop', 2])
    assert.equal(message, 'Stopped, 2 connections destroyed')
  })

  for (const [action, name] of [
    ['crash', 'an exception'],
    ['forget', 'a rejection'],
  ]) {
    it(`stops the same way on ${name} outside a request, with 1, and keeps its message to itself`, async (t) => {
      const server = new ServerProcess(t, ['--port=0', `--controllers=${folder(t)}`])
      const port = portOf(await server.url())
      const { body } = await exchange(port, { target: `/app/${action}` })
      assert.equal(body, `${action === 'forget' ? 'forgett' : action}ing`)
      const { code, stdout, stderr } = await server.ended
      assert.deepEqual([code, stderr], [1, ''])
      const events = linesOf(stdout).map(({ event }) => event)
      assert.deepEqual(events, ['start', 'error', 'stop'])
      const { level, message, status, stack } = linesOf(stdout)[1] ?? {}
      assert.deepEqual([level, message, status], ['error', 'list(4)', 500])
      assert.match(String(stack), /app\.mjs:\d+:\d+/)
      assert.match(String(linesOf(stdout)[2]?.message), /^Stopped by an exception outside of any/)
      assert.doesNotMatch(stdout, /CANARY/)
    })
  }

  it('exits with 1 for an exception while it stops', async (t) => {
    const server = new ServerProcess(t, [
      '--port=0',
      '--drain-delay=500',
      `--controllers=${folder(t)}`,
    ])
    const port = portOf(await server.url())
    server.child.kill('SIGTERM')
    await exchange(port, { target: '/app/crash' })
    assert.equal((await server.ended).code, 1)
  })

  it('serves on after SIGHUP, and says that there are no workers', async (t) => {
    const server = new ServerProcess(t, ['--port=0', `--controllers=${folder(t)}`])
    const port = portOf(await server.url())
    server.child.kill('SIGHUP')
    await server.said(/SIGHUP replaces workers, and there are none/)
    assert.equal((await exchange(port, { target: '/app/no-such' })).status, 404)
    server.child.kill('SIGTERM')
    assert.equal((await server.ended).code, 0)
  })
})

describe('node server.js --workers 2', () => {
  it('answers from two processes, and drains both on SIGTERM: exit 0', async (t) => {
    const { server, port } = await withWorkers(t)
    const pids = await pidsOf(port, 2)
    assert.ok(!pids.has(server.child.pid ?? 0))
    const load = loaded(t, port)
    await load.more(100)
    // Nothing more is asked: those that are under way are answered, and the idle ones closed.
    const stopped = load.stop()
    server.child.kill('SIGTERM')
    await stopped
    const { code, stdout, stderr } = await server.ended
    assert.deepEqual(load.failures, [])
    assert.deepEqual([code, stderr], [0, ''])
    const told = linesOf(stdout).map(({ event, message }) => [event, message])
    assert.deepEqual(told.at(-1), ['stop', 'Stopped, with all workers'])
    assert.equal(told.filter(([event]) => event === 'start').length, 1)
    for (const pid of pids) assert.equal(isRunning(pid), false)
  })

  it('replaces them one by one on SIGHUP, with no request lost', async (t) => {
    const { server, port, controllers } = await withWorkers(t)
    const old = await pidsOf(port, 2)
    const load = loaded(t, port)
    await load.more(200)
    write(controllers, 'two')
    const replaced = logged(server, 'All workers were replaced')
    server.child.kill('SIGHUP')
    await replaced
    load.seen.clear()
    await load.more(200)
    await load.stop()
    assert.deepEqual(load.failures, [])
    const texts = [...load.seen].filter((text) => !text.startsWith('<'))
    assert.ok(texts.length > 0)
    for (const text of texts) assert.match(text, /^two /)
    const pids = await pidsOf(port, 2)
    for (const pid of pids) assert.ok(!old.has(pid))
  })

  it('keeps the old workers when the new version does not load', async (t) => {
    const { server, port, controllers } = await withWorkers(t)
    const old = await pidsOf(port, 2)
    const load = loaded(t, port)
    writeFileSync(join(controllers, 'app.mjs'), 'export function who( {')
    const aborted = logged(server, 'Reload aborted')
    server.child.kill('SIGHUP')
    const line = await aborted
    assert.match(line, /A worker ended with exit code 2 before it listened/)
    await load.more(100)
    await load.stop()
    assert.deepEqual(load.failures, [])
    assert.deepEqual(await pidsOf(port, 2), old)

    write(controllers, 'three')
    const replaced = logged(server, 'All workers were replaced')
    server.child.kill('SIGHUP')
    await replaced
    assert.match((await exchange(port, { target: '/app/who' })).body, /^three /)
  })

  it('replaces a worker that was killed', async (t) => {
    const { server, port } = await withWorkers(t)
    const old = await pidsOf(port, 2)
    const [victim = 0, survivor = 0] = old
    const told = logged(server, '"event":"worker"')
    process.kill(victim, 'SIGKILL')
    assert.match(await told, new RegExp(`"pid":${victim},.*"signal":"SIGKILL"`))
    const pids = await pidsOf(port, 2)
    assert.ok(pids.has(survivor) && !pids.has(victim))
  })

  it('ends at once, with all workers, on a second signal', async (t) => {
    const { server, port } = await withWorkers(t)
    // Each of them has an answer under way that does not end.
    const ends = [await begun(t, port), await begun(t, port)].map(closed)
    server.child.kill('SIGTERM')
    while (await accepts(port));
    server.child.kill('SIGINT')
    const { code, stderr } = await server.ended
    assert.deepEqual([code, stderr], [1, ''])
    await Promise.all(ends)
  })

  it('leaves no worker behind when the supervisor is killed', async (t) => {
    const { server, port } = await withWorkers(t, '--close-timeout-ms=50')
    const ends = [await begun(t, port), await begun(t, port)].map(closed)
    server.child.kill('SIGKILL')
    await Promise.all(ends)
    assert.equal(await accepts(port), false)
  })

  for (const [what, args, stderr] of [
    ['a bad setting', ['--port=x'], /^portico: --port is "x": [^\n]*\n$/],
    // Each worker may say it.
    ['a bad folder', ['--controllers=/no/such'], /^(portico: The folder [^\n]*: ENOENT\n)+$/],
  ] as const) {
    it(`says ${what} and exits with 2`, async (t) => {
      const server = new ServerProcess(t, ['--workers=2', '--port=0', ...args])
      const outcome = await server.ended
      assert.deepEqual([outcome.code, outcome.stdout], [2, ''])
      assert.match(outcome.stderr, stderr)
    })
  }
})

describe('node server.js --healthcheck', () => {
  it('exits with 0 where the server is ready, and with 1 where none is', async (t) => {
    const [health = 0] = await freePorts(1)
    const args = [`--health-port=${health}`, '--port=0']
    const check = (): Promise<unknown> =>
      new ServerProcess(t, [...args, '--healthcheck']).ended.then(({ code, stdout, stderr }) => [
        code,
        stdout,
        stderr,
      ])
    assert.deepEqual(await check(), [1, '', ''])
    const server = new ServerProcess(t, [...args, '--host=0.0.0.0'])
    await server.url()
    assert.deepEqual(await check(), [0, '', ''])
    const everywhere = new ServerProcess(t, ['--healthcheck'], {
      PORTICO_HEALTH_PORT: String(health),
      PORTICO_HOST: '0.0.0.0',
    })
    assert.equal((await everywhere.ended).code, 0)
    // Who is about to stop is alive, and not ready.
    server.child.kill('SIGTERM')
    await server.ended
    assert.deepEqual(await check(), [1, '', ''])
  })

  it('needs to know the port', async (t) => {
    const { code, stderr } = await new ServerProcess(t, ['--healthcheck']).ended
    assert.deepEqual([code, stderr], [2, 'portico: --healthcheck needs --health-port\n'])
  })

  it('says that the health port is in use, and exits with 1', async (t) => {
    const other = createServer().listen(0, '127.0.0.1')
    t.after(() => void other.close())
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const server = new ServerProcess(t, ['--port=0', `--health-port=${port}`])
    const { code, stderr } = await server.ended
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `portico: Can't listen on 127.0.0.1, port ${port}: EADDRINUSE, another program listens there; see --port\n`,
    )
  })
})

describe('node server.js --check', () => {
  it('loads everything, prints the configuration that would count, and exits with 0', async (t) => {
    const controllers = folder(t)
    const envFile = join(controllers, 'settings.env')
    writeFileSync(envFile, 'PORTICO_NAMES=zf1\nPORTICO_WORKERS=3\nPORTICO_MAX_FIELDS=7\n')
    const args = ['--check', `--controllers=${controllers}`, '--workers=2']
    const env = { PORTICO_MAX_FIELDS: '8', PORTICO_WORKERS: '4' }
    const server = new ServerProcess(t, [...args, `--env-file=${envFile}`], env)
    const { code, stdout, stderr } = await server.ended
    assert.deepEqual([code, stderr], [0, ''])
    const { names, workers, maxFields, port, ...rest } = JSON.parse(stdout)
    assert.deepEqual([names, workers, maxFields, port], ['zf1', 2, 8, 3000])
    assert.equal(rest.controllers, controllers)
    assert.deepEqual([rest.maxTargetBytes, rest.closeTimeoutMs], [8_192, 10_000])
  })

  it('tells what is allowed and seldom meant, and so does the log at the start', async (t) => {
    const controllers = folder(t)
    writeFileSync(join(controllers, 'news.js'), 'export const title = "no function"\n')
    writeFileSync(join(controllers, 'error.js'), 'export function index() {}\n')
    const args = [`--controllers=${controllers}`, '--port=0']
    const { code, stderr } = await new ServerProcess(t, ['--check', ...args]).ended
    const news = 'The controller "news" exports no function: it has no action'
    const error =
      'The controller "error" has no action "error": every error is answered with a bare 500'
    assert.deepEqual([code, stderr], [0, `portico: ${news}\nportico: ${error}\n`])
    const server = new ServerProcess(t, args)
    await server.url()
    server.child.kill('SIGTERM')
    const told = linesOf((await server.ended).stdout).map(({ level, message }) => [level, message])
    assert.deepEqual(told.slice(0, 2), [
      ['warn', news],
      ['warn', error],
    ])
  })

  it('names the line of a file that is no JavaScript', async (t) => {
    const controllers = folder(t)
    writeFileSync(join(controllers, 'news.mjs'), 'export function list() {\n  let a = ;\n}\n')
    const args = ['--check', `--controllers=${controllers}`]
    const { code, stderr } = await new ServerProcess(t, args).ended
    assert.equal(code, 2)
    assert.match(stderr, /Unexpected token ';', at \S*news\.mjs:2\n$/)
  })

  for (const [what, args, problem] of [
    ['folder', ['--controllers=/no/such'], /^portico: The folder .*"\/no\/such".*ENOENT\n$/],
    ['setting', ['--max-fields=0'], /^portico: --max-fields is "0": [^\n]*\n$/],
  ] as const) {
    it(`exits with 2 for a bad ${what}`, async (t) => {
      const { code, stdout, stderr } = await new ServerProcess(t, ['--check', ...args]).ended
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(stderr, problem)
    })
  }
})

describe('node server.js, with a socket that listens already', () => {
  it('takes it by LISTEN_FDS, and loses no connection that came before', async (t) => {
    const { port, child, ended } = await activated(t, 'LISTEN_PID=$$ LISTEN_FDS=1 exec')
    assert.equal((await exchange(port, { target: '/' })).status, 200)
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  })

  it('leaves it alone where it was meant for another process', async (t) => {
    const server = new ServerProcess(t, ['--port=0'], { LISTEN_PID: '1', LISTEN_FDS: '1' })
    assert.equal((await exchange(portOf(await server.url()), { target: '/' })).status, 200)
  })
})

describe('node server.js, when nobody takes its log', () => {
  for (const [what, redirection] of [
    ['on a full disk', '>/dev/full'],
    ['with stdout and stderr closed', '>&- 2>&-'],
  ] as const) {
    it(`goes on ${what}, and stops with 0`, async (t) => {
      const start = 'LISTEN_PID=$$ LISTEN_FDS=1 exec'
      const { port, child, ended } = await activated(t, start, ['--access-log'], redirection)
      for (let i = 0; i < 10; i++) {
        assert.equal((await exchange(port, { target: `/no/${i}` })).status, 404)
      }
      child.kill('SIGTERM')
      assert.deepEqual(await ended, [0, null])
    })
  }
})

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(path, { recursive: true }))
  write(path, 'one')
  return path
}

function write(controllers: string, version: string): void {
  writeFileSync(join(controllers, 'app.mjs'), app(version))
}

async function withWorkers(t: TestContext, ...more: string[]) {
  const controllers = folder(t)
  const args = ['--workers=2', '--port=0', `--controllers=${controllers}`, ...more]
  const server = new ServerProcess(t, args)
  return { server, controllers, port: portOf(await server.url()) }
}

function loaded(t: TestContext, port: number): Load {
  const load = new Load(`http://127.0.0.1:${port}`, ['/app/who', '/app/slow/id/1'], 20)
  t.after(() => load.stop())
  return load
}

// Those who answer, as soon as there are so many: each new connection goes to the next one.
async function pidsOf(port: number, count: number): Promise<Set<number>> {
  const pids = new Set<number>()
  while (pids.size < count) {
    const { body } = await exchange(port, { target: '/app/who' })
    pids.add(Number(body.split(' ')[1]))
  }
  return new Set([...pids].sort())
}

// A connection on which an answer has begun that does not end.
async function begun(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  t.after(() => void socket.destroy())
  socket.write(bytesOf({ target: '/app/drip' }))
  await once(socket, 'data')
  return socket
}

function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve))
}

// Started as systemd starts it: with a socket that listens as its descriptor 3, and nobody else has it.
async function activated(
  t: TestContext,
  start: string,
  args: readonly string[] = [],
  redirection = '>/dev/null',
): Promise<{ port: number; child: ChildProcess; ended: Promise<unknown[]> }> {
  const socket = createServer().listen(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address() as AddressInfo
  const nothing = openSync('/dev/null', 'r+')
  const { fd } = (socket as Server & { _handle: { fd: number } })._handle
  const command = `${start} "$0" "$@" ${redirection}`
  const child = spawn('sh', ['-c', command, process.execPath, serverFile, ...args], {
    stdio: [nothing, nothing, nothing, fd],
    env: { PATH: process.env.PATH, NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE },
  })
  t.after(() => child.kill('SIGKILL'))
  const ended = once(child, 'close')
  closeSync(nothing)
  socket.close()
  return { port, child, ended }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}

// The first line with a text that it writes from now on.
function logged({ child }: ServerProcess, text: string): Promise<string> {
  return new Promise((resolve) => {
    let told = ''
    child.stdout.on('data', (chunk) => {
      told += chunk
      const line = told.split('\n').find((each) => each.includes(text) && each.endsWith('}'))
      if (line !== undefined) resolve(line)
    })
  })
}

function linesOf(stdout: string): Record<string, unknown>[] {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

function lastLine(stdout: string): Record<string, unknown> {
  return linesOf(stdout).at(-1) ?? {}
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    // ESRCH: there is no such process.
    return false
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED'))
    socket.on('connect', () => socket.destroy()).on('close', () => resolve(true))
  })
}
