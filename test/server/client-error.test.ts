import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { handleClientErrors } from '../../lib/server/client-error.ts'
import { connectionOf } from '../../lib/server/connection.ts'
import { deferred } from '../support/deferred.ts'
import { send } from '../support/http.ts'
import { serveActions } from '../support/wire.ts'

const head = 'GET /app/echo HTTP/1.1\r\nHost: a\r\n'

describe('handleClientErrors()', () => {
  // biome-ignore format: a table
  const rejected: [what: string, bytes: string | Buffer, status: number, code: string][] = [
    ['an invalid method', 'HELLO / HTTP/1.1\r\n\r\n', 400, 'HPE_INVALID_METHOD'],
    ['the start of a TLS handshake', Buffer.from('16030102000100', 'hex'), 400, 'HPE_INVALID_METHOD'],
    ['a target with a space', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'HPE_INVALID_CONSTANT'],
    ['line feeds alone', 'GET / HTTP/1.1\nHost: a\n\n', 400, 'HPE_INVALID_VERSION'],
    ['a byte behind the version', 'GET / HTTP/1.10\r\nHost: a\r\n\r\n', 400, 'HPE_INVALID_VERSION'],
    ['a version that does not exist', 'GET / HTTP/7.7\r\nHost: a\r\n\r\n', 505, 'HPE_INVALID_VERSION'],
    ['a field without a colon', `${head}nocolon\r\n\r\n`, 400, 'HPE_INVALID_HEADER_TOKEN'],
    ['a folded field', `${head}X: a\r\n b\r\n\r\n`, 400, 'HPE_INVALID_HEADER_TOKEN'],
    ['a space before the colon', `${head}Content-Length : 5\r\n\r\n`, 400, 'HPE_INVALID_HEADER_TOKEN'],
    ['two lengths', `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\n`, 400, 'HPE_UNEXPECTED_CONTENT_LENGTH'],
    ['an invalid length', `${head}Content-Length: +5\r\n\r\n`, 400, 'HPE_INVALID_CONTENT_LENGTH'],
    ['a length and a chunked body', `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`, 400, 'HPE_INVALID_TRANSFER_ENCODING'],
    ['a header section of 30 kB', `${head}X: ${'a'.repeat(30_000)}\r\n\r\n`, 431, 'HPE_HEADER_OVERFLOW'],
    ['a header section of 30 kB behind a target of 8 KiB', `GET ${'/'.padEnd(8_192, 'a')} HTTP/1.1\r\nX: ${'a'.repeat(30_000)}\r\n\r\n`, 431, 'HPE_HEADER_OVERFLOW'],
    ['a target of 30 kB', `GET /${'a'.repeat(30_000)} HTTP/1.1\r\n\r\n`, 414, 'HPE_HEADER_OVERFLOW'],
    ['a target without an end', `GET /${'a'.repeat(30_000)}`, 414, 'HPE_HEADER_OVERFLOW'],
  ]
  for (const [what, bytes, status, code] of rejected) {
    it(`responds to ${what} with ${status}, closes the connection, and reports only the code`, async (t) => {
      const { port, reports } = await start(t)
      assert.equal(await send(port, bytes), minimalResponse(status))
      const facts = reports.map((report) => [report.status, report.code, report.message])
      assert.deepEqual(facts, [[status, code, `The connection sent no valid request (${code})`]])
    })
  }

  it('reports none of the bytes that were sent', async (t) => {
    const { port, reports } = await start(t)
    await send(port, 'GET /?secret=CANARY HTTP/1.1\r\nCookie CANARY\r\n\r\n')
    assert.equal(reports.length, 1)
    assert.doesNotMatch(JSON.stringify(reports), /CANARY/)
  })

  it('rejects malformed bytes behind a request after the response to that request', async (t) => {
    const { port, reports } = await start(t)
    const received = await send(port, `${head}\r\nHELLO\r\n\r\n`)
    assert.match(received, /^HTTP\/1\.1 200 OK\r\n/)
    assert.ok(received.endsWith(`ok${minimalResponse(400)}`), received)
    assert.equal(reports.length, 1)
  })

  it('rejects CONNECT, and survives a reset of its connection', async (t) => {
    const { port, service, reports } = await start(t)
    const socket = connect(port, '127.0.0.1')
    const rejected = once(service.server, 'connect')
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')
    const [, served] = await rejected
    // Not once() of node:events: it would listen for the error as well.
    const closed = deferred()
    served.on('close', closed.resolve)
    socket.resetAndDestroy()
    await closed.promise
    assert.deepEqual(
      reports.map(({ status }) => status),
      [405],
    )
    assert.match(await send(port, `${head}Connection: close\r\n\r\n`), /ok$/)
  })

  it('ignores a CONNECT behind the last response of a connection', async (t) => {
    const { port, service } = await start(t)
    const tunnel = 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'
    for (const [first, status] of [
      ['GET /app/echo HTTP/1.1\r\n\r\n', 400],
      [`${head}Connection: close\r\n\r\n`, 200],
      ['GET /app/echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
      [`${head}Expect: foo\r\nContent-Length: 1\r\n\r\na`, 417],
    ] as const) {
      const received = await send(port, first + tunnel)
      const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code))
      assert.deepEqual(statuses, [status], first)
    }
    assert.ok(service.server.listening)
  })

  it('sends a slow response before the rejection', async (t) => {
    const { port, started, finish, service } = await start(t)
    const malformed = once(service.server, 'clientError')
    const received = send(port, `${head.replace('echo', 'slow')}\r\nHELLO\r\n\r\n`)
    await Promise.all([started, malformed])
    finish()
    assert.ok((await received).endsWith(`done${minimalResponse(400)}`), await received)
  })

  it('sends the last response whole when the client sends more bytes', async (t) => {
    const { port, started, finish, reports, service } = await start(t)
    const socket = connect(port, '127.0.0.1')
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.write(`${head.replace('echo', 'slow')}Connection: close\r\n\r\n`)
    await started
    const malformed = once(service.server, 'clientError')
    socket.write('GET / HTTP/1.1\r\n\r\n')
    const [{ code }] = await malformed
    assert.equal(code, 'HPE_CLOSED_CONNECTION')
    finish()
    await once(socket, 'close')
    assert.match(Buffer.concat(chunks).toString(), /^HTTP\/1\.1 200 OK\r\n.*done$/s)
    assert.deepEqual(reports, [])
  })

  // biome-ignore format: a table
  const codes: [code: string | undefined, packet: string | undefined, status: number][] = [
    ['HPE_INVALID_METHOD', 'x', 400],
    [undefined, undefined, 400],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '1;a', 413],
    ['ERR_HTTP_REQUEST_TIMEOUT', undefined, 408],
    ['HPE_HEADER_OVERFLOW', undefined, 431],
    ['HPE_HEADER_OVERFLOW', 'GET / HTTP/1.1\r\nX: a', 431],
    ['HPE_HEADER_OVERFLOW', `GET /${'a'.repeat(100)} HTTP/1.1\r\n`, 414],
    ['HPE_HEADER_OVERFLOW', `GET /${'a'.repeat(49)} HTTP/1.1\r\nX: a`, 431],
    ['HPE_HEADER_OVERFLOW', `GET /${'a'.repeat(50)} HTTP/1.1\r\nX: a`, 414],
    ['HPE_HEADER_OVERFLOW', `M-SEARCH /${'a'.repeat(50)}`, 414],
    ['HPE_HEADER_OVERFLOW', `\r\nGET /${'a'.repeat(50)}\r\nX: a`, 414],
    ['HPE_HEADER_OVERFLOW', `X: ${'a'.repeat(100)}`, 431],
  ]
  for (const [i, [code, rawPacket, status]] of codes.entries()) {
    it(`responds to ${code} with ${status} (${i + 1})`, async () => {
      const { socket, sent } = failing({ code, rawPacket: rawPacket && Buffer.from(rawPacket) })
      // A late message waits for its turn.
      await nextTurn()
      await nextTurn()
      assert.equal(sent(), minimalResponse(status))
      assert.ok(socket.writableEnded)
    })
  }

  it('handles the requests that are late together in several turns, so that others do not wait for all', async (t) => {
    const count = 40
    const sockets: Socket[] = []
    const ready = deferred()
    let running = 0
    const { port, service, reports } = await serveActions(t, {
      async body({ body }, response) {
        if (++running === count) ready.resolve()
        response.text(await text(body))
      },
    })
    service.server.on('connection', (socket) => sockets.push(socket))
    const half = 'POST /app/body HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na'
    const received = Array.from({ length: count }, () => send(port, half))
    await ready.promise
    const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    for (const socket of sockets) service.server.emit('clientError', late, socket)
    const inTurns: number[] = []
    for (let before = 0; before < count && inTurns.length < 100_000; before = reports.length) {
      await nextTurn()
      inTurns.push(reports.length - before)
    }
    for (const response of await Promise.all(received)) assert.match(response, /^HTTP\/1\.1 408 /)
    assert.equal(reports.length, count)
    assert.ok(Math.max(...inTurns) <= 4, `${inTurns}`)
  })

  for (const code of ['ECONNRESET', 'HPE_CLOSED_CONNECTION']) {
    it(`destroys the socket after ${code}, but not while a response is active`, () => {
      const idle = failing({ code })
      assert.deepEqual([idle.socket.destroyed, idle.sent()], [true, ''])
      const busy = failing({ code }, new ServerResponse({ method: 'GET' } as never))
      assert.deepEqual([busy.socket.destroyed, busy.sent()], [false, ''])
    })
  }

  it('destroys a socket that is not writable', () => {
    const { socket, sent } = failing({ code: 'HPE_INVALID_METHOD' }, undefined, true)
    assert.deepEqual([socket.destroyed, sent()], [true, ''])
  })
})

function minimalResponse(status: number): string {
  // biome-ignore format: a table
  const phrases: Record<number, string> = {
    400: 'Bad Request', 408: 'Request Timeout', 413: 'Payload Too Large', 414: 'URI Too Long',
    431: 'Request Header Fields Too Large', 505: 'HTTP Version Not Supported',
  }
  return `HTTP/1.1 ${status} ${phrases[status]}\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 0\r\n\r\n`
}

// Emits a client error for a socket that records what is written to it.
function failing(fields: object, active?: ServerResponse, ended = false) {
  const server = createServer()
  handleClientErrors(server, {}, 50)
  let sent = ''
  const socket = new Duplex({
    read() {},
    write(chunk, _, done) {
      sent += chunk
      done()
    },
  })
  if (ended) socket.end()
  if (active !== undefined) connectionOf(socket as Socket).latest = active
  server.emit('clientError', Object.assign(new Error('quotes CANARY'), fields), socket as Socket)
  return { socket, sent: () => sent }
}

async function start(t: TestContext) {
  const [started, finish] = [deferred(), deferred()]
  const served = await serveActions(t, {
    echo: (_, response) => response.text('ok'),
    async slow(_, response) {
      started.resolve()
      await finish.promise
      response.text('done')
    },
  })
  return { ...served, started: started.promise, finish: finish.resolve }
}
