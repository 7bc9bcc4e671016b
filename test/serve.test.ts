import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { FrontController, serve } from '../lib/index.ts'
import { deferred } from './support/deferred.ts'
import { bytesOf, exchange, parse } from './support/http.ts'

describe('serve()', () => {
  it('resolves when it listens, and tells where', async (t) => {
    const service = await serve(new FrontController(), { port: 0 })
    t.after(() => service.close())
    assert.match(service.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    const { status } = await exchange(Number(new URL(service.url).port), { target: '/' })
    assert.equal(status, 200)
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
