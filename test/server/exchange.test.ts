import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { describe, it, type TestContext } from 'node:test'
import { READ_ALREADY } from '../../lib/http/body.ts'
import {
  type Action,
  FrontController,
  incomingMessageOf,
  type Service,
  serve,
} from '../../lib/index.ts'
import type { Access } from '../../lib/server/exchange.ts'
import { deferred } from '../support/deferred.ts'
import { exchange, parse, send } from '../support/http.ts'

const form = 'Content-Type: application/x-www-form-urlencoded\r\n'
const post = (action: string, fields: string): string =>
  `POST /app/${action} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`

describe('Exchange', () => {
  it('invites a body only when it is asked for', async (t) => {
    const { port } = await serving(t, {
      form: (request, response) => response.text(`${request.form}`),
      ignores: (_, response) => response.text('ok'),
    })
    const expects = `Expect: 100-continue\r\n${form}Content-Length: 3\r\n`
    const closing = `Connection: close\r\n${expects}`
    const invited = await send(port, `${post('form', closing)}a=1`)
    assert.match(invited, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n.*a=1$/s)
    for (const [request, status] of [
      [post('form', expects.replace('3', '3000000')), 413],
      [post('form', expects.replace('Content-Length', 'Content-Encoding: gzip\r\n$&')), 415],
      [post('form', expects.replace('Host: a', '')).replace('Host: a\r\n', ''), 400],
      [post('ignores', expects.replace(form, '')), 200],
    ] as const) {
      const { status: told, headers } = parse(await send(port, request))
      assert.deepEqual([told, headers.connection], [status, 'close'])
    }
  })

  it('reads a form whether it came with its head, in pieces, or with the next request', async (t) => {
    const { port } = await serving(t, {
      form: (request, response) => response.text(`${request.form}`),
      body: async (request, response) => response.text(await text(request.body)),
    })
    const sized = (fields: string): string => `${fields}Content-Length: 7\r\n`
    const chunked = (fields: string): string => `${fields}Transfer-Encoding: chunked\r\n`
    for (const [head, body] of [
      [post('form', sized(form)), 'a=1&b=2'],
      [post('form', chunked(form)), '3\r\na=1\r\n4\r\n&b=2\r\n0\r\n\r\n'],
      [post('body', sized('')), 'a=1&b=2'],
      [post('body', chunked('')), '3\r\na=1\r\n4\r\n&b=2\r\n0\r\n\r\n'],
    ] as const) {
      const last = `${head.replace('\r\n', '\r\nConnection: close\r\n')}${body}`
      for (const pieces of [
        [`${head}${body}${last}`],
        [`${head}${body}`, last],
        [head, `${body}${last}`],
        [head, body.slice(0, 5), body.slice(5), last],
        [`${head}${body.slice(0, 5)}`, `${body.slice(5)}${last}`],
        [...`${head}${body}`, last],
      ]) {
        const answers = (await sendInPieces(port, pieces)).split(/(?=HTTP\/1\.1 )/).map(parse)
        assert.deepEqual(
          answers.map(({ status, headers, body }) => [status, headers.connection, body]),
          [
            [200, 'keep-alive', 'a=1&b=2'],
            [200, 'close', 'a=1&b=2'],
          ],
          `${pieces.length} pieces of ${head}`,
        )
      }
    }
  })

  it('lets a message end that an action waits for, and gives its body once', async (t) => {
    const { port } = await serving(t, {
      async form(request, response) {
        const message = incomingMessageOf(request)
        if (message !== undefined) await finished(message)
        response.text(`${request.form}`)
      },
      async twice(request, response) {
        const first = await text(request.body)
        const second = text(request.body).catch(({ message }: Error) => message)
        response.text(`${first}|${await second}`)
      },
    })
    for (const [head, answer] of [
      [post('form', `${form}Content-Length: 3\r\nConnection: close\r\n`), 'a=1'],
      [post('twice', `Content-Length: 3\r\nConnection: close\r\n`), `a=1|${READ_ALREADY}`],
    ] as const) {
      for (const pieces of [[`${head}a=1`], [head, 'a=1']]) {
        assert.equal(parse(await sendInPieces(port, pieces)).body, answer, `${pieces}`)
      }
    }
  })

  it('gives a body that came whole, whatever came behind it', async (t) => {
    const { port } = await serving(t, {
      async late(request, response) {
        await new Promise((resolve) => setTimeout(resolve, 20))
        response.text(await text(request.body))
      },
    })
    const answer = await send(port, `${post('late', 'Content-Length: 3\r\n')}a=1no request`)
    const [first = '', second = ''] = answer.split(/(?=HTTP\/1\.1 400 )/)
    assert.deepEqual([parse(first).body, parse(second).status], ['a=1', 400])
  })

  it('looks at nothing behind a message that it refuses', async (t) => {
    const asked: string[] = []
    const { port } = await serving(t, { next: ({ target }) => void asked.push(target) })
    const next = 'GET /app/next HTTP/1.1\r\nHost: a\r\n\r\n'
    const bad = post('next', 'Host: b\r\nContent-Length: 3\r\n')
    for (const bytes of [`${bad}a=1${next}`, next.replace('Host: a\r\n', '') + next]) {
      const { status, headers } = parse(await send(port, bytes))
      assert.deepEqual([status, headers.connection, asked], [400, 'close', []])
    }
  })

  it('lets a message end that somebody listens to', async (t) => {
    const sized = 'Content-Length: 3\r\n'
    for (const bytes of [
      post('form', '').replace('POST', 'GET'),
      post('form', 'Content-Length: 0\r\n'),
      `${post('form', `${form}${sized}`)}a=1`,
      `${post('form', sized)}a=1`,
    ]) {
      for (const event of ['end', 'close']) {
        const heard = deferred()
        const { port } = await serving(t, {
          form(request, response) {
            incomingMessageOf(request)?.once(event, heard.resolve)
            response.text(`${request.form}`)
          },
        })
        const socket = connect(port, '127.0.0.1')
        t.after(() => socket.destroy())
        socket.write(bytes)
        await heard.promise
      }
    }
  })

  it('sends its rejection whole to a client that is still sending, and then closes', async (t) => {
    const { port } = await serving(t, {})
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.setEncoding('latin1').on('data', (chunk) => {
      answer += chunk
    })
    const failed = once(socket, 'error').then(([error]) => Promise.reject(error))
    const closed = once(socket, 'close')
    failed.catch(() => {})
    const bytes = 4_000_000
    socket.write(post('form', `${form}Content-Length: ${bytes}\r\n`))
    for (let sent = 0; sent < bytes; sent += 100_000) {
      if (!socket.write('a'.repeat(100_000))) await Promise.race([once(socket, 'drain'), failed])
    }
    await Promise.race([closed, failed])
    const { status, headers } = parse(answer)
    assert.deepEqual([status, headers.connection], [413, 'close'])
  })

  it('sends a stream whole to a client whose body nobody reads, and then closes', async (t) => {
    const sent = 200_000
    const { port } = await serving(t, {
      stream(_, response) {
        response.body = Readable.from([Buffer.alloc(sent, 'a')], { objectMode: false })
      },
    })
    const upload = 4_000_000
    for (const method of ['POST', 'HEAD']) {
      const head = `${method} /app/stream HTTP/1.1\r\nHost: a\r\nContent-Length: ${upload}\r\n\r\n`
      const answer = parse(await send(port, head + 'b'.repeat(upload)))
      assert.deepEqual([answer.status, answer.headers.connection], [200, 'close'])
      assert.equal(answer.body.match(/a/g)?.length ?? 0, method === 'HEAD' ? 0 : sent)
    }
  })

  it('answers an upgrade as any request, and reads nothing behind it', async (t) => {
    const { port } = await serving(t, { index: (_, response) => response.text('ok') })
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
    const next = 'GET /app/index HTTP/1.1\r\nHost: a\r\n\r\n'
    const answers = await send(port, `GET /app/index HTTP/1.1\r\nHost: a\r\n${upgrade}${next}`)
    assert.equal(answers.match(/HTTP\/1\.1 /g)?.length, 1)
    const { status, headers, body } = parse(answers)
    assert.deepEqual([status, headers.connection, body], [200, 'close', 'ok'])
  })

  it('answers what is pipelined when the server stops, and says close with the last', async (t) => {
    const asked = deferred()
    const finish = deferred()
    const { port, service } = await serving(t, {
      async first(_, response) {
        await finish.promise
        response.text('first')
      },
      second(_, response) {
        asked.resolve()
        response.text('second')
      },
    })
    const request = (action: string): string => `GET /app/${action} HTTP/1.1\r\nHost: a\r\n\r\n`
    const answers = send(port, request('first') + request('second'))
    // The second one is handled, and its answer waits behind the first.
    await asked.promise
    const closed = service.close()
    finish.resolve()
    assert.equal(await closed, 0)
    assert.match(await answers, /first.*second$/s)
  })

  it('ends the connection when a stream fails that the handler began', async (t) => {
    const { port, reported } = await serving(t, {
      odd(_, response) {
        response.body = Readable.from(['text', { no: 'bytes' }])
      },
    })
    assert.doesNotMatch((await exchange(port, { target: '/app/odd' })).body, /\r\n0\r\n\r\n$/)
    assert.equal(reported.length, 1)
  })

  it('reports a stream that is closed before its end, and ends the connection', async (t) => {
    const { port, reported } = await serving(t, {
      closed(_, response) {
        const body = new Readable({ read: () => {} })
        body.push('text')
        setImmediate(() => setImmediate(() => body.destroy()))
        response.body = body
      },
    })
    const { body } = await exchange(port, { target: '/app/closed' })
    assert.doesNotMatch(body, /\r\n0\r\n\r\n$/)
    assert.equal(reported.length, 1)
  })

  it('knows the address at the other end', async (t) => {
    const { port } = await serving(t, {
      who: ({ client }, response) => response.text(client.address),
    })
    assert.equal((await exchange(port, { target: '/app/who' })).body, '127.0.0.1')
  })

  it('tells of each request when it is over: what was sent, and how long it took', async (t) => {
    const told: Access[] = []
    const all = deferred()
    const onAccess = (access: Access): void => {
      told.push(access)
      if (told.length === 3) all.resolve()
    }
    const { port } = await serving(
      t,
      {
        index: (_, response) => response.text('grün'),
        stream(_, response) {
          response.body = Readable.from(['abc', 'def'])
        },
        empty(_, response) {
          response.status = 204
        },
      },
      onAccess,
    )
    await exchange(port, { target: '/app/index' })
    await exchange(port, { target: '/app/stream' })
    await exchange(port, { method: 'POST', target: '/app/empty' })
    await all.promise
    const facts = told.map(({ method, response, bytes }) => [method, response.status, bytes])
    assert.deepEqual(facts, [
      ['GET', 200, 5],
      ['GET', 200, 6],
      ['POST', 204, 0],
    ])
    for (const { durationMs } of told) assert.ok(durationMs > 0)
  })

  it('tells of what waits behind another answer when the client goes', async (t) => {
    const told: string[] = []
    const all = deferred()
    const asked = deferred()
    const onAccess = ({ response }: Access): void => {
      told.push(response.request?.action ?? '')
      if (told.length === 3) all.resolve()
    }
    const { port } = await serving(
      t,
      {
        slow: ({ signal }) => once(signal, 'abort').then(() => {}),
        quick: (_, response) => response.text('ok'),
        last(_, response) {
          response.text('ok')
          asked.resolve()
        },
      },
      onAccess,
    )
    const socket = connect(port, '127.0.0.1')
    for (const action of ['slow', 'quick', 'last']) {
      socket.write(`GET /app/${action} HTTP/1.1\r\nHost: a\r\n\r\n`)
    }
    await asked.promise
    socket.destroy()
    await all.promise
    assert.deepEqual(told.sort(), ['last', 'quick', 'slow'])
  })
})

interface Serving {
  readonly port: number
  readonly service: Service
  readonly reported: unknown[]
}

async function serving(
  t: TestContext,
  actions: Record<string, Action>,
  onAccess?: (access: Access) => void,
): Promise<Serving> {
  const reported: unknown[] = []
  const front = new FrontController({
    controllers: new Map([['app', actions]]),
    onReport: (report) => reported.push(report),
  })
  const service = await serve(front, { port: 0, onAccess })
  t.after(() => service.close())
  return { port: Number(new URL(service.url).port), service, reported }
}

async function sendInPieces(port: number, pieces: readonly string[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const answers = text(socket)
  for (const piece of pieces) {
    socket.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return answers
}
