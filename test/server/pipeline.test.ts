import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type Action, createRequestListener } from '../../lib/index.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'
import { bytesOf, listening, send } from '../support/http.ts'
import {
  keepAliveBytesOf,
  listenWithActions,
  serveActions,
  settled,
  withClose,
} from '../support/wire.ts'

const PAGE_BYTES = 1_000_000
const page = 'a'.repeat(PAGE_BYTES)

// Pages of 1 MB, and the maximum of bytes that wait for a client that does not read: 64 KiB and one
// response, or what the 8 actions add that run at the same time.
const pages: readonly [kind: string, maxWaiting: number, action: Action][] = [
  ['text', 65_536 + PAGE_BYTES, (_, response) => response.text(page)],
  [
    'text after a while',
    8 * PAGE_BYTES,
    async (_, response) => {
      await new Promise(setImmediate)
      response.text(page)
    },
  ],
  [
    'streams',
    8 * 100_000,
    (_, response) => {
      response.body = Readable.from(page.match(/.{100000}/g) ?? [])
    },
  ],
]

describe('Pipelined requests', () => {
  const form = 'Content-Type: application/x-www-form-urlencoded\r\n'

  it('get their responses in order', async (t) => {
    const { port } = await listenWithActions(t, {
      async echo(request, response) {
        const id = Number(request.param('id'))
        for (let i = 0; i < id % 7; i++) await new Promise(setImmediate)
        response.text(`<${id}>`)
      },
    })
    const one = (id: number): string => {
      const target = `/app/echo/id/${id}`
      return id === 99 ? bytesOf({ target }) : keepAliveBytesOf({ target })
    }
    const received = await send(port, Array.from({ length: 100 }, (_, id) => one(id)).join(''))
    const ids = [...received.matchAll(/<(\d+)>/g)].map(([, id]) => Number(id))
    assert.deepEqual(
      ids,
      Array.from({ length: 100 }, (_, id) => id),
    )
  })

  it('start up to 8 at a time, and one behind a body after its response; no more are read until then', async (t) => {
    for (const [bytes, most] of [
      ['GET /app/wait HTTP/1.1\r\nHost: a\r\n\r\n', 8],
      [`POST /app/wait HTTP/1.1\r\nHost: a\r\n${form}Content-Length: 3\r\n\r\na=1`, 1],
      [
        `POST /app/wait HTTP/1.1\r\nHost: a\r\n${form}Content-Length: 99999\r\n\r\n${'a'.repeat(99_999)}`,
        1,
      ],
    ] as const) {
      const count = Math.max(200, Math.floor(1_000_000 / bytes.length))
      const released = deferred()
      let started = 0
      const { port } = await listenWithActions(t, {
        async wait(request, response) {
          started++
          await released.promise
          response.text(request.method)
        },
      })
      const received = send(port, bytes.repeat(count - 1) + withClose(bytes))
      await settled(() => started)
      assert.equal(started, most)
      released.resolve()
      assert.equal((await received).match(/ 200 OK/g)?.length, count)
      assert.equal(started, count)
    }
  })

  it('start in the turn in which one before them ends, so that no other connection holds many meanwhile', async (t) => {
    const count = 1_000
    let startedInTurn = 0
    let most = 0
    const { port } = await listenWithActions(t, {
      now(_, response) {
        startedInTurn++
        most = Math.max(most, startedInTurn)
        setImmediate(() => {
          startedInTurn = 0
        })
        response.text('a')
      },
    })
    const bytes = keepAliveBytesOf({ target: '/app/now' })
    const received = await send(port, bytes.repeat(count - 1) + withClose(bytes))
    assert.equal(received.match(/ 200 OK/g)?.length, count)
    assert.ok(most > 100, `${most} have started in one turn`)
  })

  for (const [kind, maxWaiting, action] of pages) {
    it(`start only while the responses before them hold less than 64 KiB: ${kind}`, async (t) => {
      let started = 0
      const outs: ServerResponse[] = []
      const { port, service } = await serveActions(t, {
        page(request, response) {
          started++
          return action(request, response)
        },
      })
      service.server.prependListener('request', (_, out) => outs.push(out))
      const socket = connect(port, '127.0.0.1').setEncoding('latin1').pause()
      t.after(() => socket.destroy())
      const count = 40
      const target = '/app/page'
      socket.write(keepAliveBytesOf({ target }).repeat(count - 1) + bytesOf({ target }))
      await settled(() => started)
      const held = outs.reduce((sum, out) => sum + out.writableLength, 0)
      assert.ok(started < count, `${started} have started`)
      assert.ok(held <= maxWaiting + 8 * 1_024, `${held} bytes are waiting`)
      assert.equal((await text(socket)).match(/ 200 OK/g)?.length, count)
    })
  }

  it('are not held back by the bodies of responses to HEAD', async (t) => {
    const started: string[] = []
    const { port } = await serveActions(t, {
      page(request, response) {
        started.push(request.method)
        response.text('a'.repeat(PAGE_BYTES))
      },
    })
    const head = { method: 'HEAD', target: '/app/page' }
    const received = await send(port, keepAliveBytesOf(head).repeat(99) + bytesOf(head))
    assert.equal(received.match(/ 200 OK/g)?.length, 100)
    assert.equal(started.length, 100)
  })

  it('are not read while many of them wait', async (t) => {
    const { port, released, parsed } = await serveWithDelay(t)
    const bytes = 'GET /app/wait HTTP/1.1\r\nHost: a\r\n\r\n'
    const received = send(port, bytes.repeat(9_999) + withClose(bytes))
    const read = await parsed()
    // The parser cannot be paused within the bytes that one read has returned.
    assert.ok(read <= 2 * Math.ceil(65_536 / bytes.length), `${read} have been read`)
    released.resolve()
    assert.equal((await received).match(/ 200 OK/g)?.length, 10_000)
  })

  for (const [kind, post] of [
    ['30 kB', `Content-Length: 30000\r\n\r\n${'a'.repeat(30_000)}`],
    [
      'chunks of one byte',
      `Transfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(5_000)}0\r\n\r\n`,
    ],
  ] as const) {
    it(`are not read while one of them waits, also if a read ends within a body: ${kind}`, async (t) => {
      const released = deferred()
      let started = 0
      const { port, sockets } = await listenWithActions(t, {
        async wait(request, response) {
          started++
          await released.promise
          response.text(await text(request.body))
        },
      })
      const bytes = `POST /app/wait HTTP/1.1\r\nHost: a\r\n${post}`
      const received = send(port, bytes.repeat(99) + withClose(bytes))
      await settled(() => sockets[0]?.bytesRead ?? 0)
      // The one that has started, and the rest of the last read.
      const maxRead = bytes.length + 2 * 65_536
      assert.ok(
        Number(sockets[0]?.bytesRead) <= maxRead,
        `${sockets[0]?.bytesRead} bytes have been read`,
      )
      assert.equal(started, 1)
      released.resolve()
      assert.equal((await received).match(/ 200 OK/g)?.length, 100)
    })
  }

  for (const rest of ['body', 'head']) {
    it(`get no 408 for a ${rest} that nothing has read while they waited`, async (t) => {
      const { port, released, parsed, timeOut } = await serveWithDelay(t)
      const wait = keepAliveBytesOf({ target: '/app/wait' })
      const body = 'a'.repeat(200_000)
      const post = `POST /app/wait HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      const bytes = wait.repeat(8) + (rest === 'head' ? wait : '') + withClose(post)
      const size = rest === 'head' ? bytes.length - post.length : bytes.length
      const socket = connect(port, '127.0.0.1')
      const received = text(socket)
      socket.write(bytes.slice(0, size))
      assert.equal(await parsed(), 9)
      timeOut()
      released.resolve()
      await settled(() => socket.bytesRead)
      // Its turn has come, and its own time has begun.
      timeOut()
      socket.write(bytes.slice(size))
      assert.equal((await received).match(/ 200 OK/g)?.length, rest === 'head' ? 10 : 9)
    })

    it(`get a 408 if the client does not send the rest of a ${rest} after they have waited`, async (t) => {
      const { port, service, released, parsed, timeOut } = await serveWithDelay(t)
      service.server.requestTimeout = 50
      service.server.headersTimeout = 40
      const part = 'POST /app/wait HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc'
      const wait = keepAliveBytesOf({ target: '/app/wait' })
      const pieces = rest === 'head' ? [wait.repeat(9), part.slice(0, 20)] : [wait.repeat(8), part]
      const received = send(port, pieces.join(''))
      assert.equal(await parsed(), 9)
      timeOut()
      released.resolve()
      const statuses = (await received).match(/(?<=^HTTP\/1.1 )\d+/gm)
      assert.deepEqual(statuses, [...Array(rest === 'head' ? 9 : 8).fill('200'), '408'])
    })
  }

  for (const kind of ['body', 'upgrade']) {
    it(`get no 408 for a head that arrives late, with ${kind === 'body' ? 'a body' : 'an upgrade'} that takes longer`, async (t) => {
      const { port, service, released, parsed, timeOut } = await serveWithDelay(t)
      // Longer than a busy machine takes for the rest of the head.
      service.server.headersTimeout = 1_000
      service.server.on('upgrade', (_, stream) => stream.pipe(stream))
      const head = {
        body: 'POST /app/wait HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n\r\n',
        upgrade: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
      }[kind] as string
      const socket = connect(port, '127.0.0.1').setEncoding('latin1')
      let received = ''
      socket.on('data', (data) => {
        received += data
      })
      socket.write(keepAliveBytesOf({ target: '/app/wait' }).repeat(9) + head.slice(0, 20))
      assert.equal(await parsed(), 9)
      timeOut()
      released.resolve()
      await settled(() => received.length)
      socket.write(head.slice(20))
      await setTimeout(1_100)
      // The limit for the body has begun with the head, or later.
      timeOut()
      socket.write('abc')
      await settled(() => received.length)
      assert.match(received, /abc$/)
      socket.destroy()
    })
  }

  for (const isEnded of [false, true]) {
    it(`leave an upgrade behind a queued one to an application with its own server, which ${isEnded ? 'ends' : 'reads'} the connection`, {
      timeout: 10_000,
    }, async (t) => {
      const wait: Action = async (_, response) => {
        await setTimeout(20)
        return response.text('ok')
      }
      const server = createServer(createRequestListener(createFront({ app: { wait } })))
      server.on('upgrade', (_, stream: Socket) => {
        if (isEnded) stream.on('error', () => {}).end('HTTP/1.1 401 Unauthorized\r\n\r\n')
        else stream.pipe(stream)
      })
      const closed = deferred()
      server.on('connection', (socket) => socket.on('close', closed.resolve))
      const port = await listening(t, server)
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      t.after(() => void socket.destroy())
      let received = ''
      socket.setEncoding('latin1').on('error', () => {})
      socket.on('data', (data: string) => {
        received += data
        if (received.split(' 200 OK').length === 10) socket.end('abc')
      })
      const upgrade = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
      // One more than may be in flight.
      socket.write(keepAliveBytesOf({ target: '/app/wait' }).repeat(9) + upgrade)
      await closed.promise
      assert.match(received, isEnded ? /^HTTP\/1.1 401/ : /abc$/)
    })
  }

  it('each run in the AsyncLocalStorage context in which they have arrived', async (t) => {
    const current = new AsyncLocalStorage<string | undefined>()
    const later: Action = async ({ target }, response) => {
      const arrived = current.getStore()
      await new Promise(setImmediate)
      return response.text(`(${target} in ${arrived}, ${current.getStore()})`)
    }
    const listener = createRequestListener(createFront({ app: { later } }))
    const server = createServer((message, out) =>
      current.run(message.url, () => listener(message, out)),
    )
    const port = await listening(t, server)
    // More than may be in flight.
    const targets = Array.from({ length: 20 }, (_, i) => `/app/later?${i}`)
    const requests = targets.map((target) => keepAliveBytesOf({ target }))
    const received = await send(port, requests.with(-1, withClose(`${requests.at(-1)}`)).join(''))
    assert.deepEqual(
      received.match(/\(.*\)/g),
      targets.map((target) => `(${target} in ${target}, ${target})`),
    )
  })
})

describe('A streamed body behind another response', () => {
  it('runs in the AsyncLocalStorage context in which its request has arrived', async (t) => {
    const current = new AsyncLocalStorage<string | undefined>()
    const stream: Action = ({ target }, response) => {
      response.body = Readable.from(
        (async function* () {
          for (let i = 0; i < 3; i++) {
            await new Promise(setImmediate)
            yield `(${target} in ${current.getStore()})`
          }
        })(),
      )
    }
    const listener = createRequestListener(createFront({ app: { stream } }))
    const server = createServer((message, out) =>
      current.run(message.url, () => listener(message, out)),
    )
    const port = await listening(t, server)
    const targets = ['/app/stream?0', '/app/stream?1', '/app/stream?2']
    const requests = targets.map((target) => keepAliveBytesOf({ target }))
    const received = await send(port, requests.with(-1, withClose(`${requests.at(-1)}`)).join(''))
    assert.deepEqual(
      received.match(/\(.*?\)/g),
      targets.flatMap((target) => Array(3).fill(`(${target} in ${target})`)),
    )
  })
})

describe('A client that leaves without reading its pipelined responses', () => {
  it('does not end the process, and starts no further action', async (t) => {
    let started = 0
    // More than the buffers of the system hold. To write a text would copy it.
    const page = Buffer.alloc(16_777_216)
    const large: Action = (_, response) => {
      started++
      response.body = page
    }
    const { port } = await listenWithActions(t, { large })
    const request = keepAliveBytesOf({ target: '/app/large' })
    // The failure depends on the order in which the system reports it: one in 300 clients ended the process.
    for (let batch = 0; batch < 20; batch++) {
      const clients = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'))
      for (const client of clients) client.on('error', () => {}).write(request.repeat(2))
      await settled(() => started)
      for (const client of clients) client.destroy()
    }
    await settled(() => started)
    assert.equal(started, 400)
  })
})

/**
 * Serves an action that waits until it is released, and then reads the body, with all limits.
 *
 * @returns Also a function that returns how many requests have been parsed, and one that times out as `node:http` does.
 */
async function serveWithDelay(t: TestContext) {
  const released = deferred()
  const { port, service } = await serveActions(t, {
    async wait(request, response) {
      await released.promise
      response.text(await text(request.body))
    },
  })
  let socket: Socket | undefined
  let count = 0
  service.server.once('connection', (each) => {
    socket = each
  })
  service.server.on('request', () => count++)
  const parsed = async (): Promise<number> => {
    await settled(() => count)
    return count
  }
  const timeOut = (): void => {
    const error = Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    service.server.emit('clientError', error, socket as Socket)
  }
  return { port, service, released, parsed, timeOut }
}
