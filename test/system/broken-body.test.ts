import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import type { Action } from '../../lib/index.ts'
import type { ServerLimits } from '../../lib/server/serve.ts'
import { collectReports } from '../support/collectors.ts'
import { deferred } from '../support/deferred.ts'
import { createFront } from '../support/front.ts'
import { exchange, parse, send } from '../support/http.ts'
import { startServing } from '../support/serving.ts'

const FORM = 'Host: a\r\nContent-Type: application/x-www-form-urlencoded\r\n'
const CHUNKED = 'Host: a\r\nTransfer-Encoding: chunked\r\n\r\n'

// The outcome of a request whose body breaks, or does not arrive, while the request is in flight.
// Two of the tests wait for a timeout of node:http.
describe('A body that node:http rejects', { concurrency: true }, () => {
  const slow = { headersTimeoutMs: 500, requestTimeoutMs: 500 }
  const table: [
    name: string,
    request: string,
    status: number,
    code: string,
    limits?: Partial<ServerLimits>,
  ][] = [
    [
      'a form in bad chunks',
      `POST /a/form HTTP/1.1\r\n${FORM}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`,
      400,
      'HPE_INVALID_CHUNK_SIZE',
    ],
    [
      'bad chunks that an action reads',
      `POST /a/body HTTP/1.1\r\n${CHUNKED}3\r\nabc\r\nZZ\r\n`,
      400,
      'HPE_INVALID_CHUNK_SIZE',
    ],
    [
      'a trailer that is too large',
      `POST /a/body HTTP/1.1\r\n${CHUNKED}0\r\n${`X: ${'a'.repeat(1_000)}\r\n`.repeat(40)}\r\n`,
      431,
      'HPE_HEADER_OVERFLOW',
    ],
    [
      'a form that does not arrive',
      `POST /a/form HTTP/1.1\r\n${FORM}Content-Length: 9\r\n\r\na`,
      408,
      'ERR_HTTP_REQUEST_TIMEOUT',
      slow,
    ],
    [
      'a body that does not arrive',
      `POST /a/body HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na`,
      408,
      'ERR_HTTP_REQUEST_TIMEOUT',
      slow,
    ],
  ]
  for (const [name, request, status, code, limits] of table) {
    it(`fails its request through the error action, and closes the connection: ${name}`, async (t) => {
      const { port, reports } = await start(t, limits)
      const response = parse(await send(port, request))
      assert.equal(response.status, status)
      assert.equal(response.headers.connection, 'close')
      assert.equal(JSON.parse(response.body).controller, 'a')
      assert.deepEqual(
        reports.map((report) => report.code),
        [code],
      )
    })
  }

  it('is the fault of the client when the action times out while it reads, and not a 503', async (t) => {
    const { port, reports } = await start(t, {}, 100)
    const offer =
      'Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n\r\n'
    const half = 'Host: a\r\nContent-Length: 9\r\n\r\n'
    for (const [bytes, status] of [
      [`body HTTP/1.1\r\n${half}a`, 408],
      [`body HTTP/1.1\r\n${half}`, 408],
      [`body HTTP/1.1\r\n${offer}ZZ\r\n`, 408],
      [`stalls HTTP/1.1\r\n${half}a`, 503],
      [`never HTTP/1.1\r\n${half}a`, 503],
      [`never HTTP/1.1\r\nConnection: close\r\n${half}123456789`, 503],
    ] as const) {
      const response = parse(await send(port, `POST /a/${bytes}`))
      assert.deepEqual([response.status, response.headers.connection], [status, 'close'], bytes)
    }
    assert.deepEqual(reports.map((report) => [report.status, report.message]).slice(2, 4), [
      [408, 'No whole request within 100 milliseconds'],
      [503, 'No response within 100 milliseconds'],
    ])
  })

  it('fails its request when the action reads it later', async (t) => {
    const { port } = await start(t)
    const response = await send(port, `POST /a/late HTTP/1.1\r\n${CHUNKED}ZZ\r\n`)
    assert.equal(parse(response).status, 400)
  })

  it('fails its request when the action reads it again', { timeout: 5_000 }, async (t) => {
    const { port } = await start(t)
    const response = await send(port, `POST /a/again HTTP/1.1\r\n${CHUNKED}3\r\nabc\r\nZZ\r\n`)
    assert.equal(parse(response).status, 400)
  })

  it('is the fault of the client when a response already streams: 400, 408, and not a 500', async (t) => {
    const chunks = `POST /a/echo HTTP/1.1\r\n${CHUNKED}3\r\nabc\r\n`
    const partly = 'POST /a/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc'
    for (const [bytes, rest, status, code] of [
      [chunks, 'ZZ\r\n', 400, 'HPE_INVALID_CHUNK_SIZE'],
      [partly, '', 408, 'ERR_HTTP_REQUEST_TIMEOUT'],
    ] as const) {
      const { port, reports } = await start(t, rest === '' ? slow : {})
      const socket = connect(port, '127.0.0.1').setEncoding('latin1')
      socket.write(bytes)
      const [first] = await once(socket, 'data')
      socket.write(rest)
      const received = first + (await text(socket))
      assert.match(received, /^HTTP\/1\.1 200 OK.*abc/s)
      assert.doesNotMatch(received, /\r\n0\r\n\r\n$/)
      assert.deepEqual(
        reports.map((report) => [report.status, report.code, report.controller]),
        [[status, code, 'a']],
      )
    }
  })

  it('is no error when the client closes the connection and a response already streams', async (t) => {
    const { port, reports, echoed } = await start(t)
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(`POST /a/echo HTTP/1.1\r\n${CHUNKED}3\r\nabc\r\n`)
    await once(socket, 'data')
    socket.destroy()
    await echoed
    await exchange(port, { target: '/a/form' })
    assert.deepEqual(reports, [])
  })

  it('is no error when the client closes the connection, and the message offers an upgrade', {
    timeout: 5_000,
  }, async (t) => {
    const offer = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n'
    for (const body of [
      'Content-Length: 9\r\n\r\na',
      'Content-Length: 9\r\n\r\n',
      'Transfer-Encoding: chunked\r\n\r\n3\r\nab',
      'Transfer-Encoding: chunked\r\n\r\nZZ\r\n',
    ]) {
      const { port, reports, bodyClosed } = await start(t)
      const socket = connect(port, '127.0.0.1').resume()
      socket.end(`POST /a/body HTTP/1.1\r\n${offer}${body}`)
      await Promise.all([once(socket, 'close'), bodyClosed])
      assert.deepEqual(reports, [])
    }
    const { port } = await start(t)
    const whole = `POST /a/body HTTP/1.1\r\n${offer}Content-Length: 3\r\n\r\nabc`
    assert.match(await send(port, whole), /^HTTP\/1\.1 200 .*\r\n3$/s)
  })

  it('is no error when the client has closed the connection', async (t) => {
    const { port, reports, aborted } = await start(t)
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.end(`POST /a/waits HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na`)
    await aborted
    assert.deepEqual(reports, [])
  })
})

async function start(t: TestContext, limits: Partial<ServerLimits> = {}, actionTimeoutMs = 10_000) {
  const [aborted, broken, echoed, bodyClosed] = [deferred(), deferred(), deferred(), deferred()]
  const read: Action = async (request, response) => {
    let bytes = 0
    const body = request.body.once('close', bodyClosed.resolve)
    for await (const chunk of body) bytes += chunk.length
    response.text(String(bytes))
  }
  const actions: Record<string, Action> = {
    form: (request, response) => response.text(String(request.form.size)),
    body: read,
    async late(request, response) {
      await broken.promise
      await read(request, response)
    },
    async again(request, response) {
      await Promise.resolve(read(request, response)).catch(() => {})
      await read(request, response)
    },
    async stalls(request) {
      request.body.pause()
      await new Promise(() => {})
    },
    never: () => new Promise(() => {}),
    echo(request, response) {
      response.body = request.body.once('close', echoed.resolve)
    },
    waits: (request) =>
      new Promise((resolve) => {
        request.signal.addEventListener('abort', () => {
          aborted.resolve()
          resolve()
        })
      }),
  }
  const error: Action = (request, response) => {
    const { exception, request: original } = request.errorHandler ?? {}
    response.json({ controller: original?.controller })
    response.status = (exception as { status?: number } | undefined)?.status ?? 500
  }
  const { reports, onReport } = collectReports()
  const front = createFront(
    { a: actions, error: { error } },
    { onReport, limits: { actionTimeoutMs } },
  )
  const { port, service } = await startServing(t, front, { limits })
  service.server.once('clientError', () => broken.resolve())
  return {
    port,
    reports,
    aborted: aborted.promise,
    echoed: echoed.promise,
    bodyClosed: bodyClosed.promise,
  }
}
