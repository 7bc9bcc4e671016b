import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { type ErrorReport, FrontController, type Service, serve } from '../../lib/index.ts'
import { handleClientErrors } from '../../lib/server/client-error.ts'
import { connectionOf } from '../../lib/server/connection.ts'
import { deferred } from '../support/deferred.ts'
import { send } from '../support/http.ts'

const head = 'GET /app/echo HTTP/1.1\r\nHost: a\r\n'

describe('handleClientErrors()', () => {
  // biome-ignore format: a table
  const refused: [what: string, bytes: string | Buffer, status: number, code: string][] = [
    ['what is no method', 'HELLO / HTTP/1.1\r\n\r\n', 400, 'HPE_INVALID_METHOD'],
    ['a beginning of TLS', Buffer.from('16030102000100', 'hex'), 400, 'HPE_INVALID_METHOD'],
    ['a target with a blank', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'HPE_INVALID_CONSTANT'],
    ['a field without a colon', `${head}nocolon\r\n\r\n`, 400, 'HPE_INVALID_HEADER_TOKEN'],
    ['a folded field', `${head}X: a\r\n b\r\n\r\n`, 400, 'HPE_INVALID_HEADER_TOKEN'],
    ['a blank before the colon', `${head}Content-Length : 5\r\n\r\n`, 400, 'HPE_INVALID_HEADER_TOKEN'],
    ['two lengths', `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\n`, 400, 'HPE_UNEXPECTED_CONTENT_LENGTH'],
    ['a length that is none', `${head}Content-Length: +5\r\n\r\n`, 400, 'HPE_INVALID_CONTENT_LENGTH'],
    ['a length and chunks', `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`, 400, 'HPE_INVALID_TRANSFER_ENCODING'],
    ['a header section of 30 kB', `${head}X: ${'a'.repeat(30_000)}\r\n\r\n`, 431, 'HPE_HEADER_OVERFLOW'],
    ['a target of 30 kB', `GET /${'a'.repeat(30_000)} HTTP/1.1\r\n\r\n`, 414, 'HPE_HEADER_OVERFLOW'],
    ['a target without an end', `GET /${'a'.repeat(30_000)}`, 414, 'HPE_HEADER_OVERFLOW'],
  ]
  for (const [what, bytes, status, code] of refused) {
    it(`answers ${what} with ${status}, closes the connection, and reports it by its code alone`, async (t) => {
      const { port, reports } = await serving(t)
      const answer = await send(port, bytes)
      assert.equal(answer, bare(status))
      const told = reports.map((report) => [report.status, report.code, report.message])
      assert.deepEqual(told, [[status, code, `The connection sent no valid request (${code})`]])
    })
  }

  it('tells nothing of what was sent', async (t) => {
    const { port, reports } = await serving(t)
    await send(port, 'GET /?secret=CANARY HTTP/1.1\r\nCookie CANARY\r\n\r\n')
    assert.equal(reports.length, 1)
    assert.doesNotMatch(JSON.stringify(reports), /CANARY/)
  })

  it('refuses what follows a whole request when that one has been answered', async (t) => {
    const { port, reports } = await serving(t)
    const answer = await send(port, `${head}\r\nHELLO\r\n\r\n`)
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
    assert.ok(answer.endsWith(`ok${bare(400)}`), answer)
    assert.equal(reports.length, 1)
  })

  it('refuses CONNECT, and outlives the reset of its connection', async (t) => {
    const { port, service, reports } = await serving(t)
    const socket = connect(port, '127.0.0.1')
    const refused = once(service.server, 'connect')
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')
    const [, served] = await refused
    // Not by once(): that one would listen for the error too.
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

  it('looks at no CONNECT behind the last answer of a connection', async (t) => {
    const { port, service } = await serving(t)
    const tunnel = 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'
    for (const [first, status] of [
      ['GET /app/echo HTTP/1.1\r\n\r\n', 400],
      [`${head}Connection: close\r\n\r\n`, 200],
      ['GET /app/echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
      [`${head}Expect: foo\r\nContent-Length: 1\r\n\r\na`, 417],
    ] as const) {
      const answers = await send(port, first + tunnel)
      const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code))
      assert.deepEqual(statuses, [status], first)
    }
    assert.ok(service.server.listening)
  })

  it('lets a slow answer go before the rejection', async (t) => {
    const { port, asked, finish, service } = await serving(t)
    const malformed = once(service.server, 'clientError')
    const answer = send(port, `${head.replace('echo', 'slow')}\r\nHELLO\r\n\r\n`)
    await Promise.all([asked, malformed])
    finish()
    assert.ok((await answer).endsWith(`done${bare(400)}`), await answer)
  })

  it('leaves an answer alone when the client sends on after its last request', async (t) => {
    const { port, asked, finish, reports, service } = await serving(t)
    const socket = connect(port, '127.0.0.1')
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.write(`${head.replace('echo', 'slow')}Connection: close\r\n\r\n`)
    await asked
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
    ['HPE_HEADER_OVERFLOW', `X: ${'a'.repeat(100)}`, 431],
  ]
  for (const [i, [code, rawPacket, status]] of codes.entries()) {
    it(`says ${status} to ${code} (${i + 1})`, () => {
      const { socket, sent } = failing({ code, rawPacket: rawPacket && Buffer.from(rawPacket) })
      assert.equal(sent(), bare(status))
      assert.ok(socket.writableEnded)
    })
  }

  for (const code of ['ECONNRESET', 'HPE_CLOSED_CONNECTION']) {
    it(`lets go of the socket after ${code}, but not under an answer`, () => {
      const idle = failing({ code })
      assert.deepEqual([idle.socket.destroyed, idle.sent()], [true, ''])
      const busy = failing({ code }, new ServerResponse({ method: 'GET' } as never))
      assert.deepEqual([busy.socket.destroyed, busy.sent()], [false, ''])
    })
  }

  it('lets go of a socket that takes no answer', () => {
    const { socket, sent } = failing({ code: 'HPE_INVALID_METHOD' }, undefined, true)
    assert.deepEqual([socket.destroyed, sent()], [true, ''])
  })
})

function bare(status: number): string {
  // biome-ignore format: a table
  const phrases: Record<number, string> = {
    400: 'Bad Request', 408: 'Request Timeout', 413: 'Payload Too Large', 414: 'URI Too Long',
    431: 'Request Header Fields Too Large',
  }
  return `HTTP/1.1 ${status} ${phrases[status]}\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 0\r\n\r\n`
}

// A client error on a socket that only keeps what it is sent.
function failing(fields: object, answer?: ServerResponse, ended = false) {
  const server = createServer()
  handleClientErrors(server, { handle: () => Promise.reject(new Error('not asked')) }, 50)
  let sent = ''
  const socket = new Duplex({
    read() {},
    write(chunk, _, done) {
      sent += chunk
      done()
    },
  })
  if (ended) socket.end()
  if (answer !== undefined) connectionOf(socket as Socket).latest = answer
  server.emit('clientError', Object.assign(new Error('quotes CANARY'), fields), socket as Socket)
  return { socket, sent: () => sent }
}

interface Serving {
  readonly port: number
  readonly service: Service
  readonly reports: ErrorReport[]
  readonly asked: Promise<void>
  readonly finish: () => void
}

async function serving(t: TestContext): Promise<Serving> {
  const [asked, finish] = [deferred(), deferred()]
  const reports: ErrorReport[] = []
  const app = {
    echo: (_: unknown, response: { text(text: string): void }) => response.text('ok'),
    async slow(_: unknown, response: { text(text: string): void }) {
      asked.resolve()
      await finish.promise
      response.text('done')
    },
  }
  const front = new FrontController({
    controllers: new Map([['app', app]]),
    onReport: (report) => reports.push(report),
  })
  const service = await serve(front, { port: 0 })
  t.after(() => service.close())
  const port = Number(new URL(service.url).port)
  return { port, service, reports, asked: asked.promise, finish: finish.resolve }
}
