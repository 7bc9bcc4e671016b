import assert from 'node:assert/strict'
import { once } from 'node:events'
import { isBuiltin } from 'node:module'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { WebSocket } from 'ws'
import {
  type Action,
  FrontController,
  HttpRequest,
  type HttpResponse,
  type Service,
} from '../../lib/index.ts'
import { collectReports } from '../support/collectors.ts'
import { send as sendBytes } from '../support/http.ts'
import { importRecipe, page, recipes, serveRecipe, writeRecipes } from '../support/recipes.ts'
import { startNode } from '../support/run-node.ts'
import { logLinesOf, ServerProcess } from '../support/server-process.ts'
import { startServing } from '../support/serving.ts'

const noSqlite = isBuiltin('node:sqlite')
  ? undefined
  : `Node ${process.versions.node} has no node:sqlite without a flag: 22.13 has`

interface Sent {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'OPTIONS'
  readonly headers?: Readonly<Record<string, string>>
  readonly form?: Readonly<Record<string, string>> | string
  readonly body?: Uint8Array | Readable | string
}

interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly bytes: Buffer
}

const formType = { 'content-type': 'application/x-www-form-urlencoded' }

/** Sends a request over its own connection. */
async function send(url: string, sent: Sent = {}): Promise<Received> {
  const { form, body = form === undefined ? null : new URLSearchParams(form).toString() } = sent
  const {
    statusCode,
    headers,
    body: received,
  } = await request(url, {
    method: sent.method ?? (body === null ? 'GET' : 'POST'),
    headers: { ...(form === undefined ? {} : formType), ...sent.headers },
    body,
    reset: true,
  })
  const bytes = Buffer.from(await received.arrayBuffer())
  return { status: statusCode, headers, text: bytes.toString(), bytes }
}

describe('docs/recipes.md', () => {
  it('has a recipe, its cost and its alternative in each section', () => {
    const sections = page.split(/^## /m).slice(1)
    assert.equal(sections.length, recipes.length)
    for (const section of sections) {
      assert.match(section, /^\*\*Cost:\*\* .*\d/m, section)
      assert.match(section, /^\*\*Alternative:\*\* /m, section)
    }
  })

  it('has a program that serves the exports of a recipe, and stops', async (t) => {
    const child = startNode(t, [join(writeRecipes(t), 'serve.js')])
    assert.ok(child.stdout)
    const [url] = await once(createInterface(child.stdout), 'line')
    assert.equal((await send(`${url}/news`)).status, 200)
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

  it('has application files that the program accepts', async (t) => {
    const folder = writeRecipes(t)
    for (const { name } of recipes) {
      if (name === 'sqlite.js' && noSqlite !== undefined) continue
      const { ended } = new ServerProcess(t, ['--check', '--app', join(folder, name)])
      const { code, stderr } = await ended
      assert.equal(code, 0, `${name}: ${stderr}`)
    }
  })
})

describe('The recipe for sessions', () => {
  it('keeps a session from login to logout', async (t) => {
    const { url } = await serveRecipe(t, 'sessions.js')
    assert.equal((await send(`${url}/account`)).status, 401)
    const { status, headers } = await send(`${url}/account/login`, { form: { user: 'Ada' } })
    assert.equal(status, 303)
    const line = String(headers['set-cookie'])
    assert.match(line, /; Max-Age=3600; Path=\/; Secure; HttpOnly; SameSite=Lax$/)
    const cookie = line.split(';', 1)[0] ?? ''
    assert.equal((await send(`${url}/account`, { headers: { cookie } })).text, 'Hello Ada')
    const forged = cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
    assert.equal((await send(`${url}/account`, { headers: { cookie: forged } })).status, 401)
    await send(`${url}/account/logout`, { method: 'POST', headers: { cookie } })
    assert.equal((await send(`${url}/account`, { headers: { cookie } })).status, 401)
  })

  async function createAccount(t: TestContext): Promise<{
    readonly login: () => Promise<string>
    readonly statusOf: (cookie: string) => Promise<number>
  }> {
    const { default: options } = await importRecipe(t, 'sessions.js')
    const front = new FrontController(options as object)
    const handle = (target: string, init: object): Promise<HttpResponse> =>
      front.handle(new HttpRequest({ target, ...init }))
    return {
      async login() {
        const init = { method: 'POST', headers: formType, body: 'user=Ada' }
        const { headers } = await handle('/account/login', init)
        return headers.get('Set-Cookie')?.split(';', 1)[0] ?? ''
      },
      statusOf: async (cookie) => (await handle('/account', { headers: { cookie } })).status,
    }
  }

  it('ends the former session of the browser at a login, and rejects a large form', async (t) => {
    const { url } = await serveRecipe(t, 'sessions.js')
    const login = (user: string, cookie = ''): Promise<Received> =>
      send(`${url}/account/login`, { form: { user }, headers: { cookie } })
    const cookieOf = ({ headers }: Received): string =>
      String(headers['set-cookie']).split(';', 1)[0] ?? ''
    const first = cookieOf(await login('Zoë'))
    assert.equal((await send(`${url}/account`, { headers: { cookie: first } })).text, 'Hello Zoë')
    const second = cookieOf(await login('Ada', first))
    assert.equal((await send(`${url}/account`, { headers: { cookie: first } })).status, 401)
    assert.equal((await send(`${url}/account`, { headers: { cookie: second } })).text, 'Hello Ada')
    assert.equal((await login('x'.repeat(1_000))).status, 413)
  })

  it('ends a session after its lifetime', async (t) => {
    t.mock.timers.enable({ apis: ['Date'] })
    const { login, statusOf } = await createAccount(t)
    const cookie = await login()
    t.mock.timers.tick(3_599_999)
    assert.equal(await statusOf(cookie), 200)
    t.mock.timers.tick(1)
    assert.equal(await statusOf(cookie), 401)
  })

  it('keeps 10,000 sessions', async (t) => {
    const { login, statusOf } = await createAccount(t)
    const cookie = await login()
    for (let i = 1; i < 10_000; i++) await login()
    assert.equal(await statusOf(cookie), 200)
    await login()
    assert.equal(await statusOf(cookie), 401)
  })
})

describe('The recipe for templates', () => {
  it('renders a page in its layout, and escapes its data', async (t) => {
    const { url } = await serveRecipe(t, 'templates.js')
    const { text, headers } = await send(`${url}/news`)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    assert.match(text, /^<!doctype html>\n<title>News &amp; views<\/title>\n<main>/)
    assert.match(text, /<ul><li>&lt;one&gt;<\/li><li>two<\/li><\/ul>/)
  })
})

describe('The recipe for uploads in memory', () => {
  it('reads a file of a form', async (t) => {
    const { url } = await serveRecipe(t, 'uploads.js')
    const { text } = await send(`${url}/photos/save`, await formOf(2_000_000))
    assert.deepEqual(JSON.parse(text), { name: 'a.png', bytes: 2_000_000 })
  })

  it('rejects a form without the file, a malformed one, and one past the limit', async (t) => {
    const { url } = await serveRecipe(t, 'uploads.js')
    const statusOf = async (sent: Sent): Promise<number> =>
      (await send(`${url}/photos/save`, sent)).status
    assert.equal(await statusOf({ form: { photo: 'text' } }), 400)
    assert.equal(await statusOf(cutForm(1)), 400)
    assert.equal(await statusOf({ body: 'photo', headers: multipart }), 400)
    assert.equal(await statusOf(await formOf(11_000_000)), 413)
  })

  it('rejects more than 100 parts, however their boundary is declared', async (t) => {
    const { url } = await serveRecipe(t, 'uploads.js')
    const part = '--b\r\nContent-Disposition: form-data; name="photo"; filename="a.png"\r\n\r\n\r\n'
    const statusOf = async (parts: number, type: string): Promise<number> => {
      const body = `${part.repeat(parts)}--b--\r\n`
      return (await send(`${url}/photos/save`, { body, headers: { 'content-type': type } })).status
    }
    for (const type of [multipart['content-type'], 'Multipart/Form-Data; boundary="b"']) {
      assert.equal(await statusOf(100, type), 200)
      assert.equal(await statusOf(101, type), 413)
      assert.equal(await statusOf(100_000, type), 413)
    }
    for (const before of ['xboundary=c; ', 'x="; boundary=c"; ', 'boundary=b; ']) {
      assert.equal(await statusOf(101, `multipart/form-data; ${before}boundary=b`), 400)
    }
  })

  it('rejects long headers of a part, also of one that does not end', async (t) => {
    const { url } = await serveRecipe(t, 'uploads.js')
    const field = 'Content-Disposition: form-data; name="photo"; filename="a.png"\r\n'
    const statusOf = async (headers: string, end = '\r\nx\r\n--b--\r\n'): Promise<number> => {
      const body = `--b\r\n${field}${headers}${end}`
      return (await send(`${url}/photos/save`, { body, headers: multipart })).status
    }
    const line = 'a:b\r\n'
    assert.equal(await statusOf(line.repeat(100)), 200)
    for (const end of ['\r\nx\r\n--b--\r\n', '\r\nx', '']) {
      assert.equal(await statusOf(line.repeat(1_000), end), 400)
    }
  })
})

describe('The recipe for uploads as streams', () => {
  it('writes each file', async (t) => {
    const { url } = await serveRecipe(t, 'upload-streams.js')
    const { text } = await send(`${url}/films/save`, await formOf(2_000_000, 3))
    assert.deepEqual(JSON.parse(text), [2_000_000, 3])
  })

  it('rejects a malformed form, another type, and a body that ends within a file', async (t) => {
    const { url } = await serveRecipe(t, 'upload-streams.js')
    const statusOf = async (sent: Sent): Promise<number> =>
      (await send(`${url}/films/save`, sent)).status
    assert.equal(await statusOf({ body: 'film', headers: multipart }), 400)
    assert.equal(await statusOf(cutForm(3)), 400)
    assert.equal(await statusOf({ body: 'film', headers: { 'content-type': 'text/plain' } }), 415)
    const withoutBoundary = { 'content-type': 'multipart/form-data' }
    assert.equal(await statusOf({ body: 'film', headers: withoutBoundary }), 400)
  })

  it('rejects more than 100 parts', async (t) => {
    const { url } = await serveRecipe(t, 'upload-streams.js')
    const statusOf = async (parts: number): Promise<number> =>
      (await send(`${url}/films/save`, { body: emptyParts(parts), headers: multipart })).status
    assert.equal(await statusOf(100), 200)
    assert.equal(await statusOf(101), 413)
    assert.equal(await statusOf(50_000), 413)
  })

  it('rejects more than 10 files', async (t) => {
    const { url } = await serveRecipe(t, 'upload-streams.js')
    const statusOf = async (files: number): Promise<number> =>
      (await send(`${url}/films/save`, await formOf(...Array<number>(files).fill(3)))).status
    assert.deepEqual([await statusOf(10), await statusOf(11)], [200, 413])
  })

  it('rejects a body past the limit, also within a file', async (t) => {
    const { default: options } = await importRecipe(t, 'upload-streams.js')
    const { save } = (options as { controllers: { films: { save: Action } } }).controllers.films
    const limited = Object.assign(save, { limits: { maxBodyBytes: 1_000_000 } })
    const front = new FrontController({ controllers: { films: { save: limited } } })
    const { url } = await startServing(t, front)
    const { status } = await send(`${url}/films/save`, cutForm(40))
    assert.equal(status, 413)
  })
})

const multipart = { 'content-type': 'multipart/form-data; boundary=b' }

function emptyParts(count: number): string {
  return `${'--b\r\n\r\n\r\n'.repeat(count)}--b--\r\n`
}

/** Returns a form with one file of each size, in bytes. */
async function formOf(...sizes: readonly number[]): Promise<Sent> {
  const form = new FormData()
  for (const size of sizes) form.append('photo', new File([new Uint8Array(size)], 'a.png'))
  const encoded = new Response(form)
  const type = encoded.headers.get('content-type') ?? ''
  return { body: new Uint8Array(await encoded.arrayBuffer()), headers: { 'content-type': type } }
}

/** Returns a form that ends within its file, in chunks of 50,000 bytes. */
function cutForm(chunks: number): Sent {
  const start = '--b\r\nContent-Disposition: form-data; name="photo"; filename="a"\r\n\r\n'
  const file = Array<Buffer>(chunks).fill(Buffer.alloc(50_000))
  return { body: Readable.from([Buffer.from(start), ...file]), headers: multipart }
}

describe('The recipe for SQLite', () => {
  const skip = noSqlite ?? false

  it('saves a row and reads it', { skip }, async (t) => {
    const { url } = await serveRecipe(t, 'sqlite.js')
    const text = "a'); DROP TABLE notes; --"
    const { status, headers } = await send(`${url}/notes/save`, { form: { text } })
    assert.deepEqual([status, headers.location], [303, '/notes/view/id/1'])
    assert.deepEqual(JSON.parse((await send(`${url}/notes/view/id/1`)).text), { id: 1, text })
    assert.equal((await send(`${url}/notes/view/id/2`)).status, 404)
    assert.equal((await send(`${url}/notes/view`)).status, 404)
  })

  it('writes from several workers at a time', { skip }, async (t) => {
    const folder = writeRecipes(t)
    const args = ['--port=0', '--workers=2', '--app', join(folder, 'sqlite.js')]
    const url = await new ServerProcess(t, args, { DATABASE: join(folder, 'notes.db') }).url()
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const { status } = await send(`${url}/notes/save`, { form: { text: 'Milk' } })
        return status
      }),
    )
    assert.deepEqual([...new Set(statuses)], [303])
  })
})

describe('The recipe for logs', () => {
  it('gives the lines of a request, its error and its response one id', async (t) => {
    const app = join(writeRecipes(t), 'logs.js')
    const server = new ServerProcess(t, ['--port=0', '--app', app])
    const url = await server.url()
    const { headers } = await send(`${url}/news`)
    const { headers: failed } = await send(`${url}/none`)
    server.child.kill('SIGTERM')
    const { stdout } = await server.ended
    const found = logLinesOf(stdout).filter(({ event }) => !/^(start|stop)$/.test(event))
    const [id, other] = [headers['x-request-id'], failed['x-request-id']]
    assert.notEqual(id, other)
    assert.deepEqual(
      found.map((line) => [line.id, line.msg, line.status]),
      [
        [id, 'reads the news', undefined],
        [id, 'request', 200],
        [other, 'request', 404],
        [other, 'Invalid controller specified (none)', 404],
      ],
    )
  })
})

describe('The recipe for AsyncLocalStorage', () => {
  it('keeps the contexts of concurrent requests apart', async (t) => {
    const { url } = await serveRecipe(t, 'async-context.js')
    const received = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        send(`${url}/news`, i % 2 === 0 ? {} : { form: { a: 'b' } }),
      ),
    )
    for (const { headers, text } of received)
      assert.equal(text, `news for ${headers['x-request-id']}`)
    assert.equal(new Set(received.map(({ text }) => text)).size, 20)
  })

  it('keeps the contexts of pipelined requests apart', async (t) => {
    const { port } = await serveRecipe(t, 'async-context.js')
    const one = 'GET /news HTTP/1.1\r\nHost: a\r\n'
    const received = await sendBytes(port, `${one}\r\n${one}\r\n${one}Connection: close\r\n\r\n`)
    const ids = [...received.matchAll(/^X-Request-Id: (.*)\r$/gm)].map(([, id]) => id)
    const texts = [...received.matchAll(/news for ([\da-f-]{36})/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, 3)
    assert.deepEqual(texts, ids)
  })
})

describe('The recipe for rate limits', () => {
  it('rejects the request after the last allowed one, with Retry-After', async (t) => {
    const { url } = await serveRecipe(t, 'rate-limit.js')
    for (let i = 0; i < 100; i++) assert.equal((await send(`${url}/news`)).status, 200)
    const { status, headers } = await send(`${url}/news`)
    assert.equal(status, 429)
    assert.ok(Number(headers['retry-after']) > 0)
  })
})

describe('The recipe for CORS', () => {
  const origin = 'https://app.example'

  it('responds to a preflight', async (t) => {
    const { url } = await serveRecipe(t, 'cors.js')
    const headers = { origin, 'access-control-request-method': 'POST' }
    const { status, headers: received } = await send(`${url}/news/save`, {
      method: 'OPTIONS',
      headers,
    })
    assert.equal(status, 204)
    assert.equal(received['access-control-allow-origin'], origin)
    assert.equal(received['access-control-allow-methods'], 'GET, POST')
  })

  it('allows its origins, and no other, on successes and errors', async (t) => {
    const { url } = await serveRecipe(t, 'cors.js')
    for (const [path, status] of [
      ['/news', 200],
      ['/none', 404],
    ] as const) {
      const own = await send(url + path, { headers: { origin } })
      assert.equal(own.status, status)
      assert.equal(own.headers['access-control-allow-origin'], origin)
      assert.match(String(own.headers.vary), /\bOrigin\b/)
      const foreign = await send(url + path, { headers: { origin: 'https://other.example' } })
      assert.equal(foreign.headers['access-control-allow-origin'], undefined)
    }
  })
})

describe('The recipe for ETags', () => {
  it('sends 304 to a client that has the body', async (t) => {
    const { url } = await serveRecipe(t, 'etag.js')
    const { status, headers, text } = await send(`${url}/news`)
    assert.deepEqual([status, text], [200, '["one","two"]'])
    const tag = String(headers.etag)
    for (const known of [tag, `W/${tag}`, `"a", ${tag}`]) {
      const again = await send(`${url}/news`, { headers: { 'if-none-match': known } })
      assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', tag])
    }
    assert.equal((await send(`${url}/news`, { headers: { 'if-none-match': '"a"' } })).status, 200)
    assert.equal((await send(`${url}/news`, { method: 'HEAD' })).headers.etag, tag)
  })
})

describe('The recipe for event streams', () => {
  it('sends missed events, new events and heartbeats, and ends at the stop', async (t) => {
    const { service, url } = await serveRecipe(t, 'events.js')
    t.mock.timers.enable({ apis: ['setInterval'] })
    const publish = (text: string): Promise<Received> =>
      send(`${url}/events/publish`, { form: { text } })
    const first = new EventText((await request(`${url}/events`)).body)
    await publish('one')
    const [, id = ''] = await first.until(/id: (\d+)\ndata: "one"\n\n$/)
    await publish('two')
    const { body, headers } = await request(`${url}/events`, { headers: { 'last-event-id': id } })
    assert.equal(headers['content-type'], 'text/event-stream')
    const received = new EventText(body)
    await received.until(/^:\n\nid: \d+\ndata: "two"\n\n$/)
    await publish('three')
    await received.until(/"two"\n\nid: \d+\ndata: "three"\n\n$/)
    t.mock.timers.tick(15_000)
    await received.until(/three"\n\n:\n\n$/)
    // The server needs its own intervals to stop.
    t.mock.timers.reset()
    assert.deepEqual(await service.close(), { connections: 0, actions: 0 })
    assert.match(await received.end(), /:\n\n$/)
    assert.match(await first.end(), /:\n\n$/)
  })

  it('disconnects a client that does not read, and reports no error of it', async (t) => {
    const { default: options } = await importRecipe(t, 'events.js')
    const { events } = (options as { controllers: { events: { publish: Action } } }).controllers
    const publish = Object.assign(events.publish, { limits: {} })
    const controllers = { events: { ...events, publish } }
    const { reports, onReport } = collectReports()
    const { service, url } = await startServing(t, new FrontController({ controllers, onReport }))
    const connection = once(service.server, 'connection')
    const { body } = await request(`${url}/events`)
    const [socket] = (await connection) as [Socket]
    const text = 'x'.repeat(900_000)
    // More than the system buffers for a connection.
    for (let i = 0; i < 20; i++) await send(`${url}/events/publish`, { form: { text } })
    assert.equal(socket.destroyed, true)
    await assert.rejects(body.text())
    assert.deepEqual(reports, [])
  })

  it('rejects a long text, and sends a client all texts that it missed', async (t) => {
    const { url } = await serveRecipe(t, 'events.js')
    const publish = async (text: string): Promise<number> =>
      (await send(`${url}/events/publish`, { body: `text=${text}`, headers: formType })).status
    assert.equal(await publish('x'.repeat(1_000)), 413)
    // JSON makes these six times as long.
    for (let i = 0; i < 101; i++) assert.equal(await publish('\x01'.repeat(995)), 200)
    const missed = await request(`${url}/events`, { headers: { 'last-event-id': '1' } })
    assert.equal(missed.statusCode, 200)
    await new EventText(missed.body).until(/(?:id: \d+\ndata: .*\n\n){100}$/)
  })
})

/** Collects the text of a stream. */
class EventText {
  readonly #chunks: AsyncIterator<Buffer>
  #text = ''

  constructor(body: Readable) {
    this.#chunks = body[Symbol.asyncIterator]()
  }

  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#text)
      if (match !== null) return match
      const { done, value } = await this.#chunks.next()
      assert.equal(done, false, this.#text)
      this.#text += value
    }
  }

  async end(): Promise<string> {
    for (;;) {
      const { done, value } = await this.#chunks.next()
      if (done === true) return this.#text
      this.#text += value
    }
  }
}

describe('The recipe for WebSockets', () => {
  it('sends a message to all clients, and ends them with 1001 at the stop', async (t) => {
    const { service, url, origin } = await startWebSockets(t)
    const clients = await Promise.all([1, 2].map(() => connected(url, origin)))
    const messages = clients.map((client) => once(client, 'message'))
    clients[0]?.send('hello')
    for (const [data] of await Promise.all(messages)) assert.equal(String(data), 'hello')
    const closed = clients.map((client) => once(client, 'close'))
    assert.deepEqual(await service.close(), { connections: 0, actions: 0 })
    for (const [code] of await Promise.all(closed)) assert.equal(code, 1001)
  })

  it('ends them in each worker of the program too', async (t) => {
    const app = join(writeRecipes(t), 'websockets.js')
    const args = ['--port=0', '--workers=2', '--close-timeout-ms=600000', '--app', app]
    const server = new ServerProcess(t, args)
    const origin = await server.url()
    const clients = await Promise.all([1, 2, 3].map(() => connected(chatOf(origin), origin)))
    for (const client of clients) {
      client.send('hello')
      assert.equal(String((await once(client, 'message'))[0]), 'hello')
    }
    const closed = clients.map((client) => once(client, 'close'))
    server.child.kill('SIGTERM')
    for (const [code] of await Promise.all(closed)) assert.equal(code, 1001)
    assert.equal((await server.ended).code, 0)
  })

  it('ends a client that does not read what the others send, or the answers to its pings', async (t) => {
    const { service, url, origin } = await startWebSockets(t)
    const isAlone = async (): Promise<void> => {
      for (;;) {
        const count = await promisify(service.server.getConnections.bind(service.server))()
        if (count === 1) return
        await setTimeout(20)
      }
    }
    const client = await connected(url, origin)
    const stalled = await connected(url, origin)
    stalled.pause()
    for (let i = 0; i < 300; i++) {
      client.send('x'.repeat(60_000))
      await once(client, 'message')
    }
    await isAlone()
    const pinging = await connected(url, origin)
    pinging.on('error', () => {}).pause()
    for (let i = 0; i < 150_000 && pinging.readyState === WebSocket.OPEN; i++) {
      pinging.ping('x'.repeat(125))
      if (i % 1_000 === 0) await setTimeout(1)
    }
    await isAlone()
    assert.equal(client.readyState, WebSocket.OPEN)
  })

  it('rejects another path, and a page of another origin', async (t) => {
    const { url, origin } = await startWebSockets(t)
    assert.equal(await statusOf(`${url}x`, origin), 403)
    assert.equal(await statusOf(url, 'https://other.example'), 403)
  })

  it('closes the connection of a rejected upgrade, although the client keeps its side open', async (t) => {
    const { service } = await startWebSockets(t)
    const port = Number(new URL(service.url).port)
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    t.after(() => socket.destroy())
    socket.write('GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    socket.resume()
    await once(socket, 'end')
    const connections = promisify(service.server.getConnections.bind(service.server))
    while ((await connections()) > 0) await setTimeout(5)
  })

  it('ends a client that answers no ping', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const { url, origin } = await startWebSockets(t)
    const answering = await connected(url, origin)
    const silent = await connected(url, origin)
    silent.pause()
    const closed = once(silent, 'close')
    for (let i = 0; i < 3; i++) {
      t.mock.timers.tick(15_000)
      await once(answering, 'ping')
      // The server has got the pong before it sends the message back.
      answering.send('x')
      await once(answering, 'message')
    }
    silent.resume()
    await closed
    assert.equal(answering.readyState, WebSocket.OPEN)
  })
})

async function startWebSockets(
  t: TestContext,
): Promise<{ readonly service: Service; readonly url: string; readonly origin: string }> {
  const { started } = await importRecipe(t, 'websockets.js')
  const { service } = await startServing(t, new FrontController())
  Reflect.apply(started as () => void, undefined, [service])
  return { service, url: chatOf(service.url), origin: service.url }
}

function chatOf(origin: string): string {
  return `${origin.replace('http', 'ws')}/chat`
}

async function connected(url: string, origin: string): Promise<WebSocket> {
  const client = new WebSocket(url, { origin })
  await once(client, 'open')
  return client
}

async function statusOf(url: string, origin: string): Promise<number> {
  const client = new WebSocket(url, { origin })
  const opened = once(client, 'open').then(() => assert.fail('The WebSocket is open'))
  const [, response] = await Promise.race([once(client, 'unexpected-response'), opened])
  response.resume()
  return response.statusCode
}

describe('The recipe for versions', () => {
  it('sends the version that the client accepts', async (t) => {
    const { url } = await serveRecipe(t, 'versions.js')
    const typeOf = async (accept: string): Promise<unknown> => {
      const { status, headers } = await send(`${url}/news`, { headers: { accept } })
      assert.match(String(headers.vary), /\bAccept\b/)
      return status === 200 ? headers['content-type'] : status
    }
    assert.equal(await typeOf('application/vnd.news.v1+json'), 'application/vnd.news.v1+json')
    assert.equal(await typeOf('*/*'), 'application/vnd.news.v2+json')
    assert.equal(await typeOf('text/html'), 406)
  })
})

describe('The recipe for translations', () => {
  it('chooses the language by cookie, then by Accept-Language', async (t) => {
    const { url } = await serveRecipe(t, 'translations.js')
    const textOf = async (n: number, headers: Record<string, string> = {}): Promise<string> =>
      (await send(`${url}/cart?n=${n}`, { headers })).text
    assert.equal(await textOf(1), '1 book in your cart')
    assert.equal(
      await textOf(1234, { 'accept-language': 'xx, en-GB;q=0.8' }),
      '1,234 books in your cart',
    )
    assert.equal(
      await textOf(1234, { 'accept-language': 'de-AT,de;q=0.9' }),
      '1.234 Bücher im Korb',
    )
    assert.equal(
      await textOf(1, { 'accept-language': 'en', cookie: 'language=de' }),
      '1 Buch im Korb',
    )
    assert.equal(await textOf(2, { 'accept-language': '__proto__' }), '2 books in your cart')
  })
})

describe('The recipe for security headers', () => {
  it('sets them on successes and errors', async (t) => {
    const { url } = await serveRecipe(t, 'security-headers.js')
    for (const path of ['/news', '/none']) {
      const { headers } = await send(url + path)
      assert.match(String(headers['content-security-policy']), /default-src/)
      assert.equal(headers['strict-transport-security'], 'max-age=31536000')
    }
  })
})

describe('The recipe for cross-site forms', () => {
  it('rejects a form of another site', async (t) => {
    const { url } = await serveRecipe(t, 'same-origin.js')
    const statusOf = async (site: string): Promise<number> =>
      (await send(`${url}/account/close`, { method: 'POST', headers: { 'sec-fetch-site': site } }))
        .status
    assert.equal(await statusOf('same-origin'), 303)
    assert.equal(await statusOf('cross-site'), 403)
    assert.match((await send(`${url}/account`)).text, /^<form/)
  })
})

describe('The recipe for arrays in forms', () => {
  it('reads names with brackets', async (t) => {
    const { url } = await serveRecipe(t, 'nested.js')
    const form = 'tags[]=a&tags[]=b&user[name]=Ada'
    const { text } = await send(`${url}/users/save`, { form })
    assert.deepEqual(JSON.parse(text), { tags: ['a', 'b'], user: { name: 'Ada' } })
  })
})

describe('The recipe for JSON bodies', () => {
  it('validates the body', async (t) => {
    const { url } = await serveRecipe(t, 'json.js')
    const headers = { 'content-type': 'application/json' }
    const save = (body: string): Promise<Received> =>
      send(`${url}/articles/save`, { body, headers })
    const { status, text } = await save('{"title":"A"}')
    assert.deepEqual([status, JSON.parse(text)], [201, { title: 'A', tags: [] }])
    const rejected = await save('{"title":""}')
    assert.equal(rejected.status, 400)
    assert.equal(JSON.parse(rejected.text).errors[0].field, 'title')
  })
})

describe('The recipe for middlewares', () => {
  it('runs helmet and compression before the front controller', async (t) => {
    const { url } = await serveRecipe(t, 'middlewares.js')
    const { status, headers, bytes } = await send(`${url}/news`, {
      headers: { 'accept-encoding': 'gzip' },
    })
    assert.equal(status, 200)
    assert.equal(headers['content-encoding'], 'gzip')
    assert.match(String(headers['content-security-policy']), /default-src/)
    assert.equal(gunzipSync(bytes).toString(), 'news '.repeat(1_000))
  })
})
