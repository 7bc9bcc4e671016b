import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { TestContext } from 'node:test'

export interface RawRequest {
  readonly method?: string
  readonly target: string
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string
}

export interface RawResponse {
  readonly status: number
  /** Lower-case names; of several fields of one name the last. */
  readonly headers: Record<string, string>
  readonly rawHeaders: string
  readonly body: string
}

/** Lets a server listen on a free port of the loopback until the test ends. */
export async function listening(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** One request over a socket of its own, byte for byte as it stands here. */
export async function exchange(port: number, request: RawRequest): Promise<RawResponse> {
  return parse(await send(port, bytesOf(request)))
}

/** Sends bytes, and returns all that comes back until the server closes the connection. */
export async function send(port: number, bytes: string | Uint8Array): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    answer += chunk
  })
  // What was answered before a reset still counts.
  socket.on('error', () => {})
  socket.write(bytes)
  await once(socket, 'close')
  return answer
}

export function bytesOf({ method = 'GET', target, headers = [], body = '' }: RawRequest): string {
  const fields = [['Host', '127.0.0.1'], ['Connection', 'close'], ...headers]
  if (body !== '') fields.push(['Content-Length', String(Buffer.byteLength(body))])
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `${method} ${target} HTTP/1.1\r\n${lines}\r\n${body}`
}

export function parse(answer: string): RawResponse {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const fields = lines.map((line) => line.split(/: ?(.*)/s) as [string, string])
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value])),
    rawHeaders: head,
    body: rest.join('\r\n\r\n'),
  }
}
