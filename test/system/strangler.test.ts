import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { fetch, request } from 'undici'
import { type ErrorReport, FrontController, type Handler, serve } from '../../lib/index.ts'
import { deferred } from '../support/deferred.ts'
import { startExample } from '../support/example.ts'
import { exchange, listening, parse, send } from '../support/http.ts'
import { repositoryFile } from '../support/repository.ts'

const hasPhp = spawnSync('php', ['-v']).error === undefined

describe('The strangler, before PHP', { skip: hasPhp ? false : 'there is no php here' }, () => {
  let php: Php
  before(async () => {
    php = await startPhp()
  })
  after(() => php.stop())

  it('answers what has moved, with parameters and a form, and hands over all else', async (t) => {
    const url = await startStrangler(t, php.url)
    assert.deepEqual(await json(`${url}/news/list/page/2`), { answeredBy: 'Portico', page: '2' })
    const form = new URLSearchParams({ title: 'A & B' })
    const saved = await json(`${url}/news/save`, { method: 'POST', body: form })
    assert.deepEqual(saved, { answeredBy: 'Portico', title: 'A & B' })
    for (const path of ['/', '/newsroom', '/News/list', '/n%65ws', '/error/error', '/index/news']) {
      assert.equal((await json(`${url}${path}`)).answeredBy, 'PHP', path)
    }
    const missing = await fetch(`${url}/news/missing`)
    assert.equal(missing.status, 404)
    assert.match(await missing.text(), /Action \\?"missing\\?" does not exist/)
  })

  it('passes on the target byte for byte', async (t) => {
    const port = portOf(await startStrangler(t, php.url))
    for (const target of [
      '/account//list/./x',
      '/account/%E4%zz%00/..%2f?a=%E4&b[]=1&b[]=2&c=%zz&&=',
      "/account/a+b;c=d,e'()?q=1?2&x=[]{}|^",
      `/account?${'long='.padEnd(7_000, 'x')}`,
    ]) {
      const { status, body } = parse(await send(port, getAs(target, 'old.example:81')))
      assert.equal(status, 200, target)
      const told = JSON.parse(unchunked(body))
      assert.equal(Buffer.from(told.target, 'hex').toString('latin1'), target)
    }
  })

  it('passes on bodies as they are: forms in any charset, JSON, and more than fits a form here', async (t) => {
    const url = await startStrangler(t, php.url)
    for (const [type, body] of [
      ['application/x-www-form-urlencoded', Buffer.from('name=sch%F6n&a[]=1&a[]=2')],
      ['application/x-www-form-urlencoded; charset=iso-8859-1', Buffer.from('a=\xf6', 'latin1')],
      ['application/json', Buffer.from('{"a":"\u{1f600}"}')],
      ['text/plain', randomBytes(3_000_000)],
    ] as const) {
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const options = { method, body, headers: { 'Content-Type': type } }
        const told = await json(`${url}/account/save`, options)
        assert.equal(told.method, method)
        assert.ok(Buffer.from(told.body, 'base64').equals(body), `${method} ${type}`)
      }
    }
    const told = await json(`${url}/account`, { method: 'POST', body: 'a=1', headers: FORM })
    assert.deepEqual(told.form, { a: '1' })
  })

  it('streams an upload', async (t) => {
    const url = await startStrangler(t, php.url)
    const bytes = randomBytes(2_000_000)
    const form = new FormData()
    form.set('title', 'Ü')
    form.set('file', new Blob([bytes]), 'photo.jpg')
    // Without a length: fetch sends it in chunks.
    const multipart = new Response(form)
    const told = await json(`${url}/account/upload`, {
      method: 'POST',
      body: multipart.body,
      duplex: 'half',
      headers: { 'Content-Type': multipart.headers.get('content-type') },
    })
    assert.deepEqual(told, {
      name: 'photo.jpg',
      size: bytes.length,
      error: 0,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      fields: { title: 'Ü' },
    })
  })

  it('passes on cookies, each on its line, and redirects as they are', async (t) => {
    const url = await startStrangler(t, php.url)
    const told = await json(`${url}/account`, { headers: { Cookie: 'a=1; b=x%20y' } })
    assert.deepEqual(told.cookies, { a: '1', b: 'x y' })

    const headers = [['Host', 'www.example:8080']] as const
    const login = await exchange(portOf(url), { target: '/account/login', headers: [...headers] })
    assert.equal(login.status, 400, 'two Host lines are refused, and not handed over')

    const answer = await send(portOf(url), getAs('/account/login', 'www.example:8080'))
    const { status, rawHeaders } = parse(answer)
    assert.equal(status, 303)
    assert.match(rawHeaders, /^location: \/\/www\.example:8080\/account\?from=login&to=%2Fnews$/im)
    assert.deepEqual(rawHeaders.match(/(?<=^set-cookie: ).*$/gim), [
      'session=abc%20def; path=/; HttpOnly',
      'theme=dark',
    ])
  })

  it('tells of the client, whatever the client says of itself', async (t) => {
    const url = await startStrangler(t, php.url)
    const { host } = new URL(url)
    const lines = [
      ...[`GET /account HTTP/1.1`, `Host: ${host}`, 'Connection: close, X-Hop', 'X-Hop: secret'],
      ...['X-Forwarded-For: 6.6.6.6', 'X-Forwarded-Proto: https', 'Forwarded: for=6.6.6.6'],
      ...['TE: trailers', 'Proxy-Authorization: Basic eA=='],
    ]
    const { body } = parse(await send(portOf(url), `${lines.join('\r\n')}\r\n\r\n`))
    const told: Record<string, string> = JSON.parse(unchunked(body)).headers
    const seen = Object.fromEntries(
      Object.entries(told).map(([name, value]) => [name.toLowerCase(), value]),
    )
    assert.deepEqual(
      ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'host'].map((n) => seen[n]),
      ['127.0.0.1', 'http', host, host],
    )
    for (const name of ['forwarded', 'x-hop', 'te', 'proxy-authorization']) {
      assert.equal(seen[name], undefined, name)
    }
  })

  it('passes on pages of errors, and answers without a body, as PHP gave them', async (t) => {
    const url = await startStrangler(t, php.url)
    for (const [path, status] of [
      ['/account/missing', 404],
      ['/account/broken', 500],
      ['/account/nothing', 204],
      ['/account/unchanged', 304],
    ] as const) {
      for (const method of ['GET', 'HEAD', 'POST'] as const) {
        const [there, here] = [
          await request(`${php.url}${path}`, { method }),
          await request(`${url}${path}`, { method }),
        ]
        assert.equal(here.statusCode, status, `${method} ${path}`)
        assert.equal(here.statusCode, there.statusCode)
        for (const name of ['content-type', 'etag', 'x-powered-by']) {
          assert.equal(here.headers[name], there.headers[name], `${method} ${path} ${name}`)
        }
        const [bytesThere, bytesHere] = [await there.body.bytes(), await here.body.bytes()]
        assert.deepEqual(bytesHere, bytesThere, `${method} ${path}`)
      }
    }
  })

  it('passes an answer on while it is being written', async (t) => {
    const url = await startStrangler(t, php.url)
    const { body } = await request(`${url}/account/slow`)
    const chunks: string[] = []
    for await (const chunk of body) chunks.push(String(chunk))
    assert.equal(chunks.join(''), 'first\nsecond\nthird\n')
    assert.ok(chunks.length >= 3, `${chunks.length} pieces`)
  })

  it('lets PHP know that the client has gone', async (t) => {
    const url = await startStrangler(t, php.url)
    const folder = await mkdtemp(join(tmpdir(), 'portico-'))
    t.after(() => rm(folder, { recursive: true }))
    const note = join(folder, 'note')
    const socket = connect(portOf(url), '127.0.0.1')
    socket.write(getAs(`/account/watched?note=${encodeURIComponent(note)}`, 'a'))
    await once(socket, 'data')
    socket.destroy()
    // PHP takes one request at a time: this one is answered when that one has ended.
    await json(`${php.url}/account`)
    assert.equal(await readFile(note, 'utf8'), 'aborted')
  })

  it('answers with 502 through error/error when PHP is down, and goes on with what has moved', async (t) => {
    const gone = await startPhp()
    const url = await startStrangler(t, gone.url)
    assert.equal((await json(`${url}/account`)).answeredBy, 'PHP')
    await gone.stop()
    const response = await fetch(`${url}/account/x?token=abc`, { method: 'POST', body: 'a=1' })
    assert.equal(response.status, 502)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    assert.equal((await json(`${url}/news/list`)).answeredBy, 'Portico')
  })
})

describe('createStrangler()', () => {
  it('answers 504 when the old server is late, and reports it with the names that were asked for', async (t) => {
    const { url, reports } = await strangle(t, () => {}, { timeoutMs: 50 })
    const { statusCode, body } = await request(`${url}/account/login?password=hunter22`)
    assert.equal(statusCode, 504)
    await body.dump()
    const { status, message, controller, action, params } = reports[0] as ErrorReport
    assert.deepEqual(
      [status, message, controller, action, { ...params }],
      [504, 'The old server did not answer in time', 'account', 'login', { password: 'token(8)' }],
    )
  })

  it('ends the connection under an answer that breaks off', async (t) => {
    const { url, reports } = await strangle(t, (_, out) => {
      out.writeHead(200, { 'Content-Length': '10' }).write('half', () => out.destroy())
    })
    const { body } = await request(`${url}/`)
    await assert.rejects(body.text())
    assert.equal(reports.length, 1)
  })

  it('keeps for itself what is meant for one connection', async (t) => {
    const { url } = await strangle(t, (_, out) => {
      out.writeHead(200, [
        ...['Connection', 'X-Hop'],
        ...['X-Hop', '1', 'Keep-Alive', 'timeout=9', 'Proxy-Authenticate', 'Basic'],
        ...['X-Kept', 'sch\xf6n', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'],
      ])
      out.end('whole')
    })
    const { headers, body } = await request(`${url}/`)
    assert.equal(await body.text(), 'whole')
    for (const name of ['x-hop', 'proxy-authenticate']) assert.equal(headers[name], undefined)
    assert.equal(headers['x-kept'], 'sch\xf6n')
    assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2'])
  })

  it('hands over a body while it still comes in', async (t) => {
    const arrived = deferred<string>()
    const { url } = await strangle(t, (message, out) => {
      message
        .once('data', (chunk) => arrived.resolve(String(chunk)))
        .on('end', () => out.end('all'))
    })
    async function* halves() {
      yield 'first'
      // What is waited for comes only from the old server.
      yield await arrived.promise
    }
    const { body } = await request(`${url}/`, { method: 'POST', body: Readable.from(halves()) })
    assert.equal(await body.text(), 'all')
  })

  it('says Content-Length for HEAD as the old server did', async (t) => {
    const { url } = await strangle(t, (_, out) => out.writeHead(200, { 'Content-Length': 7 }).end())
    const { headers } = await request(`${url}/`, { method: 'HEAD' })
    assert.equal(headers['content-length'], '7')
  })

  it('aborts what a client no longer waits for, and reports nothing', async (t) => {
    const [asked, aborted] = [deferred(), deferred()]
    const { url, reports } = await strangle(t, (message) => {
      asked.resolve()
      message.once('close', aborted.resolve)
    })
    const socket = connect(portOf(url), '127.0.0.1')
    socket.write(getAs('/account', 'a'))
    await asked.promise
    socket.destroy()
    await aborted.promise
    // One more way round: what was to be reported has been by then.
    assert.equal((await request(`${url}/news/list`)).statusCode, 200)
    assert.deepEqual(reports, [])
  })

  it('passes on what a proxy in front says, where there is one', async (t) => {
    const headers = { 'X-Forwarded-For': '10.1.2.3', 'X-Forwarded-Proto': 'https' }
    const { url } = await strangle(t, ECHO, { behindProxy: true })
    const { body } = await request(`${url}/`, { headers })
    const told = (await body.json()) as Record<string, string>
    assert.deepEqual([told['x-forwarded-for'], told['x-forwarded-proto']], ['10.1.2.3', 'https'])
  })

  it('hands over no message of doubtful framing, no TRACE, and no target that is no path', async (t) => {
    let asked = 0
    const { url } = await strangle(t, (_, out) => {
      asked++
      out.end()
    })
    for (const [lines, status] of [
      ['GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
      ['POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x, chunked\r\n\r\n0\r\n\r\n', 501],
      ['TRACE /news/list HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 405],
      ['OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
    ] as const) {
      assert.equal(parse(await send(portOf(url), lines)).status, status, lines)
    }
    assert.equal(asked, 0)
  })

  it('takes a controller, one of a module, or an action for moved, spelt as the router reads it', async (t) => {
    const moved = new Set(['news', 'index', 'admin/report', 'shop/index', 'user/login'])
    const { url } = await strangle(t, (_, out) => out.end('old'), { moved })
    const here = [
      '/',
      '//news',
      '/news//x',
      '/news?a',
      '/admin/report/daily',
      '/shop',
      '/user/login',
    ]
    const there = ['/admin', '/admin/users', '/shop/list', '/user', '/newsx', '/x/news', '/%6eews']
    for (const target of [...here, ...there]) {
      const { body } = parse(await send(portOf(url), getAs(target, 'a')))
      assert.equal(body.includes('old'), there.includes(target), target)
    }
  })
})

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const ECHO: RequestListener = ({ headers }, out) => out.end(JSON.stringify(headers))

interface Php {
  readonly url: string
  stop(): Promise<void>
}

async function startPhp(): Promise<Php> {
  const address = `127.0.0.1:${await freePort()}`
  const settings = ['display_errors=0', 'upload_max_filesize=16M', 'post_max_size=32M']
  const flags = settings.flatMap((setting) => ['-d', setting])
  const child = spawn('php', [...flags, '-S', address, 'examples/strangler/php/index.php'], {
    cwd: repositoryFile('.'),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    said += chunk
  })
  while (!said.includes('started')) await once(child.stderr, 'data')
  return {
    url: `http://${address}`,
    async stop() {
      child.kill()
      await once(child, 'close')
    },
  }
}

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function startStrangler(t: TestContext, oldSite: string): Promise<string> {
  return startExample(t, 'examples/strangler/server.js', { OLD_SITE: oldSite })
}

interface Strangled {
  readonly url: string
  readonly reports: ErrorReport[]
}

// Before a server that does what PHP's own would not do.
async function strangle(
  t: TestContext,
  old: RequestListener,
  options: { moved?: Set<string>; timeoutMs?: number; behindProxy?: boolean } = {},
): Promise<Strangled> {
  const reports: ErrorReport[] = []
  const news = { list() {} }
  const front = new FrontController({
    controllers: new Map([['news', news]]),
    onReport: (report) => reports.push(report),
  })
  const { createStrangler } = await import(
    pathToFileURL(repositoryFile('examples/strangler/proxy.js')).href
  )
  const origin = `http://127.0.0.1:${await listening(t, createServer(old))}`
  const strangler: Handler & { close(): Promise<void> } = createStrangler(front, {
    origin,
    moved: new Set(['news']),
    ...options,
  })
  const { url, server } = await serve(strangler, { port: 0 })
  t.after(() => {
    server.close()
    server.closeAllConnections()
    return strangler.close()
  })
  return { url, reports }
}

// biome-ignore lint/suspicious/noExplicitAny: what a test server tells, whatever it is.
async function json(url: string, options: object = {}): Promise<any> {
  const response = await fetch(url, options)
  assert.equal(response.status, 200, url)
  return response.json()
}

function getAs(target: string, host: string): string {
  return `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
}

function unchunked(body: string): string {
  const [, text] = /^[\da-f]+\r\n(.*)\r\n0\r\n\r\n$/s.exec(body) ?? []
  return text ?? body
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
