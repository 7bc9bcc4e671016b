import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import {
  createRequestListener,
  FrontController,
  type Handler,
  HttpResponse,
  serve,
} from '../../lib/index.ts'
import { deferred } from '../support/deferred.ts'
import { bytesOf, exchange, parse } from '../support/http.ts'

describe('serve()', () => {
  it('resolves when it listens, and tells where', async (t) => {
    const service = await serve(new FrontController(), { port: 0 })
    t.after(() => service.close())
    assert.match(service.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    const { status } = await exchange(Number(new URL(service.url).port), { target: '/' })
    assert.equal(status, 200)
  })

  it('rejects what it does not know, and who can answer nothing', async () => {
    const front = new FrontController()
    await assert.rejects(serve(front, JSON.parse('{"prot":3000}')), {
      name: 'TypeError',
      message: 'There is no "prot" among the options',
    })
    const nobody = {} as FrontController
    for (const start of [() => serve(nobody), async () => createRequestListener(nobody)]) {
      await assert.rejects(start, { name: 'TypeError', message: /^Expected a handler with a fun/ })
    }
    await assert.rejects(front.handle(JSON.parse('"/news"')), {
      name: 'TypeError',
      message: 'Expected a request: new HttpRequest({ target })',
    })
  })

  it('rejects when the port is in use', async (t) => {
    const service = await serve(new FrontController(), { port: 0 })
    t.after(() => service.close())
    await assert.rejects(
      serve(new FrontController(), { port: Number(new URL(service.url).port) }),
      {
        code: 'EADDRINUSE',
      },
    )
  })

  it('writes an IPv6 address as a URL does', async (t) => {
    const service = await serve(new FrontController(), { port: 0, host: '::1' })
    t.after(() => service.close())
    assert.match(service.url, /^http:\/\/\[::1\]:\d+$/)
  })
})

describe('Service.close()', () => {
  it('answers what is in flight, with Connection: close, and then is done', async () => {
    const started = deferred()
    const finish = deferred()
    const service = await serve(frontOf(started.resolve, finish.promise), { port: 0 })
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.write(bytesOf({ target: '/slow' }).replace('Connection: close\r\n', ''))
    await started.promise
    const closed = service.close()
    finish.resolve()
    await once(socket, 'close')
    assert.equal(await closed, 0)
    const { status, headers, body } = parse(answer)
    assert.deepEqual([status, headers.connection, body], [200, 'close', 'done'])
  })

  it('closes connections that are idle, or never said a word', async () => {
    const service = await serve(new FrontController(), { port: 0 })
    const port = Number(new URL(service.url).port)
    const silent = connect(port, '127.0.0.1')
    const idle = connect(port, '127.0.0.1')
    silent.resume()
    idle.write(bytesOf({ target: '/' }).replace('Connection: close\r\n', ''))
    await once(idle, 'data')
    const closed = Promise.all([once(silent, 'close'), once(idle, 'close')])
    assert.equal(await service.close(), 0)
    await closed
  })

  it('leaves alone a connection that is busy, while those that are idle go', async () => {
    const started = deferred()
    const finish = deferred()
    const service = await serve(frontOf(started.resolve, finish.promise), { port: 0 })
    const port = Number(new URL(service.url).port)
    const [silent, again, busy] = [1, 2, 3].map(() => connect(port, '127.0.0.1'))
    assert.ok(silent && again && busy)
    silent.resume()
    const kept = (target: string): string =>
      bytesOf({ target }).replace('Connection: close\r\n', '')
    again.write(kept('/'))
    await once(again, 'data')
    busy.write(kept('/slow'))
    await started.promise

    const closed = service.close()
    // One sweep has come over all of them then.
    await Promise.all([once(silent, 'close'), once(again.resume(), 'close')])
    const swept = connect(port, '127.0.0.1')
    await assert.rejects(once(swept, 'connect'), { code: 'ECONNREFUSED' })
    assert.equal(busy.readyState, 'open')
    let answer = ''
    busy.on('data', (chunk) => {
      answer += chunk
    })
    finish.resolve()
    await once(busy, 'close')
    assert.equal(await closed, 0)
    const { status, headers, body } = parse(answer)
    assert.deepEqual([status, headers.connection, body], [200, 'close', 'done'])
  })

  it('answers a request that comes on an idle connection just then', async () => {
    const service = await serve(new FrontController(), { port: 0 })
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    const request = bytesOf({ target: '/' }).replace('Connection: close\r\n', '')
    socket.write(request)
    await once(socket, 'data')
    const closed = service.close()
    socket.write(request)
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    await once(socket, 'close')
    assert.equal(await closed, 0)
    assert.deepEqual([parse(answer).status, parse(answer).headers.connection], [200, 'close'])
  })

  it('gives an idle connection 600 ms for a request that is on its way', async (t) => {
    const service = await serve(new FrontController(), { port: 0 })
    const [[accepted], client] = await Promise.all([
      once(service.server, 'connection'),
      connect(Number(new URL(service.url).port), '127.0.0.1').resume(),
    ])
    client.write(bytesOf({ target: '/' }).replace('Connection: close\r\n', ''))
    await once(client, 'data')

    // A whole number: of others, 600 more may be a hair less than 600 more.
    const startedAt = Math.round(performance.now())
    const clock = t.mock.method(performance, 'now', () => startedAt)
    t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
    const closed = service.close()
    for (const [elapsedMs, destroyed] of [
      [0, false],
      [599, false],
      [600, true],
    ] as const) {
      clock.mock.mockImplementation(() => startedAt + elapsedMs)
      t.mock.timers.tick(100)
      assert.equal(accepted.destroyed, destroyed, `${elapsedMs} ms`)
    }
    assert.equal(await closed, 0)
  })

  it('tells the handler that it stops, when all is answered', async () => {
    const told: string[] = []
    const handler: Handler = {
      handle: async () => new HttpResponse(),
      flush: () => void told.push('flush'),
    }
    const service = await serve(handler, { port: 0 })
    service.server.once('close', () => told.push('closed'))
    await service.close()
    assert.deepEqual(told, ['closed', 'flush'])
  })

  it('leaves no timer, be it called or the server closed without it', async () => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    for (const close of ['service', 'server'] as const) {
      const service = await serve(new FrontController({ logger: console }), { port: 0 })
      const { status } = await exchange(Number(new URL(service.url).port), { target: '/' })
      assert.equal(status, 200)
      const closed = once(service.server, 'close')
      if (close === 'service') await service.close()
      else service.server.close()
      await closed
      await new Promise(setImmediate)
      assert.equal(timers(), before, close)
    }
  })

  it('destroys what is left when the time is over, and tells how many', async () => {
    const started = deferred()
    const finish = deferred()
    const front = frontOf(started.resolve, finish.promise)
    const service = await serve(front, { port: 0, closeTimeoutMs: 20 })
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.on('error', () => {}).write(bytesOf({ target: '/slow' }))
    await started.promise
    assert.equal(await service.close(), 1)
    finish.resolve()
  })
})

function frontOf(started: () => void, finish: Promise<void>): FrontController {
  const slow = {
    async index(_: unknown, response: { text(text: string): void }): Promise<void> {
      started()
      await finish
      response.text('done')
    },
  }
  return new FrontController({ controllers: new Map([['slow', slow]]) })
}
