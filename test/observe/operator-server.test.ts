import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { toMetrics } from '../../lib/observe/exposition.ts'
import { type OperatorOptions, serveOperator } from '../../lib/observe/operator-server.ts'
import { POLICY, STYLE } from '../../lib/observe/page-style.ts'
import type { Snapshot } from '../../lib/observe/snapshot.ts'
import { deferred } from '../support/deferred.ts'
import { bytesOf, exchange, parse, type RawResponse, send } from '../support/http.ts'
import { createRoute, createSnapshot, snapshotWith } from '../support/snapshot.ts'
import { settled } from '../support/wire.ts'

const OPTIONS: OperatorOptions = {
  port: 0,
  host: '127.0.0.1',
  isLocalOnly: false,
  isReady: () => true,
  config: { host: '127.0.0.1' },
  snapshot: () => snapshotWith(),
}

describe('serveOperator()', () => {
  const table: [method: string, target: string, ready: boolean, status: number][] = [
    ['GET', '/livez', true, 200],
    ['GET', '/livez', false, 200],
    ['GET', '/readyz', true, 200],
    ['GET', '/readyz', false, 503],
    ['GET', '/readyz?verbose', true, 200],
    ['HEAD', '/readyz', false, 503],
    ['GET', '/none', true, 404],
    ['GET', '/livez/', true, 404],
    ['POST', '/readyz', true, 405],
  ]
  for (const [method, target, ready, status] of table) {
    it(`responds to ${method} ${target} with ${status} when ${ready ? '' : 'not '}ready`, async (t) => {
      const response = await exchange(await probed(t, () => ready), { method, target })
      const text = status === 200 ? 'ok\n' : 'no\n'
      assert.deepEqual([response.status, response.body], [status, method === 'HEAD' ? '' : text])
      assert.equal(response.headers['content-length'], '3')
      assert.equal(response.headers['cache-control'], 'no-store')
    })
  }

  it('accepts 64 connections at a time, and closes one whose headers do not arrive', async (t) => {
    const port = await probed(t, () => true)
    const slow = Array.from({ length: 64 }, () => connect(port, '127.0.0.1'))
    t.after(() => {
      for (const socket of slow) socket.destroy()
    })
    await Promise.all(slow.map((socket) => once(socket, 'connect')))
    for (const socket of slow) socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n')
    // The server closes it at once, before a response.
    assert.equal(await send(port, ''), '')
    const [first] = slow
    assert.ok(first)
    const [head] = await once(first, 'data')
    assert.match(String(head), /^HTTP\/1\.1 408 /)
  })

  it('responds to one request of a connection, and closes it', async (t) => {
    const port = await probed(t, () => true)
    const received = await send(port, 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100))
    assert.equal(received.split('HTTP/1.1 200').length, 2)
    assert.match(received, /\r\nConnection: close\r\n/)
  })

  it('closes a connection with an expectation too, which would keep one of 64', async (t) => {
    const port = await probed(t, () => true)
    for (const expected of ['100-continue', 'anything']) {
      const probe = `GET /livez HTTP/1.1\r\nHost: a\r\nExpect: ${expected}\r\n\r\n`
      const received = await send(port, probe.repeat(2))
      assert.deepEqual(received.match(/^HTTP\/1\.1 \d+|^Connection: .*(?=\r)/gm)?.slice(-2), [
        'HTTP/1.1 200',
        'Connection: close',
      ])
    }
  })

  it('reads nothing behind the first request of a connection', async (t) => {
    const ready = deferred<boolean>()
    const server = await serveOperator({ ...OPTIONS, isReady: () => ready.promise })
    t.after(() => void server.close())
    let read = 0
    server.on('request', () => read++)
    const { port } = server.address() as AddressInfo
    const probe = 'GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n'
    const received = send(port, probe.repeat(40_000))
    await once(server, 'request')
    await settled(() => read)
    // The parser cannot be paused within the bytes that one read has returned.
    assert.ok(read <= Math.ceil(65_536 / probe.length), `${read} have been read`)
    ready.resolve(true)
    assert.equal((await received).split('HTTP/1.1 200').length, 2)
  })

  for (const target of ['/readyz', '/', '/journal.json']) {
    it(`regards a process as not ready at ${target} if its check does not end, or fails`, async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] })
      const asked = deferred<void>()
      const port = await served(t, {
        isReady() {
          asked.resolve()
          return new Promise<never>(() => {})
        },
      })
      const late = exchange(port, { target })
      await asked.promise
      t.mock.timers.tick(3_000)
      // A connection clears its timer when it closes, perhaps in the next test.
      t.mock.timers.reset()
      const fail = () => {
        throw new Error('CANARY')
      }
      const failing = [fail, async () => fail()].map(async (isReady) =>
        exchange(await served(t, { isReady }), { target }),
      )
      for (const { status, body } of await Promise.all([late, ...failing])) {
        assert.equal(status, target === '/readyz' ? 503 : 200)
        assert.match(body, /^no\n$|<title>Portico: not ready<|^\{"isReady":false,/)
      }
    })
  }

  it('rejects when its port is in use', async (t) => {
    const port = await probed(t, () => true)
    await assert.rejects(serveOperator({ ...OPTIONS, port }), { code: 'EADDRINUSE' })
  })
})

describe('A page of an operator', () => {
  const get = (port: number, headers: [string, string][] = []): Promise<RawResponse> =>
    exchange(port, { target: '/metrics?x=1', headers })

  it('is not stored, and has one type', async (t) => {
    const { status, headers, body } = await get(await served(t, {}))
    assert.equal(status, 200)
    assert.match(body, /^portico_workers 1$/m)
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['content-length'], String(body.length))
  })

  it('is written as the client accepts it', async (t) => {
    const port = await served(t, {})
    const { headers, body } = await get(port, [['Accept', 'application/openmetrics-text']])
    assert.match(headers['content-type'] ?? '', /^application\/openmetrics-text;/)
    assert.match(body, /\n# EOF\n$/)
  })

  it('shows at / what /journal.json has as data', async (t) => {
    const snapshot = () => createSnapshot({ routes: [createRoute('news/list', 7)] })
    const port = await served(t, { snapshot, isReady: () => false })
    const page = await exchange(port, { target: '/' })
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(page.headers['content-security-policy'], POLICY)
    assert.match(page.body, /not ready/)
    assert.match(page.body, /<td class="name">news\/list<\/td>/)
    assert.match(page.body, /<dt>host<\/dt><dd>127\.0\.0\.1</)
    const journal = await exchange(port, { target: '/journal.json' })
    assert.equal(journal.headers['content-type'], 'application/json')
    const data = { isReady: false, ...snapshot(), config: { host: '127.0.0.1' } }
    assert.deepEqual(JSON.parse(journal.body), data)
    const style = await exchange(port, { target: '/operator.css' })
    assert.deepEqual(
      [style.headers['content-type'], style.body],
      ['text/css; charset=utf-8', STYLE],
    )
  })

  it('has no body for HEAD, and is for GET and HEAD alone', async (t) => {
    const port = await served(t, {})
    const head = await exchange(port, { method: 'HEAD', target: '/metrics' })
    assert.deepEqual([head.status, head.body], [200, ''])
    assert.ok(Number(head.headers['content-length']) > 100)
    const post = await exchange(port, { method: 'POST', target: '/metrics', body: 'a' })
    assert.deepEqual([post.status, post.headers.allow], [405, 'GET, HEAD'])
  })

  it('is the same in pieces if it is long', async (t) => {
    const routes = Array.from({ length: 2_000 }, (_, i) => createRoute(`news/a${i}`, i))
    const snapshot = () => createSnapshot({ routes })
    const port = await served(t, { snapshot })
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`)
    assert.equal(metrics.headers.get('content-length'), null)
    assert.equal(await metrics.text(), toMetrics(snapshot()).text)
    const journal = await fetch(`http://127.0.0.1:${port}/journal.json`)
    assert.deepEqual(JSON.parse(await journal.text()).routes, routes)
    const head = await exchange(port, { method: 'HEAD', target: '/metrics' })
    assert.deepEqual([head.status, head.body], [200, ''])
  })

  it('ends with the connection of a client that leaves in its middle', async (t) => {
    const port = await served(t, { snapshot: createLongSnapshot })
    const socket = connect(port, '127.0.0.1')
    socket.write(bytesOf({ target: '/metrics' }))
    await once(socket, 'data')
    socket.destroy()
    await once(socket, 'close')
    assert.equal((await exchange(port, { target: '/livez' })).status, 200)
  })

  it('ends after 10 seconds with the connection of a client that does not read it, but sends bytes', {
    timeout: 20_000,
  }, async (t) => {
    const server = await serveOperator({ ...OPTIONS, snapshot: createLongSnapshot })
    t.after(() => server.close().closeAllConnections())
    const accepted: Promise<Socket[]> = once(server, 'connection')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    t.after(() => client.destroy())
    client.write(bytesOf({ target: '/metrics' }))
    const [connection] = await accepted
    assert.ok(connection)
    const timer = setInterval(() => client.write('\r\n'), 200)
    t.after(() => clearInterval(timer))
    await once(connection, 'close')
    assert.ok(connection.bytesWritten > 0)
  })

  it('is a 503 while 8 others are sent, and takes no snapshot: each one keeps its snapshot', async (t) => {
    let taken = 0
    const snapshot = (): Snapshot => {
      taken++
      return createLongSnapshot()
    }
    const port = await served(t, { snapshot })
    const readers = Array.from({ length: 8 }, () => connect(port, '127.0.0.1'))
    t.after(() => {
      for (const reader of readers) reader.destroy()
    })
    for (const reader of readers) {
      reader.write(bytesOf({ target: '/metrics' }))
      await once(reader, 'readable')
    }
    assert.equal((await exchange(port, { target: '/metrics' })).status, 503)
    assert.equal(taken, 8)
    assert.equal((await exchange(port, { target: '/readyz' })).status, 200)
    for (const reader of readers) await once(reader.destroy(), 'close')
    // The server sees the end of the connections before that of a later one.
    await exchange(port, { target: '/readyz' })
    assert.equal((await exchange(port, { method: 'HEAD', target: '/metrics' })).status, 200)
  })

  it('leaves no connection of a client that has gone: more than 64 may follow in a second', async (t) => {
    const port = await served(t, {})
    for (let i = 0; i < 80; i++) {
      for (const target of ['/livez', '/metrics']) {
        const bytes = bytesOf({ target }).replace('Connection: close\r\n', '')
        assert.equal(parse(await send(port, bytes)).status, 200)
      }
    }
  })

  it('is a 503 while 8 others wait for their counts', async (t) => {
    const counts = deferred<Snapshot>()
    const port = await served(t, { snapshot: () => counts.promise })
    const pages = Array.from({ length: 9 }, () => exchange(port, { target: '/metrics' }))
    assert.equal((await Promise.any(pages)).status, 503)
    counts.resolve(createLongSnapshot())
    const statuses = (await Promise.all(pages)).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [...new Array(8).fill(200), 503])
  })

  it('is a 500 if the counts fail', async (t) => {
    const snapshot = (): never => {
      throw new Error('CANARY')
    }
    const { status, body } = await get(await served(t, { snapshot }))
    assert.deepEqual([status, body], [500, 'no\n'])
  })

  it('is a 403 under a foreign name, which may be one that was rebound to this address', async (t) => {
    let taken = 0
    const snapshot = (): Snapshot => {
      taken++
      return snapshotWith()
    }
    const port = await served(t, { snapshot })
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example']) {
      for (const target of ['/metrics', '/', '/journal.json', '/operator.css']) {
        assert.equal((await requestAs(port, host, target)).status, 403, `${host}${target}`)
      }
      assert.equal((await requestAs(port, host, '/livez')).status, 200, host)
    }
    assert.equal(taken, 0)
    for (const host of ['localhost', `127.0.0.1:${port}`, 'app', 'app.internal']) {
      assert.equal((await requestAs(port, host)).status, 200, host)
    }
  })

  it('is only for clients on this machine, by a name of this machine, if so told', async (t) => {
    const port = await served(t, { isLocalOnly: true })
    assert.equal((await get(port)).status, 200)
    assert.equal((await requestAs(port, 'localhost')).status, 200)
    assert.equal((await requestAs(port, 'app')).status, 403)
    assert.equal((await get(port, [['X-Forwarded-For', '192.0.2.1']])).status, 403)
    assert.equal((await requestAs(port, 'app', '/readyz')).status, 200)
  })
})

function requestAs(port: number, host: string, target = '/metrics'): Promise<RawResponse> {
  const bytes = bytesOf({ target }).replace('Host: 127.0.0.1', `Host: ${host}`)
  return send(port, bytes).then(parse)
}

async function probed(t: TestContext, isReady: () => boolean): Promise<number> {
  return served(t, { isReady })
}

async function served(t: TestContext, options: Partial<OperatorOptions>): Promise<number> {
  const server = await serveOperator({ ...OPTIONS, ...options })
  t.after(() => void server.close())
  return (server.address() as AddressInfo).port
}

// The page of its metrics fits into no buffer of the system.
function createLongSnapshot(): Snapshot {
  return createSnapshot({
    routes: Array.from({ length: 20_000 }, (_, i) => createRoute(`news/a${i}`, i)),
  })
}
