import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import type { ErrorReport, ServerLimits, Service } from '../../lib/index.ts'
import { deferred } from '../support/deferred.ts'
import { send } from '../support/http.ts'
import { type Actions, serveActions, settled, withClose } from '../support/wire.ts'

const upgrade = 'Connection: Upgrade\r\nUpgrade: other\r\n'
const accepted = `GET /chat HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`
const large = 'GET /app/large HTTP/1.1\r\nHost: a\r\n\r\n'
const slow = 'GET /app/slow HTTP/1.1\r\nHost: a\r\n\r\n'

describe('handleUpgrades()', () => {
  it('runs the listeners of the application for a valid message, with the bytes behind it', async (t) => {
    const { port, upgraded } = await start(t)
    assert.equal(await send(port, `${accepted}hello.`), '101 hello.')
    assert.deepEqual(upgraded, ['/chat'])
  })

  for (const [what, bytes, status] of [
    ['with two Host fields', `GET /chat HTTP/1.1\r\nHost: a\r\nHost: b\r\n${upgrade}\r\n`, 400],
    ['without a Host field', `GET /chat HTTP/1.1\r\n${upgrade}\r\n`, 400],
    ['of another version', `GET /chat HTTP/1.2\r\nHost: a\r\n${upgrade}\r\n`, 505],
    ['with 101 fields', accepted.replace('\r\n', `\r\n${'A: b\r\n'.repeat(98)}`), 431],
    ['with a target of 9,000 bytes', accepted.replace('chat', 'c'.repeat(9_000)), 414],
  ] as const) {
    it(`responds to an upgrade ${what} with ${status}, and reports it`, async (t) => {
      const { port, upgraded, reports } = await start(t)
      const received = await send(port, `${bytes}${accepted}`)
      assert.deepEqual(statusesOf(received), [status])
      assert.deepEqual(upgraded, [])
      assert.deepEqual(
        reports.map((report) => report.status),
        [status],
      )
    })
  }

  it('leaves nothing of an upgrade in the memory of V8 for the last match', async (t) => {
    const matched: unknown[] = []
    const { port, service } = await start(t)
    service.server.prependListener('upgrade', () => matched.push(Reflect.get(RegExp, 'input')))
    await send(port, `${accepted}hello.`)
    assert.deepEqual(matched, [''])
  })

  it('ignores an upgrade behind the last request of a connection', async (t) => {
    const { port, upgraded } = await start(t)
    for (const [first, status] of [
      ['GET /app/echo HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
      ['GET /app/echo HTTP/1.1\r\nHost: a\r\nExpect: foo\r\n\r\n', 417],
    ] as const) {
      assert.deepEqual(statusesOf(await send(port, first + accepted)), [status])
    }
    assert.deepEqual(upgraded, [])
  })

  it('ignores the rest of an upgrade, or of a request, that arrives after a 408', async (t) => {
    const { port, service, upgraded, started } = await start(t)
    let actions = 0
    started.then(() => actions++)
    for (const bytes of [accepted, slow]) {
      const connection = once(service.server, 'connection')
      const client = connectTo(t, port)
      client.write(bytes.slice(0, -4))
      const [socket] = (await connection) as [Socket]
      while (socket.bytesRead === 0) await new Promise(setImmediate)
      const code = 'ERR_HTTP_REQUEST_TIMEOUT'
      service.server.emit('clientError', Object.assign(new Error('late'), { code }), socket)
      // A late message waits for its turn.
      for (let turns = 0; turns < 2; turns++) await new Promise(setImmediate)
      client.write(bytes.slice(-4))
      await settled(() => socket.bytesRead)
      assert.ok(socket.bytesRead >= bytes.length)
    }
    assert.deepEqual([upgraded, actions], [[], 0])
  })

  for (const body of ['', 'Content-Length: 3\r\n']) {
    it(`sends the responses to earlier requests first, and loses no byte ${body && 'of a body'}`, async (t) => {
      const { port, upgraded, started, finish, service } = await start(t)
      const client = connectTo(t, port)
      let received = ''
      client.on('data', (chunk) => {
        received += chunk
      })
      const connection = once(service.server, 'connection')
      const bytes = 'POST /app/slow HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n'
      client.write(`${bytes}${'b'.repeat(70_000)}${slow.repeat(9)}`)
      client.write(accepted.replace('\r\n\r\n', `\r\n${body}\r\n`) + (body && 'abc'))
      const [socket] = (await connection) as [Socket]
      await started
      await settled(() => socket.bytesRead)
      client.write('hello.')
      await settled(() => socket.bytesRead)
      assert.deepEqual(upgraded, [])
      finish()
      await once(client, 'close')
      assert.deepEqual(statusesOf(received), Array(10).fill(200))
      assert.deepEqual(upgraded, ['/chat'])
      assert.match(received, /read 70000.*101 (?:abc)?hello\.$/s)
    })
  }

  it('sends the whole of a large stream first', async (t) => {
    const { port, upgraded } = await start(t)
    const received = await send(port, `${large}${accepted}hello.`)
    assert.match(received, /\r\n0\r\n\r\n101 hello\.$/)
    assert.ok(received.length > 8_000_000)
    assert.deepEqual(upgraded, ['/chat'])
  })

  const connectMethod = 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'
  const h2c = large.replace('\r\n', '\r\nUpgrade: h2c\r\n')
  for (const [what, bytes] of [
    ['an upgrade', large + accepted],
    ['CONNECT', large + connectMethod],
    ['CONNECT behind the last request', withClose(large) + connectMethod],
    ['CONNECT behind a request that is ignored', h2c + large + connectMethod],
    ['an upgrade behind a request that is ignored', h2c + large + accepted],
  ] as const) {
    it(`closes the connection of a client that sent ${what} and does not read the response before`, async (t) => {
      const { port, service } = await start(t, { socketTimeoutMs: 50 })
      const connection = once(service.server, 'connection')
      const client = connectTo(t, port)
      client.pause().write(bytes)
      // Each byte that the server reads renews the timeout.
      const timer = setInterval(() => client.write('x'), 10)
      t.after(() => clearInterval(timer))
      const [socket] = (await connection) as [Socket]
      await once(socket, 'close')
    })
  }

  it('runs no listener in the AsyncLocalStorage context of the request before it', async (t) => {
    const current = new AsyncLocalStorage<string>()
    const later: Actions[string] = async (_, response) => {
      await new Promise(setImmediate)
      return response.text(`(${current.getStore()})`)
    }
    const { port, service } = await serveActions(
      t,
      { later },
      { before: [({ url = '' }, _, next) => current.run(url, next)] },
    )
    service.server.on('upgrade', (_, socket: Duplex) => socket.end(`(${current.getStore()})`))
    const first = 'GET /app/later HTTP/1.1\r\nHost: a\r\n\r\n'
    const received = await send(port, first + accepted)
    assert.deepEqual(received.match(/\(.*?\)/g), ['(/app/later)', '(undefined)'])
  })

  it('rejects an upgrade after the stop has begun', async (t) => {
    const { port, upgraded, service } = await start(t)
    const client = connectTo(t, port)
    await once(service.server, 'connection')
    const closed = service.close()
    client.write(accepted)
    assert.deepEqual(statusesOf(await text(client)), [503])
    assert.deepEqual(upgraded, [])
    assert.deepEqual(await closed, { connections: 0, actions: 0 })
  })

  it('rejects an upgrade that waits when the stop begins', async (t) => {
    const { port, upgraded, started, finish, service } = await start(t)
    const client = connectTo(t, port)
    client.write(slow + accepted)
    await started
    await settled(() => client.bytesWritten)
    const closed = service.close()
    finish()
    assert.deepEqual(statusesOf(await text(client)), [200, 503])
    assert.deepEqual(upgraded, [])
    assert.deepEqual(await closed, { connections: 0, actions: 0 })
  })

  it('passes on no upgrade of a client that has reset the connection at once, so that nobody can read its address', async (t) => {
    const { port, upgraded, service } = await start(t)
    for (let i = 0; i < 20; i++) {
      const connection = once(service.server, 'connection')
      const client = connectTo(t, port)
      await once(client, 'connect')
      client.write(accepted, () => client.resetAndDestroy())
      const [socket] = (await connection) as [Socket]
      if (!socket.destroyed) await once(socket, 'close')
    }
    assert.deepEqual(upgraded, [])
  })

  it('survives a reset of a connection whose upgrade waits', async (t) => {
    const { port, upgraded, started, finish, service } = await start(t)
    const connection = once(service.server, 'connection')
    const client = connectTo(t, port)
    client.write(slow + accepted)
    const [socket] = (await connection) as [Socket]
    await started
    await settled(() => socket.bytesRead)
    const closed = deferred()
    socket.on('close', closed.resolve)
    client.resetAndDestroy()
    finish()
    await closed.promise
    await settled(() => upgraded.length)
    assert.deepEqual(upgraded, [])
  })
})

function statusesOf(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
}

function connectTo(t: TestContext, port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  t.after(() => void socket.destroy())
  return socket
}

// The other protocol echoes text, and ends with the first dot.
async function start(
  t: TestContext,
  limits: Partial<ServerLimits> = {},
): Promise<{
  port: number
  service: Service
  reports: readonly ErrorReport[]
  upgraded: readonly string[]
  started: Promise<void>
  finish: () => void
}> {
  const [started, finish] = [deferred(), deferred()]
  const actions: Actions = {
    echo: (_, response) => response.text('ok'),
    large(_, response) {
      response.body = Readable.from(Array(128).fill('a'.repeat(65_536)))
    },
    async slow(request, response) {
      started.resolve()
      await finish.promise
      const { length } = await text(request.body)
      response.text(`read ${length}`)
    },
  }
  const { port, service, reports } = await serveActions(t, actions, { limits })
  const upgraded: string[] = []
  service.server.on('upgrade', ({ url = '' }, socket: Duplex, head: Buffer) => {
    upgraded.push(url)
    socket.write(`101 ${head}`)
    const onData = (chunk: Buffer): void => {
      socket.write(chunk)
      if (chunk.includes('.')) socket.end()
    }
    if (head.includes('.')) socket.end()
    else socket.on('data', onData)
  })
  return { port, service, reports, upgraded, started: started.promise, finish: finish.resolve }
}
