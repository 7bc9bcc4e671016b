import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { fetch } from 'undici'
import { createFolder } from '../support/folder.ts'
import { bytesOf } from '../support/http.ts'
import { occupyPort, waitUntilRefused } from '../support/ports.ts'
import { repositoryFile } from '../support/repository.ts'
import { childEnvironment } from '../support/run-node.ts'
import { ServerProcess } from '../support/server-process.ts'

const examples = repositoryFile('examples/controllers')

describe('node server.js', () => {
  it('serves a welcome page that shows how to start', async (t) => {
    const server = new ServerProcess(t, ['--port', '0'])
    const response = await fetch(await server.url(), { keepalive: false })
    assert.equal(response.status, 200)
    assert.match(await response.text(), /--controllers/)
  })

  it('serves a folder of controllers', async (t) => {
    const server = new ServerProcess(t, ['--port', '0', '--controllers', examples])
    const response = await fetch(`${await server.url()}/news/view/id/2`)
    assert.equal(((await response.json()) as { title: string }).title, 'Every URL stays')
  })

  it('reads settings from the environment, and a flag wins', async (t) => {
    const server = new ServerProcess(t, ['--names', 'zf1'], {
      PORT: '0',
      PORTICO_CONTROLLERS: examples,
      PORTICO_NAMES: 'exact',
    })
    const response = await fetch(`${await server.url()}/NEWS/List`)
    assert.equal(response.status, 200)
    await response.text()
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`exits with 0 on ${signal}`, async (t) => {
      const server = new ServerProcess(t, ['--port', '0'])
      await server.url()
      server.child.kill(signal)
      const { code, stderr } = await server.ended
      assert.deepEqual([code, stderr], [0, ''])
    })
  }

  it('exits at once on a second signal', async (t) => {
    const server = new ServerProcess(t, ['--port', '0'])
    const port = await server.port()
    // An incomplete request keeps the server from stopping.
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    socket.write(bytesOf({ target: '/' }).slice(0, 10))
    server.child.kill('SIGTERM')
    await waitUntilRefused(port)
    server.child.kill('SIGTERM')
    assert.equal((await server.ended).code, 1)
  })

  const bad: [string[], string[]][] = [
    [['--prot=1'], ['portico: Unknown option "--prot": did you mean --port?']],
    [['--port', 'x'], ['portico: --port is "x": expected a whole number from 0 to 65535']],
    [['--port', '65536'], ['portico: --port is "65536": expected a whole number from 0 to 65535']],
    [['--port'], ['portico: --port is "": expected a whole number from 0 to 65535']],
    [['--names', 'loose'], ['portico: --names is "loose": expected "exact" or "zf1"']],
    [['extra'], ['portico: Unexpected argument "extra"']],
    [
      ['--show-values'],
      ['portico: --show-values needs --env development, but --env is "production"'],
    ],
    [
      ['--controllers', '/no/such'],
      ['portico: The folder of controllers "/no/such" can\'t be read: ENOENT'],
    ],
    [
      ['--port=-1', '--names=a\nb'],
      [
        'portico: --port is "-1": expected a whole number from 0 to 65535',
        'portico: --names is "a\\nb": expected "exact" or "zf1"',
      ],
    ],
  ]
  for (const [args, lines] of bad) {
    it(`reports what is wrong with ${JSON.stringify(args)} and exits with 2`, async (t) => {
      const { code, stdout, stderr } = await new ServerProcess(t, args).ended
      assert.deepEqual([code, stdout, stderr], [2, '', lines.map((line) => `${line}\n`).join('')])
    })
  }

  it('reports that the port is in use and exits with 1', async (t) => {
    const port = await occupyPort(t)
    const { code, stderr } = await new ServerProcess(t, ['--port', String(port)]).ended
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `portico: Can't listen on 127.0.0.1, port ${port}: EADDRINUSE, another program listens there; see --port\n`,
    )
  })

  // As Node 26 does with --permission, but without --allow-net.
  it('exits with 1 if Node throws while it begins to listen', async (t) => {
    const patch = `const { Server } = process.getBuiltinModule('node:net')
      Server.prototype.listen = () => process.nextTick(() => { throw new Error('No access') })`
    const preload = `--import=data:text/javascript,${encodeURIComponent(patch)}`
    const { code, stdout } = await new ServerProcess(t, ['--port', '0'], { NODE_OPTIONS: preload })
      .ended
    assert.equal(code, 1)
    assert.match(
      stdout,
      /"level":"error".*\n.*"message":"Stopped by an exception outside of any request before it listened"/,
    )
  })

  it('prints its version and its options', async (t) => {
    const { version } = JSON.parse(readFileSync(repositoryFile('package.json'), 'utf8'))
    const printed = await new ServerProcess(t, ['--version']).ended
    assert.deepEqual([printed.code, printed.stdout], [0, `${version}\n`])
    const help = await new ServerProcess(t, ['--help']).ended
    assert.equal(help.code, 0)
    for (const flag of ['--port', '--host', '--controllers', '--names', '--help', '--version']) {
      assert.match(help.stdout, new RegExp(`^  ${flag}\\b`, 'm'))
    }
  })

  it('exits with 1 if the output of a command cannot be written, unless its reader has closed it', (t) => {
    const full = openSync('/dev/full', 'w')
    t.after(() => closeSync(full))
    const env = childEnvironment()
    const node = [process.execPath, repositoryFile('dist/server.js')] as const
    const ini = createFolder(t, { 'routes.ini': '[production]\nroutes.a.route = a' })
    for (const args of [['--check'], ['--help'], ['routes-from-ini', `${ini}/routes.ini`]]) {
      const [file, program] = node
      const { status, stderr } = spawnSync(file, [program, ...args], {
        env,
        stdio: ['ignore', full, 'pipe'],
      })
      assert.deepEqual([status, String(stderr)], [1, "portico: Can't write to stdout: ENOSPC\n"])
      const script = 'set -o pipefail; "$@" | true'
      const piped = spawnSync('bash', ['-c', script, 'bash', ...node, ...args], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      assert.deepEqual([piped.status, String(piped.stderr)], [0, ''])
    }
  })

  it('keeps serving when stdout is closed', async (t) => {
    const server = new ServerProcess(t, ['--port', '0'])
    const url = await server.url()
    server.child.stdout.destroy()
    const response = await fetch(url)
    assert.equal(response.status, 200)
    await response.text()
  })

  it('prints no query string and no value of a parameter', async (t) => {
    const server = new ServerProcess(t, ['--port', '0'])
    const response = await fetch(`${await server.url()}/signin/v2/identifier?dsh=CANARY`)
    assert.equal(response.status, 404)
    assert.doesNotMatch(await response.text(), /CANARY/)
    server.child.kill('SIGTERM')
    const { stdout, stderr } = await server.ended
    assert.doesNotMatch(stdout + stderr, /CANARY/)
  })
})
