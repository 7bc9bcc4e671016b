import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { type Action, createRequestListener } from '../../lib/index.ts'
import { createFront } from '../support/front.ts'
import { listening } from '../support/http.ts'
import { withClose } from '../support/wire.ts'

// A key that both sides know, in place of a certificate.
const KEY = { psk: Buffer.alloc(32, 'k'), identity: 'test' }
const PAGE_BYTES = 300_000
const TLS = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const

describe('A slow close over TLS', () => {
  it('never calls the parser within itself, which would end the process', async (t) => {
    const port = await listenSecurely(t)
    const post = (action: string, length: number, fields = ''): string =>
      `POST /app/${action} HTTP/1.1\r\nHost: a\r\n${fields}Content-Length: ${length}\r\n\r\n${'b'.repeat(length)}`
    const get = 'GET /app/signal HTTP/1.1\r\nHost: a\r\n\r\n'
    const bytes = [
      get,
      post('ignores', 66_000),
      post('large', 5, 'Expect: 100-continue\r\n'),
      post('reads', 1_000),
    ].join('')
    const client = async (): Promise<void> => {
      for (let i = 0; i < 50; i++) await sendInPieces(port, bytes, i, i)
    }
    await Promise.all(Array.from({ length: 8 }, client))
    assert.match(await sendInPieces(port, withClose(get), 1), /^HTTP\/1\.1 200 /)
  })
})

describe('A connection over TLS that a client has half closed', () => {
  it('gets the whole of its last response', async (t) => {
    const port = await listenSecurely(t)
    for (const version of ['1.0', '1.1']) {
      const get = `GET /app/page HTTP/${version}\r\nHost: a\r\nConnection: close\r\n\r\n`
      for (let i = 0; i < 5; i++) {
        const socket = connectSecurely(port).setEncoding('latin1')
        const received = text(socket)
        await once(socket, 'secureConnect')
        socket.write(get)
        await sleep(1)
        socket.end()
        assert.ok((await received).length > PAGE_BYTES)
      }
    }
  })
})

async function listenSecurely(t: TestContext): Promise<number> {
  const respondAfter =
    (ms: number, length: number): Action =>
    async (_, response) => {
      await sleep(ms)
      return response.text('x'.repeat(length))
    }
  const signal: Action = async (request, response) => {
    const { aborted } = request.signal
    await sleep(7)
    return response.text(`${aborted}`)
  }
  const reads: Action = async ({ body }, response) => response.text(await text(body))
  const [ignores, large] = [respondAfter(14, 1_000), respondAfter(3, 20_000)]
  const page: Action = (_, response) => {
    response.body = Buffer.alloc(PAGE_BYTES)
  }
  const front = createFront({ app: { signal, ignores, large, reads, page } })
  const options = {
    ...TLS,
    allowHalfOpen: true,
    pskCallback: () => KEY.psk,
    pskIdentityHint: KEY.identity,
  }
  const server = createServer(options, createRequestListener(front))
  return listening(t, Object.assign(server, { httpAllowHalfOpen: true }))
}

// Sends bytes in pieces of various lengths, and closes after a time or at the end. Returns what has arrived, if the client reads.
async function sendInPieces(
  port: number,
  bytes: string,
  i: number,
  waitMs?: number,
): Promise<string> {
  const socket = connectSecurely(port)
  let received = ''
  if (i % 2) {
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text
    })
  }
  const closed = new Promise((resolve) => socket.once('close', resolve).once('end', resolve))
  await once(socket, 'secureConnect')
  let at = 0
  for (let k = 0; k < 8; k++) {
    const next = at + ((i * 397 + k * 7_919) % (k % 2 ? 17_000 : 600))
    socket.write(bytes.slice(at, next), 'latin1')
    at = next
    if ((i + k) % 2) await sleep((i * k) % 5)
  }
  socket.write(bytes.slice(at), 'latin1')
  await (waitMs === undefined ? closed : sleep(waitMs))
  socket.destroy()
  return received
}

function connectSecurely(port: number): TLSSocket {
  const options: ConnectionOptions & { readonly allowHalfOpen: boolean } = {
    ...TLS,
    port,
    host: '127.0.0.1',
    allowHalfOpen: true,
    pskCallback: () => KEY,
    checkServerIdentity: () => undefined,
  }
  return connect(options)
    .setNoDelay(true)
    .on('error', () => {})
}
