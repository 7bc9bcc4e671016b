import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import {
  createRequestListener,
  FrontController,
  type Handler,
  HttpResponse,
  serve,
} from '../../lib/index.ts'
import { exchange } from '../support/http.ts'

describe('serve()', () => {
  it('resolves with the URL when it listens', async (t) => {
    const service = await serve(new FrontController(), { port: 0 })
    t.after(() => service.close())
    assert.match(service.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    const { status } = await exchange(Number(new URL(service.url).port), { target: '/' })
    assert.equal(status, 200)
  })

  it('rejects unknown options, and a handler without a function "handle"', async () => {
    const front = new FrontController()
    await assert.rejects(serve(front, JSON.parse('{"prot":3000}')), {
      name: 'TypeError',
      message: 'There is no "prot" among the options: did you mean "port"?',
    })
    const noHandler = {} as FrontController
    for (const start of [() => serve(noHandler), async () => createRequestListener(noHandler)]) {
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

  it('puts an IPv6 address in brackets', async (t) => {
    const service = await serve(new FrontController(), { port: 0, host: '::1' })
    t.after(() => service.close())
    assert.match(service.url, /^http:\/\/\[::1\]:\d+$/)
  })
})

describe('The limits of a server', () => {
  it('let node:http keep few fields of a message with too many of them', async (t) => {
    const service = await serve(new FrontController(), { port: 0 })
    t.after(() => service.close())
    let fields = 0
    service.server.prependListener('request', ({ rawHeaders }) => {
      fields = rawHeaders.length / 2
    })
    const headers = Array.from({ length: 1_000 }, (_, i) => [`x${i}`, 'a'] as const)
    const { status } = await exchange(Number(new URL(service.url).port), { target: '/', headers })
    assert.equal(status, 431)
    // From Node 22 on, there is no event.
    assert.ok(fields < 300, String(fields))
  })

  it('let any number of fields pass that is allowed', async (t) => {
    const limits = { maxHeaderFields: 2 ** 32 + 5 }
    const service = await serve(new FrontController(), { port: 0, limits })
    t.after(() => service.close())
    const headers = Array.from({ length: 200 }, (_, i) => [`x${i}`, 'a'] as const)
    let last: unknown
    service.server.prependListener('request', (message) => {
      last = message.headers.x199
    })
    const { status } = await exchange(Number(new URL(service.url).port), { target: '/', headers })
    assert.deepEqual([status, last], [200, 'a'])
  })
})

describe('Service.close()', () => {
  it('calls flush() of the handler after the last response', async () => {
    const events: string[] = []
    const handler: Handler = {
      handle: async () => new HttpResponse(),
      flush: () => void events.push('flush'),
    }
    const service = await serve(handler, { port: 0 })
    service.server.once('close', () => events.push('closed'))
    await service.close()
    assert.deepEqual(events, ['closed', 'flush'])
  })

  it('leaves no timer behind, nor does close() of the server', async () => {
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
})
