import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { createFolder, writeFileIn } from '../support/folder.ts'
import { bytesOf, exchange } from '../support/http.ts'
import { Load } from '../support/load.ts'
import { acceptsConnections, findFreePorts } from '../support/ports.ts'
import { repositoryFile } from '../support/repository.ts'
import { childEnvironment } from '../support/run-node.ts'
import { isRunning, logLinesOf, ServerProcess } from '../support/server-process.ts'
import { portOf } from '../support/serving.ts'

const APP = `
import { once } from 'node:events'
import { Readable } from 'node:stream'
export function who(_, response) { response.text(String(process.pid)) }
export function drip(_, response) {
  response.body = Readable.from((async function* () {
    yield String(process.pid)
    await new Promise(() => {})
  })())
}
export async function late(_, response) {
  const disconnected = once(process, 'disconnect')
  process.stdout.write('late started\\n')
  await disconnected
  await new Promise(setImmediate)
  response.text('whole')
}
export function crash(request, response) {
  if (request.param('pid') === String(process.pid)) setTimeout(() => { throw new Error('crashed') })
  response.text(String(process.pid))
}
`

// Keeps its process busy for ever.
const BUSY = `
export function index(_, response) { response.text(String(process.pid)) }
export function loop() { for (;;); }
`

// Prints a line, and is never loaded.
const HANGING = `
process.stdout.write('loading ' + process.pid + ';')
setInterval(() => {}, 1_000)
await new Promise(() => {})
`

// Longer than any of these tests: a worker whose response never ends stops when the test ends.
const PATIENT = '--close-timeout-ms=600000'

// A server that does not do what a test waits for would otherwise block the test run.
const LIMIT = { timeout: 60_000 }

// Ends its own process, as the system does without memory.
const KILLED = `process.kill(process.pid, 'SIGKILL')`

describe('node server.js --workers 2, when workers crash', () => {
  it(
    'logs that the first worker was killed before it listened, and exits with 1',
    LIMIT,
    async (t) => {
      const controllers = createFolder(t, { 'app.mjs': KILLED })
      const { ended } = new ServerProcess(t, [
        '--workers=2',
        '--port=0',
        `--controllers=${controllers}`,
      ])
      const { code, stdout } = await ended
      assert.equal(code, 1)
      assert.equal(logLinesOf(stdout)[0].message, 'A worker ended with SIGKILL before it listened')
    },
  )

  it(
    'accepts connections and requests all the time, with slow responses in flight',
    LIMIT,
    async (t) => {
      const { server, port } = await startWorkers(t, PATIENT)
      const old = await pidsOf(port, 2)
      const load = new Load(t, `http://127.0.0.1:${port}`, ['/app/who'], 4)
      // Each worker has a response that never ends, so it never ends by itself.
      const slow = await Promise.all([...old].map((pid) => openSlowResponse(t, port, pid)))
      for (const pid of old) await crash(port, pid)
      await load.until(() => newOf(load.bodies, old).length === 2 || load.failures.length > 0)
      await load.more(100)
      await load.stop()
      assert.deepEqual(load.failures, [])
      assert.deepEqual(
        slow.map((socket) => socket.closed),
        [false, false],
      )
      server.child.kill('SIGTERM')
      // The system sends only one of two equal signals that wait.
      server.child.kill('SIGINT')
      const { stdout } = await server.ended
      const lost = logLinesOf(stdout).filter(({ event }) => event === 'worker')
      assert.deepEqual(
        lost.map(({ pid, message }) => [pid, message]).sort(),
        [...old]
          .sort()
          .map((pid) => [pid, `Worker ${pid} had an exception; a new worker starts in 100 ms`]),
      )
    },
  )

  it('serves and stops while nobody reads stdout, also after a reload', LIMIT, async (t) => {
    const controllers = createFolder(t, {
      'app.mjs': `export function flood(_, response) {
        process.stdout.write('x'.repeat(300_000) + '\\n')
        response.text('flooded')
      }`,
    })
    const args = ['--workers=2', '--port=0', `--controllers=${controllers}`]
    const server = new ServerProcess(t, args)
    const port = await server.port()
    server.child.kill('SIGHUP')
    await server.printed(/All workers were replaced/)
    server.child.stdout.pause()
    for (let i = 0; i < 6; i++) {
      assert.equal((await exchange(port, { target: '/app/flood' })).body, 'flooded')
    }
    server.child.kill('SIGTERM')
    assert.deepEqual(await once(server.child, 'exit'), [0, null])
  })

  it('tears no line of two workers while stdout is read late', LIMIT, async (t) => {
    const controllers = createFolder(t, {
      'app.mjs': `export function lines(_, response) {
        const line = JSON.stringify({ text: 'x'.repeat(1_000) }) + '\\n'
        for (let i = 0; i < 900; i++) process.stdout.write(line)
        response.text(String(process.pid))
      }`,
    })
    const args = ['--workers=2', '--port=0', `--controllers=${controllers}`]
    const server = new ServerProcess(t, args)
    const port = await server.port()
    server.child.stdout.pause()
    const pids = new Set<string>()
    while (pids.size < 2) pids.add((await exchange(port, { target: '/app/lines' })).body)
    server.child.stdout.resume()
    server.child.kill('SIGTERM')
    const { stdout } = await server.ended
    assert.ok(logLinesOf(stdout).length > 1_800)
  })

  it('keeps the port that the system chose when all workers have died', LIMIT, async (t) => {
    const { server, port } = await startWorkers(t)
    for (const round of ['first', 'second']) {
      const old = await pidsOf(port, 2)
      for (const pid of old) process.kill(pid, 'SIGKILL')
      // A connection that node:cluster has sent to a dying worker gets no response.
      for (const pid of old) await server.printed(new RegExp(`Worker ${pid} ended`))
      await waitUntilAccepted(port)
      const pids = await pidsOf(port, 2, old)
      assert.equal(pids.size, 2, round)
    }
  })

  it(
    'waits for its own port, and not for a server that the application opens',
    LIMIT,
    async (t) => {
      const folder = createFolder(t, {
        'app.mjs': `
        import { once } from 'node:events'
        import { createServer } from 'node:http'
        const own = createServer((_, out) => out.end('own')).listen(0, '127.0.0.1')
        await once(own, 'listening')
        export default { controllers: { index: { index: (_, out) => out.text('app') } } }`,
      })
      const args = ['--workers=1', '--port=0', `--app=${folder}/app.mjs`]
      const server = new ServerProcess(t, args)
      assert.equal((await exchange(await server.port(), { target: '/' })).body, 'app')
    },
  )

  it('keeps the settings of --env-file, whatever it contains later', LIMIT, async (t) => {
    const [port, other] = await findFreePorts(2)
    const file = (value: unknown): string =>
      `PORTICO_PORT=${value}\nPORTICO_TRUST_PROXY=10.0.0.1,10.0.0.2\n`
    const folder = createFolder(t, { 'app.js': APP, env: file(port) })
    const args = [`--env-file=${folder}/env`, '--workers=2', `--controllers=${folder}`]
    const server = new ServerProcess(t, args)
    const url = await server.url()
    assert.equal(portOf(url), port)
    writeFileIn(folder, 'env', `${file(other)}PORTICO_ENV=development\nPORTICO_MAX_FIELDS=x\n`)
    server.child.kill('SIGHUP')
    await server.printed(/All workers were replaced/)
    assert.equal((await exchange(Number(port), { target: '/app/who' })).status, 200)
    assert.equal(await acceptsConnections(Number(other)), false)
  })

  it('stops the crashed worker when its successor does not start', LIMIT, async (t) => {
    const { server, port, controllers } = await startWorkers(t)
    const [crashing = 0, other = 0] = await pidsOf(port, 2)
    writeFileIn(controllers, 'app.mjs', 'export function who( {')
    await crash(port, crashing)
    await server.printed(/a new worker starts in 200 ms/)
    while (isRunning(crashing)) await exchange(port, { target: '/app/who' })
    assert.deepEqual([...(await pidsOf(port, 1))], [other])

    writeFileIn(controllers, 'app.mjs', APP)
    assert.equal((await pidsOf(port, 1, new Set([other]))).size, 1)
  })
})

describe('node server.js --workers 2, when it stops', () => {
  it('responds to the requests of all connections that wait', LIMIT, async (t) => {
    const { server, port } = await startWorkers(t)
    server.child.kill('SIGSTOP')
    const sockets = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'))
    t.after(() => sockets.forEach((socket) => void socket.destroy()))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    const received = sockets.map((socket) => text(socket.end(bytesOf({ target: '/app/who' }))))
    server.child.kill('SIGTERM')
    server.child.kill('SIGCONT')
    for (const each of await Promise.all(received)) assert.match(each, /^HTTP\/1\.1 200/)
    assert.equal((await server.ended).code, 0)
  })

  it(
    'exits with 0 when a worker had an exception directly before, and cut no action',
    LIMIT,
    async (t) => {
      const { server, port } = await startWorkers(t)
      const [pid = 0] = await pidsOf(port, 1)
      await crash(port, pid)
      await server.printed(/had an exception/)
      server.child.kill('SIGTERM')
      assert.equal((await server.ended).code, 0)
    },
  )

  it(
    'completes the request of a worker that serves while another one does not start',
    LIMIT,
    async (t) => {
      const folder = createFolder(t, {
        'app.mjs': `
        import cluster from 'node:cluster'
        import { once } from 'node:events'
        import { existsSync, writeFileSync } from 'node:fs'
        import { setTimeout as sleep } from 'node:timers/promises'
        const requested = new URL('requested', import.meta.url)
        if (cluster.worker.id === 2) {
          while (!existsSync(requested)) await sleep(5)
          throw new Error('no database')
        }
        let service
        export const started = (listening) => {
          service = listening
          console.log('serves on ' + service.url + ';')
        }
        export const close = () => console.log('closed;')
        const index = async (_, response) => {
          writeFileSync(requested, '')
          await once(service.closing, 'abort')
          response.text('whole')
        }
        export default { controllers: { index: { index } } }`,
      })
      const args = ['--workers=2', '--port=0', `--app=${folder}/app.mjs`]
      const server = new ServerProcess(t, args)
      const line = await server.printed(/serves on \S+;/)
      const port = portOf(/serves on (\S+);/.exec(line)?.[1] ?? '')
      assert.equal((await exchange(port, { target: '/' })).body, 'whole')
      const { code, stdout } = await server.ended
      assert.equal(code, 2)
      assert.match(stdout, /closed;/)
    },
  )

  it('warns once about a misspelt variable of the file of --env-file', LIMIT, async (t) => {
    const folder = createFolder(t, { '.env': 'PORTICO_PROT=1\n' })
    const { server } = await startWorkers(t, `--env-file=${folder}/.env`)
    server.child.kill('SIGTERM')
    const { stdout } = await server.ended
    const warnings = logLinesOf(stdout).filter(({ event }) => event === 'warning')
    assert.deepEqual(
      warnings.map(({ message }) => message),
      ['There is no variable PORTICO_PROT: did you mean PORTICO_PORT?'],
    )
  })

  it(
    'lets the application close a server of its own, which has an open connection',
    LIMIT,
    async (t) => {
      for (const close of [
        '',
        'export const close = () => new Promise((end) => { own.close(end); client.end() })',
      ]) {
        const folder = createFolder(t, {
          'app.mjs': `
        import { createServer } from 'node:net'
        let client
        const own = createServer((socket) => { client = socket.on('error', () => {}) })
        export const started = () => own.listen(0, '127.0.0.1', () => console.log('own:' + own.address().port + ';'))
        ${close}
        export default { controllers: {} }`,
        })
        const server = new ServerProcess(t, [
          '--workers=1',
          '--port=0',
          `--app=${folder}/app.mjs`,
          PATIENT,
        ])
        const line = await server.printed(/own:\d+;/)
        const client = connect(Number(/own:(\d+)/.exec(line)?.[1]), '127.0.0.1')
        const closed = once(
          client.resume().on('error', () => {}),
          'close',
        )
        await once(client, 'connect')
        await server.url()
        server.child.kill('SIGTERM')
        const { code, stderr } = await server.ended
        await closed
        assert.deepEqual([code, stderr], [0, ''])
      }
    },
  )

  it('completes the requests in flight when the supervisor is killed', LIMIT, async (t) => {
    const { server, port } = await startWorkers(t)
    const response = exchange(port, { target: '/app/late' })
    await server.printed(/late started/)
    server.child.kill('SIGKILL')
    assert.equal((await response).body, 'whole')
  })

  it(
    'leaves no worker behind when the supervisor is killed while they are about to listen',
    LIMIT,
    async (t) => {
      const folder = createFolder(t, {
        'app.mjs': `
        import cluster from 'node:cluster'
        setInterval(() => {}, 1_000)
        const { send } = process
        if (cluster.isWorker) process.send = (message, ...more) => {
          if (message.act === 'queryServer') process.kill(process.ppid, 'SIGKILL')
          return send.call(process, message, ...more)
        }
        export default { controllers: {} }`,
      })
      const server = new ServerProcess(t, ['--workers=1', '--port=0', `--app=${folder}/app.mjs`])
      // The worker has the same stdout, which closes when it ends.
      const { signal } = await server.ended
      assert.equal(signal, 'SIGKILL')
    },
  )

  it('exits with 0 while the workers load controllers', LIMIT, async (t) => {
    const controllers = createFolder(t, { 'app.mjs': HANGING })
    const args = ['--workers=2', '--port=0', PATIENT, `--controllers=${controllers}`]
    const server = new ServerProcess(t, args)
    await server.printed(/loading.*loading/)
    server.child.kill('SIGTERM')
    const { code, stderr } = await server.ended
    assert.deepEqual([code, stderr], [0, ''])
  })

  it('exits with 0 before the workers run their first line', LIMIT, async (t) => {
    const server = new ServerProcess(t, ['--workers=2', '--port=0', PATIENT], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(REPORT_FORK)}`,
    })
    await server.printed(/forked/)
    server.child.kill('SIGTERM')
    const { code, stderr } = await server.ended
    assert.deepEqual([code, stderr], [0, ''])
  })

  for (const reloads of [false, true]) {
    const when = reloads ? 'during a reload' : 'while a successor starts'
    it(`exits with 0 ${when}, and leaves no process behind`, LIMIT, async (t) => {
      const { server, port, controllers } = await startWorkers(t)
      const pids = await pidsOf(port, 2)
      writeFileIn(controllers, 'app.mjs', HANGING)
      const [first = 0] = pids
      if (reloads) server.child.kill('SIGHUP')
      else process.kill(first, 'SIGKILL')
      const starting = await server.printed(/loading \d+;/)
      server.child.kill('SIGTERM')
      const { code, stderr } = await server.ended
      assert.deepEqual([code, stderr], [0, ''])
      const young = Number(/\d+/.exec(starting)?.[0])
      for (const pid of [...pids, young]) assert.equal(isRunning(pid), false)
    })
  }
})

// Prints a line when the primary process forks a worker.
const REPORT_FORK = `
import cluster from 'node:cluster'
cluster.on('fork', () => process.stdout.write('forked '))
`

async function startWorkers(t: TestContext, ...more: string[]) {
  const controllers = createFolder(t, { 'app.mjs': APP })
  const args = ['--workers=2', '--port=0', `--controllers=${controllers}`, ...more]
  const server = new ServerProcess(t, args)
  return { server, controllers, port: await server.port() }
}

/** Collects the process ids of this number of workers, without those of the old ones. */
async function pidsOf(port: number, count: number, old = new Set<number>()): Promise<Set<number>> {
  const pids = new Set<number>()
  while (pids.size < count) {
    const { status, body } = await exchange(port, { target: '/app/who' })
    if (status === 200 && !old.has(Number(body))) pids.add(Number(body))
  }
  return new Set([...pids].sort())
}

/** Opens connections until one of them has a response of this worker that never ends. */
async function openSlowResponse(t: TestContext, port: number, pid: number): Promise<Socket> {
  for (;;) {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    t.after(() => void socket.destroy())
    let text = ''
    socket.setEncoding('latin1').write(bytesOf({ target: '/app/drip' }))
    while (!/\r\n\d{2,}\r\n$/.test(text)) [text] = [text + (await once(socket, 'data'))[0]]
    if (text.includes(`\r\n${pid}\r\n`)) return socket
    socket.destroy()
  }
}

/** Lets a worker crash: sends requests until one reaches it. */
async function crash(port: number, pid: number): Promise<void> {
  let body = ''
  while (Number(body) !== pid) {
    const target = `/app/crash/pid/${pid}`
    body = (await exchange(port, { target })).body
  }
}

async function waitUntilAccepted(port: number): Promise<void> {
  while (!(await acceptsConnections(port)));
}

function newOf(bodies: ReadonlySet<string>, old: ReadonlySet<number>): string[] {
  return [...bodies].filter((body) => !old.has(Number(body)))
}

// No ServerProcess: a shell sets the limit for the program and its workers.
describe('node server.js --workers 1, with few file descriptors', () => {
  it(
    'replaces a worker that has no descriptor for a connection, and serves again',
    LIMIT,
    async (t) => {
      const folder = createFolder(t, { 'app.mjs': APP })
      const args = ['dist/server.js', '--workers=1', '--port=0', `--controllers=${folder}`]
      const limited = 'ulimit -n 200; exec "$0" "$@"'
      const child = spawn('sh', ['-c', limited, process.execPath, ...args], {
        cwd: repositoryFile('.'),
        env: childEnvironment(),
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      t.after(() => child.kill('SIGKILL'))
      const lines = createInterface({ input: child.stdout })
      const [start] = await once(lines, 'line')
      const logged = once(lines, 'line')
      const port = portOf(JSON.parse(start).url)
      const sockets: Socket[] = []
      let lost: string | undefined
      logged.then(([line]) => {
        lost = line
      })
      // One by one: the supervisor has few descriptors too.
      while (lost === undefined) {
        const socket = connect(port, '127.0.0.1').on('error', () => {})
        t.after(() => void socket.destroy())
        sockets.push(socket)
        socket.write('GET /app/who HTTP/1.1\r\nHost: a.example\r\n\r\n')
        await Promise.race([once(socket, 'data'), logged])
      }
      assert.match(lost, /Worker \d+ has no free file descriptor; a new worker starts in 100 ms/)
      for (const socket of sockets) socket.destroy()
      assert.equal((await exchange(port, { target: '/app/who' })).status, 200)
      child.kill('SIGTERM')
      assert.deepEqual(await once(child, 'close'), [0, null])
    },
  )
})

// As PM2 does in its cluster mode.
const MANAGER = `
import cluster from 'node:cluster'
const [exec, ...args] = process.argv.slice(2)
cluster.setupPrimary({ exec, args })
const worker = cluster.fork()
process.stdout.write('worker ' + worker.process.pid + ';')
worker.on('exit', (code) => process.exit(code))
process.on('SIGTERM', () => worker.process.kill('SIGTERM'))
`

describe('node server.js as a worker of another program of node:cluster', () => {
  const startManager = (t: TestContext, ...more: string[]): ServerProcess => {
    const folder = createFolder(t, { 'manager.mjs': MANAGER, 'controllers/app.mjs': APP })
    const args = [repositoryFile('dist/server.js'), `--controllers=${folder}/controllers`]
    const program = { file: `${folder}/manager.mjs`, folder }
    return new ServerProcess(t, [...args, '--port=0', ...more], {}, program)
  }

  it(
    'stops on a signal with 0, and with 1 on an exception outside of a request',
    LIMIT,
    async (t) => {
      const [healthPort = 0] = await findFreePorts(1)
      for (const expected of [0, 1]) {
        const server = startManager(t, `--health-port=${healthPort}`)
        const port = await server.port()
        assert.equal((await exchange(healthPort, { target: '/readyz' })).status, 200)
        const { body } = await exchange(port, { target: '/app/who' })
        if (expected === 0) server.child.kill('SIGTERM')
        else await crash(port, Number(body))
        const { code, stdout } = await server.ended
        assert.equal(code, expected)
        assert.match(stdout, /"event":"stop".*\n$/)
      }
    },
  )

  it('completes the request in flight when the other program is killed', LIMIT, async (t) => {
    const server = startManager(t)
    const port = await server.port()
    const pid = Number(/\d+/.exec(await server.printed(/worker \d+;/))?.[0])
    const response = exchange(port, { target: '/app/late' })
    await server.printed(/late started/)
    server.child.kill('SIGKILL')
    assert.equal((await response).body, 'whole')
    while (isRunning(pid)) await new Promise(setImmediate)
  })
})

describe('node server.js --watch --workers', () => {
  for (const cause of ['a change', 'a second signal']) {
    it(`leaves no busy worker behind after ${cause}`, LIMIT, async (t) => {
      const folder = createFolder(t, { 'index.mjs': BUSY })
      const args = ['--watch', '--workers=1', '--port=0', `--controllers=${folder}`, PATIENT]
      const server = new ServerProcess(t, args)
      const port = await server.port()
      const pid = Number((await exchange(port, { target: '/' })).body)
      t.after(() => isRunning(pid) && process.kill(pid, 'SIGKILL'))
      const client = connect(port, '127.0.0.1').on('error', () => {})
      t.after(() => client.destroy())
      client.write(bytesOf({ target: '/index/loop' }))
      // The worker accepts no other request from now on.
      await once(client, 'connect')
      if (cause === 'a change') {
        writeFileIn(folder, 'index.mjs', `${BUSY}\n`)
        await server.printed(/Restarted/)
      } else {
        server.child.kill('SIGTERM')
        server.child.kill('SIGINT')
        await once(server.child, 'exit')
      }
      while (isRunning(pid)) await new Promise(setImmediate)
    })
  }
})
