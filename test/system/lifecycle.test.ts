import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'undici'
import { createFolder, writeFileIn } from '../support/folder.ts'
import { bytesOf, exchange, parse } from '../support/http.ts'
import { Load } from '../support/load.ts'
import {
  acceptsConnections,
  findFreePorts,
  occupyPort,
  waitUntilRefused,
} from '../support/ports.ts'
import { repositoryFile } from '../support/repository.ts'
import { childEnvironment, skipWithout } from '../support/run-node.ts'
import { isRunning, logLinesOf, ServerProcess } from '../support/server-process.ts'
import { portOf } from '../support/serving.ts'

const serverFile = repositoryFile('dist/server.js')

// The timer would keep alive a process that waits for its event loop to end.
const app = (version: string): string => `
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
setInterval(() => {}, 1_000)
export function who(_, response) { response.text('${version} ' + process.pid) }
export async function slow(request, response) {
  await sleep(20, undefined, { signal: request.signal })
  response.text('<' + request.param('id') + '>')
}
export function echo(request, response) { response.text('<' + request.param('id') + '>') }
export function drip(_, response) {
  response.body = Readable.from((async function* () {
    yield 'started'
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

describe('node server.js on a signal to stop', () => {
  for (const workers of [0, 2]) {
    it(`completes the requests of 200 keep-alive connections under load, resets none, and exits with 0 (--workers ${workers})`, async (t) => {
      // A long deadline: on a busy machine, the responses may take longer than the default of 10 seconds.
      const deadline = '--close-timeout-ms=60000'
      const controllers = createControllers(t)
      const args = ['--port=0', deadline, `--workers=${workers}`, `--controllers=${controllers}`]
      const server = new ServerProcess(t, args)
      const url = await server.url()
      const connected = new Set<number>()
      let responses = 0
      const failures: string[] = []
      let isStopping = false
      const stop = (): void => {
        // A second signal would end the server at once.
        if (!isStopping) isStopping = server.child.kill('SIGTERM')
      }
      const run = async (id: number): Promise<void> => {
        const client = new Client(url)
        const path = id % 2 === 0 ? `/app/slow/id/${id}` : `/app/echo/id/${id}`
        try {
          for (let isOpen = true; isOpen; ) {
            const { statusCode, headers, body } = await client.request({ path, method: 'GET' })
            const text = await body.text()
            if (statusCode !== 200 || text !== `<${id}>`) failures.push(`${statusCode} ${text}`)
            isOpen = headers.connection !== 'close'
            connected.add(id)
            if (++responses >= 1_000 && connected.size === 200) stop()
          }
        } catch (error) {
          failures.push(String(error))
        } finally {
          await client.destroy()
        }
      }
      await Promise.all(Array.from({ length: 200 }, (_, id) => run(id)))
      const { code, stdout, stderr } = await server.ended
      assert.deepEqual(failures, [])
      assert.deepEqual([code, stderr], [0, ''])
      assert.equal(lastLine(stdout).event, 'stop')
    })
  }

  it('serves requests during the drain delay, and is not ready any more', async (t) => {
    const [health = 0] = await findFreePorts(1)
    const server = new ServerProcess(t, [
      '--port=0',
      `--health-port=${health}`,
      '--drain-delay-ms=1000',
    ])
    const port = await server.port()
    assert.equal((await exchange(health, { target: '/readyz' })).status, 200)
    server.child.kill('SIGTERM')
    while ((await exchange(health, { target: '/readyz' })).status === 200);
    assert.equal((await exchange(health, { target: '/readyz' })).status, 503)
    assert.equal((await exchange(health, { target: '/livez' })).status, 200)
    const { status, headers } = await exchange(port, { target: '/' })
    assert.deepEqual([status, headers.connection], [200, 'close'])
    assert.equal((await server.ended).code, 0)
  })

  it('cuts the actions in flight at the deadline, logs their number, and exits with 1', async (t) => {
    const server = new ServerProcess(t, [
      '--port=0',
      '--close-timeout-ms=50',
      `--controllers=${createControllers(t)}`,
    ])
    const port = await server.port()
    await Promise.all([startResponse(t, port), startResponse(t, port)])
    server.child.kill('SIGTERM')
    const { code, stdout } = await server.ended
    assert.equal(code, 1)
    const { event, connections, actions, message } = lastLine(stdout)
    assert.deepEqual([event, connections, actions], ['stop', 2, 2])
    assert.equal(message, 'Stopped, 2 connections closed at the deadline, 2 actions cut')
  })

  for (const workers of [0, 1]) {
    it(`responds with a 408 to half a request, and exits with 0 (--workers ${workers})`, async (t) => {
      const server = new ServerProcess(t, [
        '--port=0',
        `--workers=${workers}`,
        // Longer than the 2 seconds for half a head.
        '--close-timeout-ms=4000',
        `--controllers=${createControllers(t)}`,
      ])
      const port = await server.port()
      const form = [['Content-Type', 'application/x-www-form-urlencoded']] as const
      const target = '/app/echo'
      const body = bytesOf({ method: 'POST', target, headers: form, body: 'a=1' }).slice(0, -1)
      const received = [bytesOf({ target }).slice(0, 10), body].map(async (bytes) => {
        const socket = connect(port, '127.0.0.1').setEncoding('latin1')
        socket.write(bytes)
        return parse(await text(socket))
      })
      // The connections were accepted before this one.
      await exchange(port, { target })
      server.child.kill('SIGTERM')
      for (const { status } of await Promise.all(received)) assert.equal(status, 408)
      const { code, stdout } = await server.ended
      assert.equal(code, 0)
      const { message } = logLinesOf(stdout).find(({ event }) => event === 'stop') ?? {}
      assert.equal(message, 'Stopped, 1 connections closed at the deadline, 0 actions cut')
    })
  }

  it('exits with 0 if it closes only a connection without an action at the deadline', async (t) => {
    const server = new ServerProcess(t, ['--port=0', '--close-timeout-ms=50'])
    const socket = connect(await server.port(), '127.0.0.1').on('error', () => {})
    t.after(() => void socket.destroy())
    socket.write(bytesOf({ target: '/' }).slice(0, 10))
    await once(socket, 'connect')
    await exchange(await server.port(), { target: '/' })
    server.child.kill('SIGTERM')
    assert.equal((await server.ended).code, 0)
  })

  for (const args of [[], ['--workers=4'], ['--watch'], ['--watch', '--workers=1']]) {
    it(`exits with 0 while the controllers load (${args.join(' ') || 'one process'})`, async (t) => {
      const controllers = createFolder(t, {
        'app.mjs': 'console.log("loading")\nawait new Promise((end) => setTimeout(end, 60_000))\n',
      })
      const server = new ServerProcess(t, ['--port=0', ...args, `--controllers=${controllers}`])
      await server.printed(/loading/)
      server.child.kill('SIGTERM')
      const { code, signal, stderr } = await server.ended
      assert.deepEqual([code, signal, stderr], [0, null, ''])
    })
  }

  for (const [action, name] of [
    ['crash', 'an exception'],
    ['forget', 'a rejection'],
  ]) {
    it(`stops the same way on ${name} outside of a request, with 1, and logs no value in the message`, async (t) => {
      const server = new ServerProcess(t, ['--port=0', `--controllers=${createControllers(t)}`])
      const port = await server.port()
      const { body } = await exchange(port, { target: `/app/${action}` })
      assert.equal(body, `${action === 'forget' ? 'forgett' : action}ing`)
      const { code, stdout, stderr } = await server.ended
      assert.deepEqual([code, stderr], [1, ''])
      const events = logLinesOf(stdout).map(({ event }) => event)
      assert.deepEqual(events, ['start', 'error', 'stop'])
      const { level, message, status, stack } = logLinesOf(stdout)[1] ?? {}
      assert.deepEqual([level, message, status], ['error', 'the token is word(6)', 500])
      assert.match(String(stack), /app\.mjs:\d+:\d+/)
      assert.match(
        String(logLinesOf(stdout)[2]?.message),
        /^Stopped by an exception outside of any/,
      )
      assert.doesNotMatch(stdout, /CANARY/)
    })
  }

  it('logs no value of an exception that occurs as soon as it listens', async (t) => {
    const folder = createFolder(t, {
      'app.mjs': `import { Server } from 'node:net'
        const { listen } = Server.prototype
        Server.prototype.listen = function (...args) {
          this.once('listening', () => process.nextTick(() => { throw new Error('the token is CANARY') }))
          return listen.apply(this, args)
        }
        export function index() {}`,
    })
    const server = new ServerProcess(t, ['--port=0', `--controllers=${folder}`])
    const { code, stdout, stderr } = await server.ended
    assert.deepEqual([code, stderr], [1, ''])
    const { event, message } = logLinesOf(stdout)[0] ?? {}
    assert.deepEqual([event, message], ['error', 'the token is word(6)'])
  })

  for (const workers of [0, 1]) {
    it(`exits with 1 on an exception while it stops (--workers ${workers})`, async (t) => {
      const server = new ServerProcess(t, [
        '--port=0',
        '--drain-delay=2000',
        `--workers=${workers}`,
        `--controllers=${createControllers(t)}`,
      ])
      const port = await server.port()
      server.child.kill('SIGTERM')
      // A worker gets the stop message later than the supervisor the signal.
      await delay(500)
      await exchange(port, { target: '/app/crash' })
      assert.equal((await server.ended).code, 1)
    })
  }

  it('completes a request that arrives before the program knows that it listens', async (t) => {
    const folder = createFolder(t, {
      'app.mjs': `import { connect, Server } from 'node:net'
        import { setTimeout as sleep } from 'node:timers/promises'
        const { listen } = Server.prototype
        Server.prototype.listen = function (...args) {
          this.emit = (event, ...rest) => {
            if (event !== 'listening') return Server.prototype.emit.call(this, event, ...rest)
            connect(this.address().port, '127.0.0.1')
              .on('data', (bytes) => console.log('received ' + String(bytes).split('\\r\\n', 1)))
              .write('GET /app/slow HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n')
            process.kill(process.pid, 'SIGTERM')
            return setTimeout(() => Server.prototype.emit.call(this, event), 100)
          }
          return listen.apply(this, args)
        }
        export async function slow(_, response) {
          await sleep(300)
          response.text('slow')
        }`,
    })
    const server = new ServerProcess(t, ['--port=0', `--controllers=${folder}`])
    const { code, stdout } = await server.ended
    assert.match(stdout, /^received HTTP\/1\.1 200 OK$/m)
    assert.equal(code, 0)
  })

  it('reports an exception of the last turn', async (t) => {
    const app = createFolder(t, {
      'app.mjs': `export default {}
        export const close = async () => process.nextTick(() => { throw new Error('late') })`,
    })
    const server = new ServerProcess(t, ['--port=0', `--app=${app}/app.mjs`])
    await server.port()
    server.child.kill('SIGTERM')
    const { code, stdout } = await server.ended
    const events = logLinesOf(stdout).map(({ event }) => event)
    assert.deepEqual([code, events], [1, ['start', 'error', 'stop']])
  })

  // That of macOS has other options.
  const skip = process.platform !== 'linux' || skipWithout('script')

  it('stops when its terminal is closed', { skip }, async (t) => {
    const app = createFolder(t, {
      'app.mjs': `export default {}
        export const started = ({ url }) => console.log('process ' + process.pid, 'at', url, '.')`,
    })
    const command = `exec "${process.execPath}" dist/server.js --port=0 --app="${app}/app.mjs"`
    const terminal = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: repositoryFile('.'),
      env: childEnvironment(),
    })
    t.after(() => terminal.kill('SIGKILL'))
    let output = ''
    while (!/process \d+ at \S+ \./.test(output)) {
      output += String(await once(terminal.stdout, 'data'))
    }
    const [, pid, url = ''] = /process (\d+) at (\S+)/.exec(output) ?? []
    t.after(() => isRunning(Number(pid)) && process.kill(Number(pid), 'SIGKILL'))
    terminal.kill('SIGKILL')
    await waitUntilRefused(portOf(url))
  })

  it('keeps serving after SIGHUP, and logs that there are no workers', async (t) => {
    const server = new ServerProcess(t, ['--port=0', `--controllers=${createControllers(t)}`])
    const port = await server.port()
    server.child.kill('SIGHUP')
    await server.printed(
      /SIGHUP replaces workers, and this process has none: use --workers without --watch/,
    )
    assert.equal((await exchange(port, { target: '/app/no-such' })).status, 404)
    server.child.kill('SIGTERM')
    assert.equal((await server.ended).code, 0)
  })
})

describe('node server.js --workers 2', () => {
  it('serves from two processes, and drains both on SIGTERM: exit 0', async (t) => {
    const { server, port } = await startWorkers(t)
    const pids = await pidsOf(port, 2)
    assert.ok(!pids.has(server.child.pid ?? 0))
    const load = startLoad(t, port)
    await load.more(100)
    // No request follows: the server completes those in flight, and closes the idle connections.
    const stopped = load.stop()
    server.child.kill('SIGTERM')
    await stopped
    const { code, stdout, stderr } = await server.ended
    assert.deepEqual(load.failures, [])
    assert.deepEqual([code, stderr], [0, ''])
    const events = logLinesOf(stdout).map(({ event, message }) => [event, message])
    assert.deepEqual(events.at(-1), ['stop', 'Stopped, and all workers too'])
    assert.equal(events.filter(([event]) => event === 'start').length, 1)
    for (const pid of pids) assert.equal(isRunning(pid), false)
  })

  it('replaces the workers one by one on SIGHUP, and loses no request', async (t) => {
    const { server, port, controllers } = await startWorkers(t)
    const old = await pidsOf(port, 2)
    const load = startLoad(t, port)
    await load.more(200)
    writeFileIn(controllers, 'app.mjs', app('two'))
    const replaced = nextLogLine(server, 'All workers were replaced')
    server.child.kill('SIGHUP')
    await replaced
    load.bodies.clear()
    await load.more(200)
    await load.stop()
    assert.deepEqual(load.failures, [])
    const texts = [...load.bodies].filter((text) => !text.startsWith('<'))
    assert.ok(texts.length > 0)
    for (const text of texts) assert.match(text, /^two /)
    const pids = await pidsOf(port, 2)
    for (const pid of pids) assert.ok(!old.has(pid))
  })

  it('keeps the old workers when the new version does not load', async (t) => {
    const { server, port, controllers } = await startWorkers(t)
    const old = await pidsOf(port, 2)
    const load = startLoad(t, port)
    writeFileIn(controllers, 'app.mjs', 'export function who( {')
    const aborted = nextLogLine(server, 'Reload aborted')
    server.child.kill('SIGHUP')
    const line = await aborted
    assert.match(line, /A worker ended with exit code 2 before it listened/)
    await load.more(100)
    await load.stop()
    assert.deepEqual(load.failures, [])
    assert.deepEqual(await pidsOf(port, 2), old)

    writeFileIn(controllers, 'app.mjs', app('three'))
    const replaced = nextLogLine(server, 'All workers were replaced')
    server.child.kill('SIGHUP')
    await replaced
    assert.match((await exchange(port, { target: '/app/who' })).body, /^three /)
  })

  it('replaces a worker that was killed', async (t) => {
    const { server, port } = await startWorkers(t)
    const old = await pidsOf(port, 2)
    const [victim = 0, survivor = 0] = old
    const line = nextLogLine(server, '"event":"worker"')
    process.kill(victim, 'SIGKILL')
    assert.match(await line, new RegExp(`"pid":${victim},.*"signal":"SIGKILL"`))
    const pids = await pidsOf(port, 2)
    assert.ok(pids.has(survivor) && !pids.has(victim))
  })

  it('ends at once, with all workers, on a second signal', async (t) => {
    const { server, port } = await startWorkers(t)
    // Each worker has a response in flight that never ends.
    const ends = [await startResponse(t, port), await startResponse(t, port)].map(closed)
    server.child.kill('SIGTERM')
    await waitUntilRefused(port)
    server.child.kill('SIGINT')
    const { code, stderr } = await server.ended
    assert.deepEqual([code, stderr], [1, ''])
    await Promise.all(ends)
  })

  it('leaves no worker behind when the supervisor is killed', async (t) => {
    const { server, port } = await startWorkers(t, '--close-timeout-ms=50')
    const ends = [await startResponse(t, port), await startResponse(t, port)].map(closed)
    server.child.kill('SIGKILL')
    await Promise.all(ends)
    assert.equal(await acceptsConnections(port), false)
  })

  it('logs nothing if the supervisor is killed while a worker loads', async (t) => {
    const busy = `process.kill(process.ppid, 'SIGKILL')
      const end = Date.now() + 300
      while (Date.now() < end);
      exports.index = () => {}`
    const folder = createFolder(t, { 'busy.cjs': busy })
    const server = new ServerProcess(t, ['--workers=1', '--port=3000', `--controllers=${folder}`])
    const { signal, stdout, stderr } = await server.ended
    assert.deepEqual([signal, stdout, stderr], ['SIGKILL', '', ''])
  })

  it('exits with 0 if a signal to all processes ends a worker first', async (t) => {
    const folder = createFolder(t, {
      'signal.mjs': `import { spawn } from 'node:child_process'
        import cluster from 'node:cluster'
        if (cluster.isWorker) {
          spawn('sh', ['-c', 'sleep 0.01; kill ' + process.ppid], { detached: true, stdio: 'ignore' })
          process.kill(process.pid, 'SIGTERM')
        }`,
    })
    const options = { NODE_OPTIONS: `--import=file://${folder}/signal.mjs` }
    const server = new ServerProcess(t, ['--workers=1', '--port=0'], options)
    const { code, stdout, stderr } = await server.ended
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual(
      logLinesOf(stdout).map(({ message }) => message),
      ['Stopped, and all workers too'],
    )
  })

  for (const [what, args, stderr] of [
    ['a bad setting', ['--port=x'], /^portico: --port is "x": [^\n]*\n$/],
    // Each worker may print it.
    ['a bad folder', ['--controllers=/no/such'], /^(portico: The folder [^\n]*: ENOENT\n)+$/],
  ] as const) {
    it(`reports ${what} and exits with 2`, async (t) => {
      const server = new ServerProcess(t, ['--workers=2', '--port=0', ...args])
      const outcome = await server.ended
      assert.deepEqual([outcome.code, outcome.stdout], [2, ''])
      assert.match(outcome.stderr, stderr)
    })
  }
})

describe('node server.js --healthcheck', () => {
  it('exits with 0 if the server is ready, and with 1 if there is none', async (t) => {
    const [health = 0] = await findFreePorts(1)
    const args = [`--health-port=${health}`, '--port=0']
    const check = (): Promise<unknown> =>
      new ServerProcess(t, [...args, '--healthcheck']).ended.then(({ code, stdout, stderr }) => [
        code,
        stdout,
        stderr,
      ])
    const problem = `127.0.0.1, port ${health}: ECONNREFUSED`
    assert.deepEqual(await check(), [1, '', `portico: Not ready: ${problem}\n`])
    const server = new ServerProcess(t, [...args, '--host=0.0.0.0'])
    await server.url()
    assert.deepEqual(await check(), [0, '', ''])
    const everywhere = new ServerProcess(t, ['--healthcheck'], {
      PORTICO_HEALTH_PORT: String(health),
      PORTICO_HOST: '0.0.0.0',
    })
    assert.equal((await everywhere.ended).code, 0)
    server.child.kill('SIGTERM')
    await server.ended
    assert.deepEqual(await check(), [1, '', `portico: Not ready: ${problem}\n`])
  })

  it('needs the health port', async (t) => {
    const { code, stderr } = await new ServerProcess(t, ['--healthcheck']).ended
    assert.deepEqual([code, stderr], [2, 'portico: --healthcheck needs --health-port\n'])
  })

  it('reports that the health port is in use, and exits with 1', async (t) => {
    const port = await occupyPort(t)
    const server = new ServerProcess(t, ['--port=0', `--health-port=${port}`])
    const { code, stderr } = await server.ended
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `portico: Can't listen on 127.0.0.1, port ${port}: EADDRINUSE, another program listens there; see --health-port\n`,
    )
  })
})

describe('node server.js --check', () => {
  it('loads everything, prints the effective configuration, and exits with 0', async (t) => {
    const controllers = createFolder(t, {
      'app.mjs': app('one'),
      'settings.env': 'PORTICO_NAMES=zf1\nPORTICO_WORKERS=3\nPORTICO_MAX_FIELDS=7\n',
    })
    const envFile = join(controllers, 'settings.env')
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

  it('warns about controllers that are probably wrong, as the log does at the start', async (t) => {
    const controllers = createFolder(t, {
      'app.mjs': app('one'),
      'news.js': 'export const title = "no function"\n',
      'error.js': 'export function index() {}\n',
    })
    const args = [`--controllers=${controllers}`, '--port=0']
    const { code, stderr } = await new ServerProcess(t, ['--check', ...args]).ended
    const news =
      'The controller "news" exports no function, and no object of a class: it has no action'
    const error =
      'The controller "error" has no action "error": the response to every error is a bare 500'
    assert.deepEqual([code, stderr], [0, `portico: ${news}\nportico: ${error}\n`])
    const server = new ServerProcess(t, args)
    await server.url()
    server.child.kill('SIGTERM')
    const lines = logLinesOf((await server.ended).stdout)
    const messages = lines.map(({ level, message }) => [level, message])
    assert.deepEqual(messages.slice(0, 2), [
      ['warn', news],
      ['warn', error],
    ])
  })

  it('names the line of a syntax error', async (t) => {
    const controllers = createFolder(t, {
      'app.mjs': app('one'),
      'news.mjs': 'export function list() {\n  let a = ;\n}\n',
    })
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

describe('node server.js with a socket that already listens', () => {
  it('takes the socket from LISTEN_FDS, and loses no earlier connection', async (t) => {
    const { port, child, ended } = await startActivated(t, 'LISTEN_PID=$$ LISTEN_FDS=1 exec')
    assert.equal((await exchange(port, { target: '/' })).status, 200)
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  })

  it('logs a UNIX socket, whose path Node does not know', async (t) => {
    const socket = createServer().listen(join(createFolder(t), 'socket'))
    t.after(() => socket.close())
    await once(socket, 'listening')
    const { fd } = (socket as Server & { _handle: { fd: number } })._handle
    const command = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"'
    const child = spawn('sh', ['-c', command, process.execPath, serverFile], {
      stdio: ['ignore', 'pipe', 'ignore', fd],
      env: childEnvironment(),
    })
    t.after(() => child.kill('SIGKILL'))
    const [line] = await once(child.stdout ?? child, 'data')
    assert.equal(JSON.parse(String(line)).url, 'unix:inherited')
  })

  it('names the descriptor if it is no socket', () => {
    const command = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@" 3>&-'
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', command, 'sh', process.execPath, serverFile],
      {
        encoding: 'utf8',
        env: childEnvironment(),
      },
    )
    const problem = "Can't listen on the inherited socket (LISTEN_FDS), descriptor 3: EINVAL"
    assert.deepEqual([status, stderr], [1, `portico: ${problem}\n`])
  })

  for (const number of ['2', 'x']) {
    it(`rejects LISTEN_FDS=${number}`, () => {
      const command = `LISTEN_PID=$$ LISTEN_FDS=${number} exec "$@"`
      const { status, stderr } = spawnSync(
        'sh',
        ['-c', command, 'sh', process.execPath, serverFile],
        { encoding: 'utf8', env: childEnvironment(), timeout: 10_000 },
      )
      assert.deepEqual([status, stderr], [2, `portico: LISTEN_FDS is "${number}", not 1\n`])
    })
  }

  it('ignores a socket that is meant for another process', async (t) => {
    const server = new ServerProcess(t, ['--port=0'], { LISTEN_PID: '1', LISTEN_FDS: '1' })
    assert.equal((await exchange(await server.port(), { target: '/' })).status, 200)
  })
})

describe('node server.js whose stdout is read late', () => {
  for (const workers of [0, 1]) {
    it(`writes the whole log before it exits (--workers ${workers})`, async (t) => {
      const [healthPort = 0] = await findFreePorts(1)
      const flood = `export function index(_, response) {
        process.stdout.write('x'.repeat(900_000) + '\\n')
        response.text('flooded')
      }`
      const server = new ServerProcess(t, [
        ...['--port=0', `--workers=${workers}`, `--health-port=${healthPort}`],
        `--controllers=${createFolder(t, { 'flood.mjs': flood })}`,
      ])
      const port = await server.port()
      server.child.stdout.pause()
      assert.equal((await exchange(port, { target: '/flood' })).body, 'flooded')
      server.child.kill('SIGTERM')
      // The health port closes directly before the last line.
      if (workers === 0) await waitUntilRefused(healthPort)
      server.child.stdout.resume()
      const { code, stdout } = await server.ended
      assert.equal(code, 0)
      assert.match(stdout, /x{900000}\n/)
      assert.match(stdout, /"event":"stop".*\n$/)
    })
  }
})

describe('node server.js without a working stdout', () => {
  for (const [what, redirection] of [
    ['on a full disk', '>/dev/full'],
    ['with stdout and stderr closed', '>&- 2>&-'],
  ] as const) {
    it(`keeps serving ${what}, and exits with 0`, async (t) => {
      const start = 'LISTEN_PID=$$ LISTEN_FDS=1 exec'
      const { port, child, ended } = await startActivated(t, start, ['--access-log'], redirection)
      for (let i = 0; i < 10; i++) {
        assert.equal((await exchange(port, { target: `/no/${i}` })).status, 404)
      }
      child.kill('SIGTERM')
      assert.deepEqual(await ended, [0, null])
    })
  }
})

function createControllers(t: TestContext): string {
  return createFolder(t, { 'app.mjs': app('one') })
}

async function startWorkers(t: TestContext, ...more: string[]) {
  const controllers = createControllers(t)
  const args = ['--workers=2', '--port=0', `--controllers=${controllers}`, ...more]
  const server = new ServerProcess(t, args)
  return { server, controllers, port: await server.port() }
}

function startLoad(t: TestContext, port: number): Load {
  return new Load(t, `http://127.0.0.1:${port}`, ['/app/who', '/app/slow/id/1'], 20)
}

/** Collects the process ids of this number of workers. Each new connection goes to the next worker. */
async function pidsOf(port: number, count: number): Promise<Set<number>> {
  const pids = new Set<number>()
  while (pids.size < count) {
    const { body } = await exchange(port, { target: '/app/who' })
    pids.add(Number(body.split(' ')[1]))
  }
  return new Set([...pids].sort())
}

/** Opens a connection, and waits for the start of a response that never ends. */
async function startResponse(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  t.after(() => void socket.destroy())
  socket.write(bytesOf({ target: '/app/drip' }))
  await once(socket, 'data')
  return socket
}

function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve))
}

/** Starts a server as systemd does: descriptor 3 is a socket that listens, and no other process has it. */
async function startActivated(
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
    env: childEnvironment(),
  })
  t.after(() => child.kill('SIGKILL'))
  const ended = once(child, 'close')
  closeSync(nothing)
  socket.close()
  return { port, child, ended }
}

/** Returns the first line with this text that the server logs from now on. */
function nextLogLine({ child }: ServerProcess, text: string): Promise<string> {
  return new Promise((resolve) => {
    let received = ''
    child.stdout.on('data', (chunk) => {
      received += chunk
      const line = received.split('\n').find((each) => each.includes(text) && each.endsWith('}'))
      if (line !== undefined) resolve(line)
    })
  })
}

function lastLine(stdout: string): Record<string, unknown> {
  return logLinesOf(stdout).at(-1) ?? {}
}
