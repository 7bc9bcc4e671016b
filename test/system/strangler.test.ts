import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { fetch, request } from 'undici'
import { type ErrorReport, type Handler, HttpRequest, serve } from '../../lib/index.ts'
import { collectReports } from '../support/collectors.ts'
import { deferred } from '../support/deferred.ts'
import { startExample } from '../support/examples.ts'
import { createFolder } from '../support/folder.ts'
import { createFront } from '../support/front.ts'
import { exchange, listening, parse, send } from '../support/http.ts'
import { findFreePorts } from '../support/ports.ts'
import { repositoryFile } from '../support/repository.ts'
import { portOf } from '../support/serving.ts'
import { settled } from '../support/wire.ts'

const hasPhp = spawnSync('php', ['-v']).error === undefined

describe('The strangler in front of PHP', { skip: hasPhp ? false : 'php is not installed' }, () => {
  let php: Php
  before(async () => {
    php = await startPhp()
  })
  after(() => php.stop())

  it('serves what has moved, with parameters and a form, and passes on everything else', async (t) => {
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

  it('passes on the request target byte for byte', async (t) => {
    const port = portOf(await startStrangler(t, php.url))
    for (const target of [
      '/account//list/./x',
      '/account/%E4%zz%00/..%2f?a=%E4&b[]=1&b[]=2&c=%zz&&=',
      "/account/a+b;c=d,e'()?q=1?2&x=[]{}|^",
      `/account?${'long='.padEnd(7_000, 'x')}`,
    ]) {
      const { status, body } = parse(await send(port, getAs(target, 'old.example:81')))
      assert.equal(status, 200, target)
      const seen = JSON.parse(unchunked(body))
      assert.equal(Buffer.from(seen.target, 'hex').toString('latin1'), target)
    }
  })

  it('passes on bodies unchanged: forms in any charset, JSON, and bodies above the limit of a form', async (t) => {
    const url = await startStrangler(t, php.url)
    for (const [type, body] of [
      ['application/x-www-form-urlencoded', Buffer.from('name=sch%F6n&a[]=1&a[]=2')],
      ['application/x-www-form-urlencoded; charset=iso-8859-1', Buffer.from('a=\xf6', 'latin1')],
      ['application/json', Buffer.from('{"a":"\u{1f600}"}')],
      ['text/plain', randomBytes(3_000_000)],
    ] as const) {
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const options = { method, body, headers: { 'Content-Type': type } }
        const seen = await json(`${url}/account/save`, options)
        assert.equal(seen.method, method)
        assert.ok(Buffer.from(seen.body, 'base64').equals(body), `${method} ${type}`)
      }
    }
    const seen = await json(`${url}/account`, { method: 'POST', body: 'a=1', headers: FORM })
    assert.deepEqual(seen.form, { a: '1' })
  })

  it('streams an upload', async (t) => {
    const url = await startStrangler(t, php.url)
    const bytes = randomBytes(2_000_000)
    const form = new FormData()
    form.set('title', 'Ü')
    form.set('file', new Blob([bytes]), 'photo.jpg')
    // Without Content-Length: fetch sends the body in chunks.
    const multipart = new Response(form)
    const seen = await json(`${url}/account/upload`, {
      method: 'POST',
      body: multipart.body,
      duplex: 'half',
      headers: { 'Content-Type': multipart.headers.get('content-type') },
    })
    assert.deepEqual(seen, {
      name: 'photo.jpg',
      size: bytes.length,
      error: 0,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      fields: { title: 'Ü' },
    })
  })

  it('passes on redirects unchanged, and each cookie in its own line', async (t) => {
    const url = await startStrangler(t, php.url)
    const seen = await json(`${url}/account`, { headers: { Cookie: 'a=1; b=x%20y' } })
    assert.deepEqual(seen.cookies, { a: '1', b: 'x y' })

    const headers = [['Host', 'www.example:8080']] as const
    const login = await exchange(portOf(url), { target: '/account/login', headers: [...headers] })
    assert.equal(login.status, 400, 'two Host lines are rejected, and not passed on')

    const received = await send(portOf(url), getAs('/account/login', 'www.example:8080'))
    const { status, rawHeaders } = parse(received)
    assert.equal(status, 303)
    assert.match(rawHeaders, /^location: \/\/www\.example:8080\/account\?from=login&to=%2Fnews$/im)
    assert.deepEqual(rawHeaders.match(/(?<=^set-cookie: ).*$/gim), [
      'session=abc%20def; path=/; HttpOnly',
      'theme=dark',
    ])
  })

  it('passes on the address of the client, and ignores forwarded headers of the client', async (t) => {
    const url = await startStrangler(t, php.url)
    const { host } = new URL(url)
    const lines = [
      ...[`GET /account HTTP/1.1`, `Host: ${host}`, 'Connection: close, X-Hop', 'X-Hop: secret'],
      ...['X-Forwarded-For: 6.6.6.6', 'X-Forwarded-Proto: https', 'Forwarded: for=6.6.6.6'],
      ...['TE: trailers', 'Proxy-Authorization: Basic eA=='],
    ]
    const { body } = parse(await send(portOf(url), `${lines.join('\r\n')}\r\n\r\n`))
    const headers: Record<string, string> = JSON.parse(unchunked(body)).headers
    const seen = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    )
    assert.deepEqual(
      ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'host'].map((n) => seen[n]),
      ['127.0.0.1', 'http', host, host],
    )
    for (const name of ['forwarded', 'x-hop', 'te', 'proxy-authorization']) {
      assert.equal(seen[name], undefined, name)
    }
  })

  it('passes on no header that PHP would read as another one, or as the path', async (t) => {
    const url = await startStrangler(t, php.url)
    const names = [
      ...['X-Original-URL', 'X-Rewrite-URL', 'Proxy', 'Client-IP', 'X-Real-IP', 'X-Forwarded-Port'],
      ...['Remote-Addr', 'Remote-User', 'X-Client', 'X-Coming-From', 'X-Scheme', 'CF-Visitor'],
      ...['X_Forwarded_For', 'X.Forwarded.For', 'X_Original_URL', 'X_Any', 'Content.Length'],
    ]
    const lines = ['GET /account HTTP/1.1', 'Host: a', 'Connection: close', 'X-Kept-2: kept']
    const canaries = names.map((name) => `${name}: /canary`)
    const bytes = `${[...lines, ...canaries].join('\r\n')}\r\n\r\n`
    const { body } = parse(await send(portOf(url), bytes))
    const { headers, variables } = JSON.parse(unchunked(body))
    for (const seen of [headers, variables]) {
      assert.doesNotMatch(JSON.stringify(seen), /canary/)
      assert.match(JSON.stringify(seen), /kept/)
    }
    assert.equal(variables.HTTP_X_FORWARDED_FOR, '127.0.0.1')
  })

  it('passes on error pages, and responses without a body, unchanged', async (t) => {
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

  it('passes on a response while PHP writes it', async (t) => {
    const url = await startStrangler(t, php.url)
    const { body } = await request(`${url}/account/slow`)
    const chunks: string[] = []
    for await (const chunk of body) chunks.push(String(chunk))
    assert.equal(chunks.join(''), 'first\nsecond\nthird\n')
    assert.ok(chunks.length >= 3, `${chunks.length} pieces`)
  })

  it('closes the connection to PHP when the client closes its connection', async (t) => {
    const url = await startStrangler(t, php.url)
    const note = join(createFolder(t), 'note')
    const socket = connect(portOf(url), '127.0.0.1')
    socket.write(getAs(`/account/watched?note=${encodeURIComponent(note)}`, 'a'))
    await once(socket, 'data')
    socket.destroy()
    // PHP serves one request at a time: it responds to this one after the other has ended.
    await json(`${php.url}/account`)
    assert.equal(await readFile(note, 'utf8'), 'aborted')
  })

  it('responds with a 502 through error/error when PHP is down, and serves what has moved', async (t) => {
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
  it('responds with a 504 when the old server is late, and reports it with the requested names', async (t) => {
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

  it('closes the connection when the old response breaks off', async (t) => {
    const { url, reports } = await strangle(t, (_, out) => {
      out.writeHead(200, { 'Content-Length': '10' }).write('half', () => out.destroy())
    })
    const { body } = await request(`${url}/`)
    await assert.rejects(body.text())
    assert.equal(reports.length, 1)
  })

  it('passes on a response that ends with its connection, whenever the client reads it', async (t) => {
    for (const length of [1, 16_384, 65_536, 100_000, 1_000_000]) {
      const old = createTcpServer((socket) => {
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n')
          socket.end(Buffer.alloc(length, 'a'))
        })
      })
      const { strangler } = await createStranglerFor(`http://127.0.0.1:${await listening(t, old)}`)
      const { body } = await strangler.handle(new HttpRequest({ target: '/' }))
      assert.ok(body instanceof Readable)
      // The body fills its buffers, and the end of the connection may arrive behind it.
      await settled(() => body.readableLength)
      assert.equal((await buffer(body)).length, length)
    }
  })

  it('does not pass on hop-by-hop headers', async (t) => {
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

  it('passes on a header with the name of a property of all objects', async (t) => {
    const fields = ['constructor', 'a', '__proto__', 'b', 'constructor', 'c']
    const { url } = await strangle(t, (_, out) => out.writeHead(200, fields).end())
    const { rawHeaders } = parse(await send(portOf(url), getAs('/', 'a')))
    assert.match(rawHeaders, /^constructor: a(?:, |\r\nconstructor: )c\r$/m)
    assert.match(rawHeaders, /^__proto__: b\r$/m)
  })

  it('reads a target in the absolute form as its path, and its host as that of the request', async (t) => {
    const { url } = await strangle(t, ({ url, headers }, out) => {
      out.end(JSON.stringify([url, headers.host, headers['x-forwarded-host']]))
    })
    for (const target of ['http://b:81/x?a=http://c/', 'HTTPS://b:81/x?a=http://c/']) {
      const { status, body } = parse(await send(portOf(url), getAs(target, 'a')))
      assert.equal(status, 200)
      assert.deepEqual(JSON.parse(unchunked(body)), ['/x?a=http://c/', 'b:81', 'b:81'])
    }
  })

  it('passes on a body while it arrives', async (t) => {
    const arrived = deferred<string>()
    const { url } = await strangle(t, (message, out) => {
      message
        .once('data', (chunk) => arrived.resolve(String(chunk)))
        .on('end', () => out.end('all'))
    })
    async function* halves() {
      yield 'first'
      // Only the old server resolves this promise.
      yield await arrived.promise
    }
    const { body } = await request(`${url}/`, { method: 'POST', body: Readable.from(halves()) })
    assert.equal(await body.text(), 'all')
  })

  it('passes on a body in chunks with every method, and one whose length the client names in Connection', async (t) => {
    const { url } = await strangle(t, (message, out) => {
      const { method, headers } = message
      buffer(message).then((body) => out.end(JSON.stringify([method, String(body), headers])))
    })
    for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS']) {
      for (const [fields, body, length] of [
        ['Transfer-Encoding: chunked\r\nConnection: close', '3\r\na=1\r\n0\r\n\r\n', undefined],
        ['Content-Length: 3\r\nConnection: close, content-length', 'a=1', '3'],
      ]) {
        const bytes = `${method} /x HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n${body}`
        const response = parse(await send(portOf(url), bytes))
        const [sentMethod, sentBody, headers] = JSON.parse(unchunked(response.body))
        assert.deepEqual([sentMethod, sentBody], [method, 'a=1'])
        assert.equal(headers['content-length'], length)
      }
    }
  })

  it('responds to a broken body with a 400', async (t) => {
    const { url, reports } = await strangle(t, (message) => message.resume())
    const head = 'POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
    const { status } = parse(await send(portOf(url), `${head}3\r\na=1\r\nZZ\r\n`))
    assert.equal(status, 400)
    assert.deepEqual(
      reports.map(({ code }) => code),
      ['HPE_INVALID_CHUNK_SIZE'],
    )
  })

  it('closes the connection when the old server is late within its response, and reports a 504', async (t) => {
    const { url, reports } = await strangle(t, (_, out) => out.write('half'), { timeoutMs: 50 })
    const { body } = await request(`${url}/`)
    await assert.rejects(body.text())
    assert.deepEqual(
      reports.map(({ status }) => status),
      [504],
    )
  })

  it('does not give up on the old server while the client does not read', {
    timeout: 10_000,
  }, async (t) => {
    const idle = deferred()
    const chunks = Array<Buffer>(460).fill(Buffer.alloc(65_536, 'a'))
    const { url, reports } = await strangle(
      t,
      (_, out) => {
        // Emitted when the strangler has not read for twice its own limit.
        out.setTimeout(1_000, idle.resolve)
        // Not in one piece: to write that blocks both servers for up to a second on a busy machine.
        Readable.from(chunks).pipe(out)
      },
      { timeoutMs: 500 },
    )
    const socket = connect(portOf(url), '127.0.0.1').pause()
    socket.write(getAs('/', 'a'))
    await idle.promise
    assert.ok((await buffer(socket)).length > 460 * 65_536)
    assert.deepEqual(reports, [])
  })

  it('passes on Content-Length for HEAD', async (t) => {
    const { url } = await strangle(t, (_, out) => out.writeHead(200, { 'Content-Length': 7 }).end())
    const { headers } = await request(`${url}/`, { method: 'HEAD' })
    assert.equal(headers['content-length'], '7')
  })

  it('aborts the request to the old server when the client closes its connection, and reports nothing', async (t) => {
    const [requested, aborted] = [deferred(), deferred()]
    const { url, reports } = await strangle(t, (message) => {
      requested.resolve()
      message.once('close', aborted.resolve)
    })
    const socket = connect(portOf(url), '127.0.0.1')
    socket.write(getAs('/account', 'a'))
    await requested.promise
    socket.destroy()
    await aborted.promise
    // One more round trip: a report would have arrived by then.
    assert.equal((await request(`${url}/news/list`)).statusCode, 200)
    assert.deepEqual(reports, [])
  })

  it('passes on the forwarded headers of a trusted proxy', async (t) => {
    const headers = {
      ...{ 'X-Forwarded-For': '10.1.2.3', 'X-Forwarded-Proto': 'https' },
      // A proxy usually passes on these lines of a client.
      ...{ 'X-Real-IP': 'canary', 'Client-IP': 'canary', 'CF-Connecting-IP': 'canary' },
      ...{ 'X-Forwarded': 'canary', 'Forwarded-For': 'canary', Https: 'canary' },
      ...{ 'Front-End-Https': 'canary', 'X-Remote-Addr': 'canary', 'Remote-Addr': 'canary' },
      ...{
        'X-Forwarded-Port': 'canary',
        'X-Forwarded-User': 'canary',
        'X-Forwarded-Prefix': 'canary',
      },
      ...{ 'X-Original-Forwarded-For': 'canary', 'CloudFront-Forwarded-Proto': 'canary' },
      ...{ 'X-Original-URL': '/canary', Proxy: 'canary', X_Forwarded_For: 'canary' },
    }
    const { url } = await strangle(t, ECHO, { behindProxy: true })
    const { body } = await request(`${url}/`, { headers })
    const seen = (await body.json()) as Record<string, string>
    assert.deepEqual([seen['x-forwarded-for'], seen['x-forwarded-proto']], ['10.1.2.3', 'https'])
    assert.doesNotMatch(JSON.stringify(seen), /canary/)
  })

  it('keeps the headers of the proxy and of the request that the client names in Connection', async (t) => {
    const { url } = await strangle(t, ECHO, { behindProxy: true })
    const kept = {
      ...{ host: 'site.example', cookie: 'a=1', authorization: 'Basic eA==' },
      ...{ 'content-type': 'text/plain', 'x-forwarded-for': '10.1.2.3' },
    }
    const lines = Object.entries({ ...kept, 'x-hop': '1' }).map((field) => field.join(': '))
    const connection = `Connection: close, X-Hop, ${Object.keys(kept).join(', ').toUpperCase()}`
    const bytes = ['GET / HTTP/1.1', connection, ...lines, '', ''].join('\r\n')
    const { body } = parse(await send(portOf(url), bytes))
    const { connection: _, ...seen } = JSON.parse(unchunked(body))
    assert.deepEqual(seen, kept)
  })

  it('does not send its own name for a host to the old server', async (t) => {
    const { url } = await strangle(t, ECHO)
    const { body } = parse(await send(portOf(url), 'GET / HTTP/1.0\r\n\r\n'))
    assert.equal(JSON.parse(unchunked(body)).host, '')
  })

  for (const status of ['101 Other', '600 Unknown']) {
    it(`responds to the status ${status} with a 502, and closes the connection to the old server`, async (t) => {
      const old = createTcpServer((socket) => {
        socket.on('error', () => {})
        const headers = 'Upgrade: x\r\nConnection: upgrade\r\nContent-Length: 5'
        socket.once('data', () => socket.write(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\nhalf`))
      })
      const { strangler } = await createStranglerFor(`http://127.0.0.1:${await listening(t, old)}`)
      const accepted = once(old, 'connection')
      const response = await strangler.handle(new HttpRequest({ target: '/' }))
      const [socket] = await accepted
      if (!socket.closed) await once(socket.resume(), 'close')
      assert.equal(response.status, 502)
    })
  }

  it('passes on no message with ambiguous framing, no TRACE, and no target without a path', async (t) => {
    let requests = 0
    const { url } = await strangle(t, (_, out) => {
      requests++
      out.end()
    })
    for (const [lines, status] of [
      ['GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
      ['POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x, chunked\r\n\r\n0\r\n\r\n', 501],
      ['TRACE /news/list HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 405],
      ['OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 204],
    ] as const) {
      assert.equal(parse(await send(portOf(url), lines)).status, status, lines)
    }
    assert.equal(requests, 0)
  })

  it('treats a controller, a controller of a module or an action as moved, in the spelling of the router', async (t) => {
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
      ...['http://a/news/list', 'http://a', 'http://a?b'],
    ]
    const there = [
      '/admin',
      '/admin/users',
      '/shop/list',
      '/user',
      '/newsx',
      '/x/news',
      '/%6eews',
      'http://news/old',
    ]
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
  const [port] = await findFreePorts(1)
  const address = `127.0.0.1:${port}`
  const settings = ['display_errors=0', 'upload_max_filesize=16M', 'post_max_size=32M']
  const flags = settings.flatMap((setting) => ['-d', setting])
  const child = spawn('php', [...flags, '-S', address, 'examples/strangler/php/index.php'], {
    cwd: repositoryFile('.'),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    output += chunk
  })
  while (!output.includes('started')) await once(child.stderr, 'data')
  return {
    url: `http://${address}`,
    async stop() {
      child.kill()
      await once(child, 'close')
    },
  }
}

function startStrangler(t: TestContext, oldSite: string): Promise<string> {
  return startExample(t, 'examples/strangler/server.js', { OLD_SITE: oldSite })
}

interface Strangled {
  readonly url: string
  readonly reports: readonly ErrorReport[]
}

/** Starts a strangler in front of a server that does what the server of PHP does not do. */
async function strangle(
  t: TestContext,
  old: RequestListener,
  options: StranglerOptions = {},
): Promise<Strangled> {
  const origin = `http://127.0.0.1:${await listening(t, createServer(old))}`
  const { strangler, reports } = await createStranglerFor(origin, options)
  const { url, server } = await serve(strangler, { port: 0 })
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url, reports }
}

interface StranglerOptions {
  readonly moved?: Set<string>
  readonly timeoutMs?: number
  readonly behindProxy?: boolean
}

async function createStranglerFor(origin: string, options: StranglerOptions = {}) {
  const { reports, onReport } = collectReports()
  const front = createFront({ news: { list() {} } }, { onReport })
  const { createStrangler } = await import(
    pathToFileURL(repositoryFile('examples/strangler/proxy.js')).href
  )
  const settings = { origin, moved: new Set(['news']), ...options }
  const strangler: Handler = createStrangler(front, settings)
  return { strangler, reports }
}

// biome-ignore lint/suspicious/noExplicitAny: the body has the fields of its URL.
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
