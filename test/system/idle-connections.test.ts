import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { createFolder } from '../support/folder.ts'
import { parse, type RawRequest } from '../support/http.ts'
import { startNode } from '../support/run-node.ts'
import { keepAliveBytesOf } from '../support/wire.ts'

const CONNECTIONS = 800

describe('An idle connection', () => {
  const form = ['Content-Type', 'application/x-www-form-urlencoded'] as const

  for (const kind of ['listener', 'serve', 'access', 'counts']) {
    it(`keeps nothing of its last request in memory (${kind})`, async (t) => {
      const server = await HeapServer.start(t, kind)
      for (const action of ['read', 'signal', 'later', 'stream', 'fail', 'nosuch', '%zz']) {
        await server.ask(canaryRequest(action))
      }
      // Node copies a name of 13 characters and more only if it must.
      await server.ask({ target: '/signin-callback/authorization-code?code=canary-code' })
      await server.ask({ target: '/app/authorization-code?code=canary-action' })
      // The memo of the router has registered names only.
      for (const target of ['/rest/canary-token', 'http://user:canary-password@host/app/list']) {
        await server.ask({ target })
      }
      await server.ask({ target: '/nosuch', headers: [['Accept', 'text/html;x=canary-accept']] })
      await server.ask({ ...canaryRequest('read'), method: 'HEAD' })
      await server.ask({ ...canaryRequest('save', [form]), method: 'POST', body: 'f=canary-form' })
      await server.ask({ ...canaryRequest('upload'), method: 'POST', body: 'canary-body' })
      const connection = await server.ask(canaryRequest('read'))
      await server.ask(
        { ...canaryRequest('save', [form]), method: 'POST', body: 'f=canary-form' },
        connection,
      )
      connection.write('GET /app/list HTTP/1.1\r\nHost: canary-host\r\n\r\n')
      await once(connection, 'data')
      assert.deepEqual(await server.findInHeap(/canary-\w+/g), [])
    })
  }

  it('keeps no text that a regular expression has matched last, nor what is read later', async (t) => {
    const requests: Record<string, RawRequest> = {
      query: canaryRequest('query'),
      form: { ...canaryRequest('form', [form]), method: 'POST', body: 'f=canary-form' },
      regex: { target: '/regex/canary-regex?q=canary-query' },
      absolute: { target: 'http://user:canary-password@host/app/none?q=canary-query' },
      stream: canaryRequest('slow'),
    }
    const acceptsCanary = ['Accept', 'text/html;x=canary-accept, text/canary-accept'] as const
    for (const part of ['query', 'cookies', 'accepts', 'nested', 'html', 'signal']) {
      const name = `late-${part}`
      requests[name] = canaryRequest(name, [acceptsCanary])
    }
    const file = join(createFolder(t), 'heap.heapsnapshot')
    for (const [name, request] of Object.entries(requests)) {
      const server = await HeapServer.start(t, 'serve', file)
      const read = name.startsWith('late-') ? server.line() : setImmediate()
      await server.ask(request)
      await read
      assert.deepEqual(await server.findInHeapNow(/canary-\w+/g, file), [], name)
    }
  })

  it('keeps nothing of its upgrade while another protocol uses it', async (t) => {
    const server = await HeapServer.start(t, 'upgrade')
    const upgrade = canaryRequest('chat', [
      ['Connection', 'upgrade'],
      ['Upgrade', 'chat'],
    ])
    const connection = await server.ask(upgrade)
    connection.write('a frame')
    const pipelined = await server.ask({ target: '/app/list' })
    pipelined.write(keepAliveBytesOf(canaryRequest('later')) + keepAliveBytesOf(upgrade))
    let received = ''
    while (!received.includes(' 101 ')) received += await once(pipelined, 'data')
    assert.deepEqual(await server.findInHeap(/canary-\w+/g), [])
  })

  it('keeps no AsyncLocalStorage store of a request when it is closed', async (t) => {
    const server = await HeapServer.start(t, 'context')
    for (const action of ['read', 'later', 'fail', 'nosuch', 'seal', 'stream']) {
      const connection = await server.ask(canaryRequest(action))
      connection.destroy()
    }
    // The server reads the end of the connections before this one.
    await server.ask({ target: '/app/list' }, server.control)
    assert.deepEqual(await server.findInHeap(/canary-\w+/g), [])
  })

  it('takes little more memory than one of node:http', async (t) => {
    const bare = await heapOfConnection(t, 'bare')
    for (const kind of ['listener', 'serve', 'access']) {
      const bytes = await heapOfConnection(t, kind)
      // 14 to 18 % more on Node 20 to 26.
      assert.ok(bytes < bare * 1.25, `${kind}: ${bytes} bytes; node:http: ${bare} bytes`)
    }
  })
})

describe('A connection whose last request waits', () => {
  it('takes less than 3 kB for each message that it ignores', async (t) => {
    const server = await HeapServer.start(t, 'serve')
    await server.ask({ target: '/app/list' }, server.control)
    const before = await server.heapUsed()
    // The first message without a host is the last one of the connection.
    const ignored = 'GET / HTTP/1.1\r\n\r\n'.repeat(2_000)
    const connections = Array.from({ length: 10 }, () => server.connect())
    for (const connection of connections) {
      connection.write(`GET /app/pending HTTP/1.1\r\nHost: a\r\n\r\n${ignored}`)
    }
    let last = 0
    let grown = 0
    do {
      last = grown
      await setTimeout(300)
      grown = (await server.heapUsed()) - before
    } while (grown < 1_000_000 || grown > last + 100_000)
    const bytes = grown / 20_000
    assert.ok(bytes > 500 && bytes < 3_000, `${bytes} bytes`)
  })
})

/** Returns a request that has a canary in each of its parts. */
function canaryRequest(
  action: string,
  headers: readonly (readonly [string, string])[] = [],
): RawRequest {
  return {
    target: `/app/${action}/pair/canary-pair-of-${action}?q=canary-query&a-long-name[of-a-list]=1&html=O'Brien%20and%20canary-html`,
    headers: [
      ['Cookie', 'a-long-name-of-a-cookie=canary-cookie'],
      ['X-Token', 'canary-header'],
      ...headers,
    ],
  }
}

async function heapOfConnection(t: TestContext, kind: string): Promise<number> {
  const server = await HeapServer.start(t, kind)
  // The first requests also create objects that do not belong to a connection.
  for (let i = 0; i < 500; i++) await server.ask({ target: '/app/list' }, server.control)
  const grown: number[] = []
  // V8 may compile code during one of the batches.
  for (let batch = 0; batch < 3; batch++) {
    const before = await server.heapUsed()
    const asked = Array.from({ length: CONNECTIONS }, () => server.ask({ target: '/app/list' }))
    await Promise.all(asked)
    grown.push((await server.heapUsed()) - before)
  }
  return Math.min(...grown) / CONNECTIONS
}

/** The server of heap-server.ts in another process, with idle connections to it. */
class HeapServer {
  readonly #t: TestContext
  readonly #port: number
  readonly #child: ChildProcess
  /** A connection that carries no canaries. */
  control!: Socket

  static async start(t: TestContext, kind: string, file = ''): Promise<HeapServer> {
    const args = ['--expose-gc', 'dist/test/support/heap-server.js', kind, file]
    const child = startNode(t, args)
    const [port] = await once(child.stdout ?? assert.fail(), 'data')
    const server = new HeapServer(t, Number(port), child)
    server.control = server.connect()
    return server
  }

  constructor(t: TestContext, port: number, child: ChildProcess) {
    this.#t = t
    this.#port = port
    this.#child = child
  }

  /** Sends a request over a new connection or a given one, waits for its response, and leaves the connection open. */
  async ask(request: RawRequest, connection: Socket = this.connect()): Promise<Socket> {
    connection.write(keepAliveBytesOf(request))
    let received = ''
    do received += await once(connection, 'data')
    while (
      received.includes('\r\nTransfer-Encoding: chunked') &&
      !received.endsWith('\r\n0\r\n\r\n')
    )
    return connection
  }

  /** Returns the bytes of the heap that are used after a collection. */
  async heapUsed(): Promise<number> {
    const readings: number[] = []
    // Right after many requests, a reading is up to 200 KB too high. The lowest is right to a few KB.
    for (let reading = 0; reading < 4; reading++) {
      const received = once(this.control, 'data')
      await this.ask({ target: '/app/heap' }, this.control)
      readings.push(Number(parse(String(await received)).body))
      await setTimeout(20)
    }
    return Math.min(...readings)
  }

  /** Returns the texts in the heap that match a pattern, each once. */
  async findInHeap(pattern: RegExp): Promise<string[]> {
    const file = join(createFolder(this.#t), 'heap.heapsnapshot')
    // Without a host, which would take the place of the last one.
    const connection = this.connect()
    connection.write(`GET /app/snapshot?file=${encodeURIComponent(file)} HTTP/1.0\r\n\r\n`)
    await once(connection.resume(), 'end')
    return [...new Set((await readFile(file, 'utf8')).match(pattern))]
  }

  /** As {@link findInHeap}, but without a further request: its matches would replace those of the last one. */
  async findInHeapNow(pattern: RegExp, file: string): Promise<string[]> {
    this.#child.kill('SIGUSR2')
    await this.line()
    return [...new Set((await readFile(file, 'utf8')).match(pattern))]
  }

  /** Waits for the next line of the server. */
  async line(): Promise<string> {
    return String(await once(this.#child.stdout ?? assert.fail(), 'data'))
  }

  connect(): Socket {
    const socket = connect(this.#port, '127.0.0.1')
    this.#t.after(() => socket.destroy())
    return socket
  }
}
