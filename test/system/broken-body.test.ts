import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { type Action, FrontController, serve } from '../../lib/index.ts'
import { parse, send } from '../support/http.ts'

const FORM = 'Host: a\r\nContent-Type: application/x-www-form-urlencoded\r\n'
const CHUNKED = 'Host: a\r\nTransfer-Encoding: chunked\r\n\r\n'

// What becomes of a request whose body is broken, or does not come, while it is being answered.
describe('A body that node:http gives up', () => {
  const table: [name: string, request: string, status: number, code: string][] = [
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
      'a form that does not come',
      `POST /a/form HTTP/1.1\r\n${FORM}Content-Length: 9\r\n\r\na`,
      408,
      'ERR_HTTP_REQUEST_TIMEOUT',
    ],
    [
      'a body that does not come',
      `POST /a/body HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na`,
      408,
      'ERR_HTTP_REQUEST_TIMEOUT',
    ],
  ]
  for (const [name, request, status, code] of table) {
    it(`fails its request, through the error action, and closes: ${name}`, async (t) => {
      const { port, told } = await serving(t)
      const answer = parse(await send(port, request))
      assert.equal(answer.status, status)
      assert.equal(answer.headers.connection, 'close')
      assert.equal(JSON.parse(answer.body).controller, 'a')
      assert.deepEqual(told, [code])
    })
  }

  it('fails it where it is read later than it broke', async (t) => {
    const { port } = await serving(t)
    const answer = await send(port, `POST /a/late HTTP/1.1\r\n${CHUNKED}ZZ\r\n`)
    assert.equal(parse(answer).status, 400)
  })

  it('fails whoever reads it again', { timeout: 5_000 }, async (t) => {
    const { port } = await serving(t)
    const answer = await send(port, `POST /a/again HTTP/1.1\r\n${CHUNKED}3\r\nabc\r\nZZ\r\n`)
    assert.equal(parse(answer).status, 400)
  })

  it('is no error where the client has left in its midst', async (t) => {
    const { port, told, aborted } = await serving(t)
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.end(`POST /a/waits HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na`)
    await aborted
    assert.deepEqual(told, [])
  })
})

async function serving(t: TestContext) {
  let abort = (): void => {}
  const aborted = new Promise<void>((resolve) => {
    abort = resolve
  })
  const read: Action = async (request, response) => {
    let bytes = 0
    for await (const chunk of request.body) bytes += chunk.length
    response.text(String(bytes))
  }
  const actions: Record<string, Action> = {
    form: (request, response) => response.text(String(request.form.size)),
    body: read,
    async late(request, response) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      await read(request, response)
    },
    async again(request, response) {
      await Promise.resolve(read(request, response)).catch(() => {})
      await read(request, response)
    },
    waits: (request) =>
      new Promise((resolve) => {
        request.signal.addEventListener('abort', () => {
          abort()
          resolve()
        })
      }),
  }
  const error: Action = (request, response) => {
    const { exception, request: original } = request.errorHandler ?? {}
    response.json({ controller: original?.controller })
    response.status = (exception as { status?: number } | undefined)?.status ?? 500
  }
  const told: unknown[] = []
  const front = new FrontController({
    controllers: new Map<string, object>([
      ['a', actions],
      ['error', { error }],
    ]),
    onReport: ({ code }) => told.push(code),
  })
  const limits = { headersTimeoutMs: 500, requestTimeoutMs: 500 }
  const service = await serve(front, { port: 0, limits })
  t.after(() => service.close())
  return { port: Number(new URL(service.url).port), told, aborted }
}
