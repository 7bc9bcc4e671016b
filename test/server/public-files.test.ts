import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import fs, {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { FrontController, HttpRequest } from '../../lib/index.ts'
import { type PublicFilesOptions, withPublicFiles } from '../../lib/server/public-files.ts'
import { StoredFile } from '../../lib/server/stored-file.ts'
import { collectReports } from '../support/collectors.ts'
import { createFolder, type Files, writeFileIn } from '../support/folder.ts'
import { createFront } from '../support/front.ts'
import { exchange, type RawResponse } from '../support/http.ts'
import { startServing } from '../support/serving.ts'

const news = {
  index: (_: unknown, response: { text(text: string): void }) => response.text('news'),
}

type Fetch = (
  target: string,
  headers?: Record<string, string>,
  method?: string,
) => Promise<RawResponse>

/** Serves a folder with these files in front of a controller `news`. */
async function serveFolder(
  t: TestContext,
  files: Files,
  options?: PublicFilesOptions,
): Promise<{ folder: string; fetch: Fetch; port: number }> {
  const folder = createFolder(t, files)
  const { port } = await startServing(t, withPublicFiles(createFront({ news }), folder, options))
  const fetch: Fetch = (target, headers = {}, method = 'GET') =>
    exchange(port, { method, target, headers: Object.entries(headers) })
  return { folder, fetch, port }
}

// Lets reading of all files fail with an error of the system, which starts with its code.
function failReading(t: TestContext, message: string): void {
  const error = Object.assign(new Error(message), { code: message.split(':')[0] })
  t.mock.method(StoredFile.prototype, 'read', () => Promise.reject(error))
}

const LARGE = 'abcdefghij'.repeat(20_000)

// Returns a date in the format of C, which has no time zone.
function asctime(date: string): string {
  const [weekday, day, month, year, time] = date.split(/,? /)
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`
}

describe('withPublicFiles', () => {
  it('sends a file, and lets the front controller respond to everything else', async (t) => {
    const { fetch } = await serveFolder(t, { 'css/site.css': 'body{}', 'a b.txt': 'blank' })
    const { status, headers, body } = await fetch('/css/site.css?v=2')
    assert.deepEqual([status, body], [200, 'body{}'])
    assert.equal(headers['content-type'], 'text/css; charset=utf-8')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['cache-control'], 'no-cache')
    assert.equal(headers['content-length'], '6')
    assert.equal((await fetch('/a%20b.txt')).body, 'blank')
    assert.equal((await fetch('/news')).body, 'news')
    assert.equal((await fetch('/css')).status, 404)
    assert.match((await fetch('/css/missing.css')).body, /Invalid controller specified \(css\)/)
  })

  it('reports which file failed, without the query string', async (t) => {
    const folder = createFolder(t, { 'img/logo.txt': 'x' })
    const { reports, onReport } = collectReports()
    const handler = withPublicFiles(createFront({ news }, { onReport }), folder)
    const { port } = await startServing(t, handler)
    failReading(t, "EIO: symbolic i/o error, open '/img/logo.txt'")
    const { status } = await exchange(port, { target: '/img/logo.txt?x=symbolic' })
    assert.equal(status, 500)
    assert.equal(reports[0]?.message, "EIO: [x] i/o error, open '/img/logo.txt'")
  })

  it('responds with 403 through the error action if a file must not be read', async (t) => {
    const folder = createFolder(t, { 'logo.txt': 'x' })
    const { reports, onReport } = collectReports()
    const { port } = await startServing(
      t,
      withPublicFiles(createFront({ news }, { onReport }), folder),
    )
    failReading(t, "EACCES: permission denied, open '/srv/public/logo.txt'")
    const { status, body } = await exchange(port, { target: '/logo.txt' })
    assert.equal(status, 403)

    assert.match(body, /The file cannot be read/)
    assert.deepEqual(
      reports.map((report) => [report.status, report.previous?.code]),
      [[403, 'EACCES']],
    )
  })

  it('does not wait for the writer of a FIFO that replaced a file', {
    timeout: 5_000,
  }, async (t) => {
    const { folder, fetch } = await serveFolder(t, { 'a.txt': LARGE, 'b.txt': LARGE })
    const file = join(folder, 'a.txt')
    assert.equal((await fetch('/a.txt')).status, 200)
    rmSync(file)
    execFileSync('mkfifo', [file])
    // Ends an open() that waits, so that a failing test can end.
    t.signal.addEventListener('abort', () => existsSync(file) && closeSync(openSync(file, 'r+')))
    assert.equal((await fetch('/a.txt')).status, 404)
    assert.equal((await fetch('/b.txt')).status, 200)
  })

  it('responds to HEAD with the same headers, for small and large files', async (t) => {
    const { fetch } = await serveFolder(t, { 'small.txt': 'abc', 'large.txt': LARGE })
    for (const target of ['/small.txt', '/large.txt']) {
      const get = await fetch(target)
      const head = await fetch(target, {}, 'HEAD')
      assert.equal(head.body, '')
      assert.deepEqual({ ...head.headers, date: '' }, { ...get.headers, date: '' })
    }
  })

  it('leaves other methods to the front controller', async (t) => {
    const { fetch } = await serveFolder(t, { news: 'a file' })
    assert.equal((await fetch('/news')).body, 'a file')
    assert.equal((await fetch('/news', {}, 'POST')).body, 'news')
  })

  it('sends 304 to a client that has the file, with ETag before Last-Modified', async (t) => {
    const { TZ } = process.env
    process.env.TZ = 'America/New_York'
    t.after(() => {
      if (TZ === undefined) delete process.env.TZ
      else process.env.TZ = TZ
    })
    const { fetch } = await serveFolder(t, { 'a.txt': 'abc', 'large.txt': LARGE })
    for (const target of ['/a.txt', '/large.txt']) {
      const { headers } = await fetch(target)
      const { etag = '', 'last-modified': modified = '' } = headers
      for (const condition of [
        { 'If-None-Match': etag },
        { 'If-None-Match': `"other", W/${etag}` },
        { 'If-None-Match': '*' },
        { 'If-Modified-Since': modified },
        { 'If-Modified-Since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
        // The obsolete formats of RFC 9110, section 5.6.7.
        { 'If-Modified-Since': 'Thursday, 31-Dec-48 00:00:00 GMT' },
        { 'If-Modified-Since': 'Fri Jan  1 00:00:00 2100' },
        { 'If-Modified-Since': asctime(modified) },
      ] as Record<string, string>[]) {
        const response = await fetch(target, condition)
        assert.equal(response.status, 304, JSON.stringify(condition))
        assert.equal(response.body, '')
        assert.equal(response.headers.etag, etag)
        assert.equal(response.headers['content-type'], undefined)
        assert.equal(response.headers['content-length'], undefined)
      }
      for (const condition of [
        { 'If-None-Match': '"other"', 'If-Modified-Since': modified },
        { 'If-Modified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
        { 'If-Modified-Since': 'Thursday, 01-Jan-70 00:00:00 GMT' },
        { 'If-Modified-Since': asctime(new Date(Date.parse(modified) - 1_000).toUTCString()) },
        { 'If-Modified-Since': '2100' },
      ] as Record<string, string>[]) {
        assert.equal((await fetch(target, condition)).status, 200, JSON.stringify(condition))
      }
    }
  })

  it('sends 412 to a client that wants another version of the file', async (t) => {
    const { fetch } = await serveFolder(t, { 'a.txt': 'abc', 'large.txt': LARGE })
    for (const target of ['/a.txt', '/large.txt']) {
      const { headers } = await fetch(target)
      const { etag = '', 'last-modified': modified = '' } = headers
      const range = { Range: 'bytes=1-' }
      for (const [status, condition] of [
        [412, { 'If-Match': '"other"' }],
        [412, { 'If-Match': `W/${etag}` }],
        [412, { 'If-Match': '"other"', 'If-Unmodified-Since': modified }],
        [412, { 'If-Match': '"other"', 'If-None-Match': etag }],
        [412, { 'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
        [206, { 'If-Match': `"other", ${etag}` }],
        [206, { 'If-Match': '*' }],
        [206, { 'If-Match': etag, 'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
        [206, { 'If-Unmodified-Since': modified }],
        [206, { 'If-Unmodified-Since': '1970' }],
      ] as [number, Record<string, string>][]) {
        const response = await fetch(target, { ...range, ...condition })
        assert.equal(response.status, status, JSON.stringify(condition))
        if (status !== 412) continue
        assert.equal(response.body, '')
        assert.equal(response.headers['cache-control'], 'no-store')
      }
    }
  })

  const ranges: [range: string, status: number, contentRange: string | undefined, body: string][] =
    [
      ['bytes=0-3', 206, 'bytes 0-3/10', '0123'],
      ['bytes=7-', 206, 'bytes 7-9/10', '789'],
      ['bytes=7-99', 206, 'bytes 7-9/10', '789'],
      ['bytes=-2', 206, 'bytes 8-9/10', '89'],
      ['bytes=-99', 206, 'bytes 0-9/10', '0123456789'],
      ['bytes=9-9', 206, 'bytes 9-9/10', '9'],
      ['bytes=10-', 416, 'bytes */10', ''],
      ['bytes=-0', 416, 'bytes */10', ''],
      ['bytes=3-2', 200, undefined, '0123456789'],
      ['bytes=-', 200, undefined, '0123456789'],
      ['bytes=0-1,3-4', 200, undefined, '0123456789'],
      ['bytes=a-b', 200, undefined, '0123456789'],
      ['lines=0-1', 200, undefined, '0123456789'],
      [`bytes=${'9'.repeat(400)}-`, 416, 'bytes */10', ''],
    ]
  for (const [range, status, contentRange, body] of ranges) {
    it(`responds to the range ${range.slice(0, 20)} with ${status}`, async (t) => {
      const { fetch } = await serveFolder(t, { 'a.txt': '0123456789' })
      const response = await fetch('/a.txt', { Range: range })
      assert.deepEqual([response.status, response.body], [status, body])
      assert.equal(response.headers['content-range'], contentRange)
      assert.equal(response.headers['content-length'], String(body.length))
    })
  }

  it('sends a range of a large file', async (t) => {
    const { fetch } = await serveFolder(t, { 'large.txt': LARGE })
    const { status, body, headers } = await fetch('/large.txt', { Range: 'bytes=100003-100007' })
    assert.deepEqual(
      [status, body, headers['content-range']],
      [206, 'defgh', 'bytes 100003-100007/200000'],
    )
  })

  it('sends the whole file if the condition of a range does not hold, and for HEAD', async (t) => {
    const { fetch } = await serveFolder(t, { 'a.txt': '0123456789' })
    const { etag = '', 'last-modified': modified = '' } = (await fetch('/a.txt')).headers
    const range = { Range: 'bytes=0-3' }
    for (const current of [etag, modified]) {
      assert.equal((await fetch('/a.txt', { ...range, 'If-Range': current })).status, 206)
    }
    for (const other of ['"other"', `W/${etag}`, 'Thu, 01 Jan 1970 00:00:00 GMT']) {
      assert.equal((await fetch('/a.txt', { ...range, 'If-Range': other })).status, 200)
    }
    assert.equal((await fetch('/a.txt', range, 'HEAD')).status, 200)
  })

  it('sends the precompressed file that the client accepts', async (t) => {
    const { folder, fetch } = await serveFolder(t, {
      'app.js': 'plain',
      'app.js.br': 'brotli',
      'app.js.gz': '',
    })
    writeFileSync(join(folder, 'app.js.gz'), gzipSync('zipped'))
    const cases: [accepted: string | undefined, encoding: string | undefined][] = [
      [undefined, undefined],
      ['gzip, deflate, br', 'br'],
      ['GZIP', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['br; q=0.5', 'br'],
      ['gzip;q=0.000, deflate', undefined],
      ['brotli', undefined],
      ['', undefined],
    ]
    const tags = new Set<string | undefined>()
    for (const [accepted, encoding] of cases) {
      const headers: Record<string, string> =
        accepted === undefined ? {} : { 'Accept-Encoding': accepted }
      const response = await fetch('/app.js', headers)
      assert.equal(response.headers['content-encoding'], encoding, String(accepted))
      assert.equal(response.headers['content-type'], 'text/javascript; charset=utf-8')
      assert.equal(response.headers.vary, 'Accept-Encoding')
      tags.add(response.headers.etag)
    }
    assert.equal(tags.size, 3)
    const { body } = await fetch('/app.js', { 'Accept-Encoding': 'gzip' })
    assert.equal(gunzipSync(Buffer.from(body, 'latin1')).toString(), 'zipped')
  })

  it('sends no precompressed file that is older than its original', async (t) => {
    const files = { 'app.js': 'new', 'app.js.br': 'old', 'app.js.gz': 'new, zipped' }
    const { folder, fetch } = await serveFolder(t, files)
    utimesSync(join(folder, 'app.js.br'), 1_000, 1_000)
    utimesSync(join(folder, 'app.js'), 2_000, 2_000)
    for (const [accepted, expected] of [
      ['br', 'new'],
      ['br, gzip', 'new, zipped'],
    ] as const) {
      assert.equal((await fetch('/app.js', { 'Accept-Encoding': accepted })).body, expected)
    }
  })

  it('sends the original if a precompressed file is not there any more, also within a second', async (t) => {
    const large = 'x'.repeat(70_000)
    const { folder, fetch } = await serveFolder(t, {
      'gone.js': large,
      'gone.js.br': large,
      'folder.js': 'plain',
      'folder.js.br': 'brotli',
      'next.js': 'plain',
      'next.js.br': 'brotli',
      'next.js.gz': 'zipped',
    })
    const accepted = { 'Accept-Encoding': 'br, gzip' }
    assert.equal((await fetch('/gone.js', accepted)).headers['content-encoding'], 'br')
    for (const name of ['gone', 'folder', 'next']) rmSync(join(folder, `${name}.js.br`))
    mkdirSync(join(folder, 'folder.js.br'))
    for (const [path, encoding, bytes] of [
      ['/gone.js', undefined, 70_000],
      ['/folder.js', undefined, 5],
      ['/next.js', 'gzip', 6],
    ] as const) {
      const { status, headers, body } = await fetch(path, accepted)
      assert.deepEqual([status, headers['content-encoding'], body.length], [200, encoding, bytes])
      assert.equal(headers.vary, 'Accept-Encoding')
    }
  })

  it('splits no header by a pattern, which may take quadratic time', async (t) => {
    const { fetch } = await serveFolder(t, { 'app.js': 'plain', 'app.js.br': 'brotli' })
    const split = t.mock.method(String.prototype, 'split')
    const accepted = `a${' '.repeat(15_000)}b, br`
    const { headers } = await fetch('/app.js', { 'Accept-Encoding': accepted })
    assert.equal(headers['content-encoding'], 'br')
    const calls = split.mock.calls.filter((call) => String(call.this).includes('    '))
    assert.deepEqual(
      calls.map((call) => typeof call.arguments[0]),
      calls.map(() => 'string'),
    )
  })

  it('reads few elements of a long Accept-Encoding', async (t) => {
    const { fetch } = await serveFolder(t, { 'app.js': 'plain', 'app.js.br': 'brotli' })
    const trim = t.mock.method(String.prototype, 'trim')
    for (const accepted of [`br${',a'.repeat(7_000)}`, `br;q=1${';a'.repeat(7_000)}`]) {
      const { headers } = await fetch('/app.js', { 'Accept-Encoding': accepted })
      assert.equal(headers['content-encoding'], 'br')
    }
    assert.ok(trim.mock.callCount() < 200, `${trim.mock.callCount()}`)
  })

  it('lists the files at the start, and sends a changed file', async (t) => {
    const { folder, fetch } = await serveFolder(t, { 'a.txt': 'old' })
    const file = join(folder, 'a.txt')
    utimesSync(file, 1_000, 1_000)
    const before = await fetch('/a.txt')
    writeFileSync(file, 'new content')
    writeFileSync(join(folder, 'b.txt'), 'later')
    assert.equal((await fetch('/b.txt')).status, 404)
    // Contents stay in memory for a second.
    let after = before
    while (after.body === 'old') after = await fetch('/a.txt')
    assert.equal(after.body, 'new content')
    assert.notEqual(after.headers.etag, before.headers.etag)
  })

  it('sends a file that was half written when it was read, and has the same time', async (t) => {
    const { folder, fetch } = await serveFolder(t, { 'a.txt': 'ha' })
    const { stat } = fs.promises
    const ctimeMs = Date.now()
    // As the coarse times of Linux before 6.13.
    t.mock.method(fs.promises, 'stat', async (file: string) =>
      Object.assign(await stat(file), { ctimeMs }),
    )
    assert.equal((await fetch('/a.txt')).body, 'ha')
    appendFileSync(join(folder, 'a.txt'), 'lf')
    const { now } = performance
    t.mock.method(performance, 'now', () => now.call(performance) + 2_000)
    t.mock.method(Date, 'now', () => ctimeMs + 2_000)
    assert.equal((await fetch('/a.txt')).body, 'half')
  })

  it('sends a file that replaced one of the same size and time', async (t) => {
    const { folder, fetch } = await serveFolder(t, { 'a.txt': 'old' })
    const file = join(folder, 'a.txt')
    utimesSync(file, 1_000, 1_000)
    assert.equal((await fetch('/a.txt')).body, 'old')
    writeFileSync(`${folder}/b.txt`, 'new')
    utimesSync(`${folder}/b.txt`, 1_000, 1_000)
    renameSync(`${folder}/b.txt`, file)
    const { now } = performance
    t.mock.method(performance, 'now', () => now.call(performance) + 2_000)
    assert.equal((await fetch('/a.txt')).body, 'new')
  })

  for (const content of ['new', LARGE]) {
    it(`sends a file of ${content.length} bytes that replaces another one while it is opened`, async (t) => {
      const { folder, fetch } = await serveFolder(t, { 'a.txt': content.replaceAll('e', 'o') })
      const { realpath } = fs.promises
      let replaced = 0
      t.mock.method(fs.promises, 'realpath', (file: string) => {
        if (replaced++ < 3) {
          writeFileSync(`${folder}/b.txt`, content)
          renameSync(`${folder}/b.txt`, file)
        }
        return realpath(file)
      })
      const { status, body } = await fetch('/a.txt')
      assert.deepEqual([status, body], [200, content])
      assert.ok(replaced > 3)
    })
  }

  it('lets the front controller respond if a file was deleted, or its path is now another', async (t) => {
    for (const [path, became] of [
      ['a.txt', undefined],
      ['a.txt', ''],
      ['a.txt', 'a.txt/b.txt'],
      ['a/a.txt', 'a'],
    ] as const) {
      const { folder, fetch } = await serveFolder(t, { [path]: 'abc' })
      rmSync(join(folder, path.split('/')[0] ?? ''), { recursive: true })
      if (became === '') symlinkSync('a.txt', join(folder, path))
      else if (became !== undefined) writeFileIn(folder, became, 'abc')
      assert.equal((await fetch(`/${path}`)).status, 404, became)
    }
  })

  it('leaves out dot files, except those of .well-known, and links that lead out', async (t) => {
    const outside = createFolder(t, { 'secret.txt': 'secret' })
    const folder = createFolder(t, {
      '.env': 'secret',
      '.git/config': 'secret',
      'css/.htpasswd': 'secret',
      'css/.well-known/a.txt': 'secret',
      '.well-known/security.txt': 'contact',
      '.well-known/.hidden': 'secret',
      'inside.txt': 'inside',
    })
    symlinkSync(join(outside, 'secret.txt'), join(folder, 'leak.txt'))
    symlinkSync(outside, join(folder, 'leak'))
    symlinkSync('inside.txt', join(folder, 'link.txt'))
    symlinkSync('.env', join(folder, 'env.txt'))
    symlinkSync('.git', join(folder, 'git'))
    symlinkSync('css/.well-known', join(folder, 'known'))
    symlinkSync('.', join(folder, 'self'))
    symlinkSync('nothing', join(folder, 'nothing.txt'))
    const front = withPublicFiles(createFront({}), folder)
    const statusOf = async (target: string): Promise<number> =>
      (await front.handle(new HttpRequest({ target }))).status
    for (const target of ['/inside.txt', '/link.txt', '/.well-known/security.txt']) {
      assert.equal(await statusOf(target), 200, target)
    }
    const hidden = [
      '.env',
      '.git/config',
      'css/.htpasswd',
      'css/.well-known/a.txt',
      '.well-known/.hidden',
    ]
    const links = [
      'leak.txt',
      'leak/secret.txt',
      'env.txt',
      'git/config',
      'known/a.txt',
      'self/inside.txt',
      'nothing.txt',
    ]
    for (const target of [...hidden, ...links]) {
      assert.equal(await statusOf(`/${target}`), 404, target)
    }
  })

  it('does not follow a link that replaced a file or its folder after the start', async (t) => {
    const outside = createFolder(t, { 'small.txt': 'secret', 'large.txt': LARGE })
    const names = ['a/small.txt', 'a/large.txt', 'b/small.txt', 'b/large.txt']
    const files = Object.fromEntries(names.map((name) => [name, 'public']))
    const { folder, fetch } = await serveFolder(t, files)
    rmSync(join(folder, 'a'), { recursive: true })
    symlinkSync(outside, join(folder, 'a'))
    for (const name of ['small.txt', 'large.txt']) {
      rmSync(join(folder, 'b', name))
      symlinkSync(join(outside, name), join(folder, 'b', name))
    }
    for (const name of names) {
      for (const method of ['GET', 'HEAD']) {
        assert.equal((await fetch(`/${name}`, {}, method)).status, 404, `${method} ${name}`)
      }
    }
  })

  it('does not follow a link that replaced a file after it was sent', async (t) => {
    const outside = createFolder(t, { 'large.txt': LARGE })
    const { folder, fetch } = await serveFolder(t, { 'large.txt': `${LARGE}.` })
    assert.equal((await fetch('/large.txt')).status, 200)
    rmSync(join(folder, 'large.txt'))
    symlinkSync(join(outside, 'large.txt'), join(folder, 'large.txt'))
    assert.equal((await fetch('/large.txt')).status, 404)
  })

  it('finds nothing outside of the folder in 400 spellings of a traversal', async (t) => {
    const { port } = await serveFolder(t, {
      'site/a.txt': 'public',
      'a.txt': 'public',
      '_-9': 'public',
    })
    const dots = [
      '..',
      '%2e%2e',
      '.%2e',
      '%2e.',
      '%252e%252e',
      '..%00',
      '%c0%ae%c0%ae',
      '．．',
      '....',
      '..;',
      '\\..',
    ]
    const slashes = ['/', '%2f', '%5c', '\\', '//', '/./', '%252f', '%c0%af', '/%2e/', '%2F%2F']
    const starts = ['/', '/site/', '//', '/a.txt/']
    const targets = starts.flatMap((start) =>
      dots.flatMap((dot) =>
        slashes.map((slash) => `${start}${dot}${slash}${dot}${slash}etc/passwd`),
      ),
    )
    assert.ok(targets.length >= 400, String(targets.length))
    for (const target of targets) {
      const { status, body } = await exchange(port, { target })
      assert.ok(status === 404 || status === 400, `${status} ${target}`)
      assert.doesNotMatch(body, /root:/)
    }
    for (const target of [
      '/site/../a.txt',
      '/site//a.txt',
      '/./a.txt',
      '/site%2fa.txt',
      ...['/%61.txt', '/a%2Etxt', '/a.tx%74', '/%5f-9', '/_%2d9', '/_-%39'],
      '/a.txt/',
      '/A.TXT',
      '/a.txt%00',
    ]) {
      assert.notEqual((await exchange(port, { target })).status, 200, target)
    }
  })

  it('finds a file by a name with escapes that are necessary or usual', async (t) => {
    const names = ['a b', 'ä', '@', '[', '`', '{', '~', '^', ':', '?', '%']
    const files = Object.fromEntries(names.map((name, i) => [`${name}.txt`, `${i}`]))
    const { fetch } = await serveFolder(t, files)
    for (const [i, name] of names.entries()) {
      const bytes = Buffer.from(name).toString('hex').replace(/../g, '%$&')
      const target = `/${bytes.replace(/%6[12]/g, (each) => decodeURIComponent(each))}.txt`
      assert.equal((await fetch(target)).body, `${i}`, target)
    }
  })

  it('opens no file for a response with an invalid Cache-Control', async (t) => {
    const open = t.mock.method(StoredFile.prototype, 'open')
    const { fetch } = await serveFolder(t, { a: LARGE }, { cacheControl: () => 'a\nb' })
    assert.equal((await fetch('/a')).status, 500)
    assert.equal(open.mock.callCount(), 0)
  })

  it('uses the base path and the function for Cache-Control', async (t) => {
    const cacheControl = (path: string): string =>
      path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
    const files = { 'assets/a.js': '1', 'b.js': '2' }
    const { fetch } = await serveFolder(t, files, { cacheControl, basePath: '/app' })
    assert.match((await fetch('/app/assets/a.js')).headers['cache-control'] ?? '', /immutable/)
    assert.equal((await fetch('/app/b.js')).headers['cache-control'], 'no-cache')
    assert.equal((await fetch('/b.js')).status, 404)
  })

  it('adds the headers of the option, but overrides none of its own', async (t) => {
    const headers = { 'X-Frame-Options': 'DENY', 'cache-control': 'no-store', ETag: '"0"' }
    const { fetch } = await serveFolder(t, { 'a.txt': 'a' }, { headers })
    const file = await fetch('/a.txt')
    assert.equal(file.headers['x-frame-options'], 'DENY')
    assert.equal(file.headers['cache-control'], 'no-cache')
    assert.notEqual(file.headers.etag, '"0"')
    const current = await fetch('/a.txt', { 'If-None-Match': file.headers.etag ?? '' })
    assert.deepEqual([current.status, current.headers['x-frame-options']], [304, 'DENY'])
    assert.equal((await fetch('/news')).headers['x-frame-options'], undefined)
    assert.throws(
      () => withPublicFiles(createFront({}), '.', { headers: { 'Content-Length': 1 } }),
      TypeError,
    )
  })

  it('keeps no more in memory than its limit if many files are first requested at once', async (t) => {
    const names = Array.from({ length: 20 }, (_, i) => `${i}.txt`)
    const folder = createFolder(
      t,
      Object.fromEntries(names.map((name) => [name, 'x'.repeat(65_000)])),
    )
    const limit = 33_554_432
    // Room for two of the files.
    const cache = { bytes: limit - 150_000 }
    const files = names.map((name) => new StoredFile(join(folder, name), '', cache))
    const states = await Promise.all(files.map((file) => file.read()))
    assert.equal(states.filter(({ content }) => content !== undefined).length, 2)
    assert.equal(cache.bytes, limit - 20_000)
  })

  it('streams a file of 1 GB in constant memory', async (t) => {
    const { folder, port } = await serveFolder(t, { 'huge.bin': '' })
    truncateSync(join(folder, 'huge.bin'), 2 ** 30)
    assert.equal(statSync(join(folder, 'huge.bin')).size, 2 ** 30)
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /huge.bin HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    let received = 0
    let maxBytes = 0
    const before = process.memoryUsage().rss
    socket.on('data', ({ length }) => {
      received += length
      maxBytes = Math.max(maxBytes, process.memoryUsage.rss() - before)
    })
    await once(socket, 'close')
    assert.ok(received > 2 ** 30, String(received))
    assert.ok(maxBytes < 128 * 2 ** 20, `${maxBytes} bytes`)
  })

  it('sends an empty file', async (t) => {
    const { fetch } = await serveFolder(t, { 'empty.txt': '' })
    const { status, body, headers } = await fetch('/empty.txt')
    assert.deepEqual([status, body, headers['content-length']], [200, '', '0'])
    assert.equal((await fetch('/empty.txt', { Range: 'bytes=0-' })).status, 416)
  })

  it('names a folder that cannot be read', () => {
    assert.throws(() => withPublicFiles(new FrontController(), '/nonexistent'), {
      message: `The folder of public files "/nonexistent" can't be read: ENOENT`,
    })
  })

  it('serves a file of its own for a middleware', (t) => {
    const folder = createFolder(t, { 'a.txt': 'abc' })
    const handler = withPublicFiles(createFront({ news }), folder)
    const serves = (target: string): boolean | undefined =>
      handler.serves?.(new HttpRequest({ target }))
    assert.deepEqual(['/a.txt', '/news', '/missing'].map(serves), [true, true, false])
  })
})
