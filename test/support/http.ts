import { once } from 'node:events'
import { type AddressInfo, connect, type Server } from 'node:net'
import type { TestContext } from 'node:test'

/** A request as it goes over the wire. */
export interface RawRequest {
  readonly method?: string
  readonly target: string
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string
}

/** A response as it came over the wire. */
export interface RawResponse {
  readonly status: number
  /** Names in lower case; the last field wins when a name repeats. */
  readonly headers: Record<string, string>
  readonly rawHeaders: string
  readonly body: string
}

/** Lets a server listen on a free port of the loopback address until the test ends. */
export async function listening(
  t: TestContext,
  server: Server & { closeAllConnections?(): void },
): Promise<number> {
  server.listen(0, '127.0.0.1')
  t.after(() => {
    server.close()
    server.closeAllConnections?.()
  })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Sends one request over a new connection, byte for byte. */
export async function exchange(port: number, request: RawRequest): Promise<RawResponse> {
  return parse(await send(port, bytesOf(request)))
}

/** Sends bytes over a new connection, and returns everything that the server sends until it closes the connection. */
export async function send(port: number, bytes: string | Uint8Array): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    received += chunk
  })
  // A reset may follow a complete response.
  socket.on('error', () => {})
  socket.write(bytes)
  await once(socket, 'close')
  return received
}

/** Returns the bytes of a request that closes its connection. */
export function bytesOf({ method = 'GET', target, headers = [], body = '' }: RawRequest): string {
  const fields = [['Host', '127.0.0.1'], ['Connection', 'close'], ...headers]
  if (body !== '') fields.push(['Content-Length', String(Buffer.byteLength(body))])
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `${method} ${target} HTTP/1.1\r\n${lines}\r\n${body}`
}

/** Parses the first response in these bytes. */
export function parse(received: string): RawResponse {
  const [head = '', ...rest] = received.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const fields = lines.map((line) => line.split(/: ?(.*)/s) as [string, string])
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value])),
    rawHeaders: head,
    body: rest.join('\r\n\r\n'),
  }
}
