import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createFolder, writeFileIn } from '../support/folder.ts'
import { exchange, send } from '../support/http.ts'
import { Load } from '../support/load.ts'
import { problemsOf, sumOf } from '../support/metrics.ts'
import { findFreePorts } from '../support/ports.ts'
import { logLinesOf, ServerProcess } from '../support/server-process.ts'

const APP = `
export function who(_, response) { response.text(String(process.pid)) }
export function fail() { throw new TypeError('CANARY of an action') }
export function crash(_, response) {
  setTimeout(() => { throw new Error('CANARY of a timer') })
  response.text(String(process.pid))
}
export function message(_, response) {
  for (const message of [null, 'text', { snapshot: null }, { snapshot: {} }, { ready: false }]) process.send(message)
  response.text(String(process.pid))
}
`

// A server that does not do what a test waits for would otherwise block the test run.
const LIMIT = { timeout: 60_000 }
const REQUESTS = 'portico_requests_total'

for (const workers of [0, 2]) {
  describe(`/metrics of node server.js --workers ${workers}`, () => {
    it('has the same counts as the client, over several connections', LIMIT, async (t) => {
      const { port, metrics } = await start(t, workers)
      const paths = ['/app/who', '/app/fail', '/none', '/a.txt']
      const loads = paths.map((path) => new Load(t, `http://127.0.0.1:${port}`, [path], 2))
      await Promise.all(loads.map((load) => load.until(() => load.ended >= 90)))
      await Promise.all(loads.map((load) => load.stop()))
      const text = await metrics()
      const [who, fail, none, file] = loads.map(({ ended }) => ended)
      const counts = (labels: Record<string, string>): number => sumOf(text, REQUESTS, labels)
      assert.equal(counts({ route: 'app/who', method: 'GET', status: '2xx' }), who)
      assert.equal(counts({ route: 'app/fail', status: '5xx' }), fail)
      assert.equal(counts({ route: '(unrouted)', status: '4xx' }), none)
      assert.equal(counts({ route: '(public)', status: '2xx' }), file)
      const total = loads.reduce((sum, { ended }) => sum + ended, 0)
      assert.equal(counts({}), total)
      assert.equal(sumOf(text, 'portico_request_duration_seconds_count'), total)
      assert.equal(sumOf(text, 'portico_errors_total', { route: 'app/fail' }), fail)
      assert.equal(sumOf(text, 'portico_unrouted_requests_total'), none)
      assert.equal(
        sumOf(text, 'portico_response_bytes_total', { route: '(public)' }),
        5 * Number(file),
      )
      assert.equal(sumOf(text, 'portico_requests_in_flight'), 0)
      assert.equal(sumOf(text, 'portico_workers'), Math.max(1, workers))
    })

    it('has no problem in either format, and nothing of a request', LIMIT, async (t) => {
      const { port, health, metrics } = await start(t, workers)
      await sendCanaries(port)
      for (const accept of ['text/plain', 'application/openmetrics-text']) {
        const text = await metrics(accept)
        assert.deepEqual(problemsOf(text), [])
        assert.doesNotMatch(text, /canary/i)
        assert.ok(sumOf(text, REQUESTS) >= 8)
        for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes']) {
          assert.ok(sumOf(text, name) > 0, name)
        }
        assert.equal(sumOf(text, 'portico_build_info', { node: process.version }), 1)
      }
      for (const target of ['/', '/journal.json']) {
        const { status, body } = await exchange(health, { target })
        assert.equal(status, 200)
        assert.ok(body.includes('EXCEPTION_NO_CONTROLLER'))
        // A name that looks like one, as a report shows it, is none of the secrets.
        assert.doesNotMatch(body, /CANARY/)
      }
    })

    it('is only for this machine without --health-host', LIMIT, async (t) => {
      const { health } = await start(t, workers)
      const headers = [['X-Forwarded-For', '192.0.2.1']] as const
      assert.equal((await exchange(health, { target: '/metrics', headers })).status, 403)
      assert.equal((await exchange(health, { target: '/readyz', headers })).status, 200)
      const open = await start(t, workers, '--health-host=127.0.0.1')
      assert.equal((await exchange(open.health, { target: '/metrics', headers })).status, 200)
    })
  })
}

describe('/metrics of node server.js --workers 2', () => {
  it('has the same counts as the client after a reload during the load', LIMIT, async (t) => {
    const { server, port, metrics } = await start(t, 2)
    const load = new Load(t, `http://127.0.0.1:${port}`, ['/app/who'], 4)
    await load.more(100)
    const before = sumOf(await metrics(), REQUESTS)
    assert.ok(before > 0)
    server.child.kill('SIGHUP')
    await server.printed(/All workers were replaced/)
    await load.more(100)
    await load.stop()
    assert.deepEqual(load.failures, [])
    assert.equal(load.bodies.size, 4)
    const text = await metrics()
    assert.equal(sumOf(text, REQUESTS, { route: 'app/who', status: '2xx' }), load.ended)
    assert.equal(sumOf(text, REQUESTS), load.ended)
    assert.equal(sumOf(text, 'portico_request_duration_seconds_count'), load.ended)
  })

  it('ignores the messages that an application sends itself', LIMIT, async (t) => {
    const { server, port, health, metrics } = await start(t, 2)
    assert.equal((await exchange(port, { target: '/app/message' })).status, 200)
    assert.equal((await exchange(health, { target: '/readyz' })).status, 200)
    assert.equal(sumOf(await metrics(), REQUESTS), 1)
    assert.equal(server.child.exitCode, null)
  })

  it('counts the last requests of a worker that an exception replaces', LIMIT, async (t) => {
    const { server, port, metrics } = await start(t, 2)
    const { body: pid } = await exchange(port, { target: '/app/crash' })
    await server.printed(new RegExp(`Worker ${pid} had an exception`))
    let sent = 0
    let last: string
    do {
      sent++
      last = (await exchange(port, { target: '/app/who' })).body
    } while (last === pid || sent < 20)
    const text = await metrics()
    assert.equal(sumOf(text, REQUESTS, { route: 'app/who' }), sent)
    assert.equal(sumOf(text, REQUESTS, { route: 'app/crash' }), 1)
    assert.equal(sumOf(text, 'portico_errors_total', { cause: 'process', route: '' }), 1)
  })

  it('never goes down when a worker is killed', LIMIT, async (t) => {
    const { server, port, metrics } = await start(t, 2)
    const pids = new Set<string>()
    let sent = 0
    while (pids.size < 2) {
      sent++
      pids.add((await exchange(port, { target: '/app/who' })).body)
    }
    const before = await metrics()
    assert.equal(sumOf(before, REQUESTS), sent)
    const [pid = ''] = pids
    process.kill(Number(pid), 'SIGKILL')
    await server.printed(new RegExp(`Worker ${pid} ended`))
    const after = await metrics()
    assert.equal(sumOf(after, REQUESTS), sent)
    for (const name of ['process_cpu_seconds_total', 'portico_connections_total']) {
      assert.ok(sumOf(after, name) >= sumOf(before, name), name)
    }
    while (pids.size < 3) {
      sent++
      pids.add((await exchange(port, { target: '/app/who' })).body)
    }
    const text = await metrics()
    assert.equal(sumOf(text, REQUESTS), sent)
    assert.equal(sumOf(text, 'portico_workers'), 2)
    const created = await metrics('application/openmetrics-text')
    assert.equal(
      sumOf(created, 'portico_connections_created'),
      sumOf(text, 'process_start_time_seconds'),
    )
  })
})

describe('node server.js with a health port', () => {
  it('still writes the access log, and each error once', LIMIT, async (t) => {
    const { server, port, metrics } = await start(t, 0, '--access-log')
    await exchange(port, { target: '/app/who' })
    await exchange(port, { target: '/app/fail' })
    await metrics()
    server.child.kill('SIGTERM')
    const { stdout, code } = await server.ended
    const lines = logLinesOf(stdout).filter(({ event }) => ['access', 'error'].includes(event))
    assert.deepEqual(
      lines.map(({ event, status, route }) => [event, status, route]),
      [
        ['access', 200, 'app/who'],
        ['error', 500, 'app/fail'],
        ['access', 500, 'app/fail'],
      ],
    )
    assert.equal(code, 0)
  })
})

interface Started {
  readonly server: ServerProcess
  readonly port: number
  readonly health: number
  readonly metrics: (accept?: string) => Promise<string>
}

async function start(t: TestContext, workers: number, ...args: string[]): Promise<Started> {
  const folder = createFolder(t)
  writeFileIn(folder, 'controllers/app.mjs', APP)
  writeFileIn(folder, 'public/a.txt', 'file\n')
  const [health = 0] = await findFreePorts(1)
  const server = new ServerProcess(t, [
    '--port=0',
    `--health-port=${health}`,
    `--workers=${workers}`,
    `--controllers=${folder}/controllers`,
    `--public=${folder}/public`,
    ...args,
  ])
  const port = await server.port()
  const metrics = async (accept = 'text/plain'): Promise<string> => {
    const response = await exchange(health, { target: '/metrics', headers: [['Accept', accept]] })
    assert.equal(response.status, 200)
    return response.body
  }
  return { server, port, health, metrics }
}

async function sendCanaries(port: number): Promise<void> {
  const secret = 'CANARY0AfJohXkq9TzB3mWcR7Lp'
  const headers = [
    ['Cookie', `session=${secret}`],
    ['Authorization', `Bearer ${secret}`],
    ['Referer', `https://a.example/${secret}`],
    ['X-CANARY', secret],
  ] as const
  for (const target of [
    `/${secret}`,
    `/app/${secret}`,
    `/app/who/${secret}/${secret}`,
    `/canary/canary?canary=${secret}`,
    `/signin/v2?continue=${secret}&flowName=${secret}`,
    `/app/fail?${secret}=${secret}`,
    `http://canary.example/app/who?${secret}`,
  ]) {
    await exchange(port, { target, headers })
  }
  await exchange(port, { method: 'CANARY', target: '/app/who', headers })
  const form = [...headers, ['Content-Type', 'application/x-www-form-urlencoded']] as const
  await exchange(port, { method: 'POST', target: '/app/who', headers: form, body: `a=${secret}` })
  await send(port, `${secret}\r\n\r\n`)
}
