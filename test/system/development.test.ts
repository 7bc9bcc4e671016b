import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createFolder } from '../support/folder.ts'
import { exchange, type RawResponse } from '../support/http.ts'
import { ServerProcess } from '../support/server-process.ts'

const SITE = {
  'site/package.json': '{"type":"module"}',
  'site/store.js': [
    '/** Finds an article. */',
    'export function find(id) {',
    "  if (id !== '1') throw new TypeError('No article <' + id + '>')",
    '}',
    '',
  ].join('\n'),
  'site/controllers/articles.js': [
    "import { find } from '../store.js'",
    'export const index = (request, response) => response.text("all")',
    'export function view(request) {',
    "  find(request.param('id'))",
    '}',
    '',
  ].join('\n'),
  'site/controllers/error.js':
    'export function error(request, response) { response.status = 500; response.text("own") }\n',
}

describe('node server.js --env development', () => {
  it('shows the report page where the application has its own error/error', async (t) => {
    const get = await start(t, ['--env', 'development'])
    const { status, headers, body } = await get('/articles/view/id/S1-canary', 'text/html')
    assert.equal(status, 500)
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; style-src 'unsafe-inline'",
    )
    assert.match(body, /<h1>No article &lt;\[path\]&gt;<\/h1>/)
    assert.match(
      body,
      /<details open><summary><strong>find<\/strong> <code>store\.js:3:25<\/code><\/summary>.*<mark><i>3 {2}<\/i> {2}if \(id !== &#39;1&#39;\) throw new TypeError/s,
    )
    assert.match(body, /<strong>view<\/strong> <code>controllers\/articles\.js:4:3<\/code>/)
    assert.match(body, /<a href="\/articles">\/articles<\/a>/)
    assert.doesNotMatch(body, /canary|>own</)
  })

  it('sends the same facts as JSON and as text', async (t) => {
    const get = await start(t, ['--env', 'development'])
    const { development } = JSON.parse((await get('/articles/view', 'application/json')).body)
    const [{ name, file, line, excerpt }] = development.frames
    assert.deepEqual([name, file, line, excerpt[0].line], ['find', 'store.js', 3, 1])
    assert.equal(development.message, 'No article <undefined>')
    const text = (await get('/aricles/view', 'text/plain')).body
    assert.match(text, /^404 Not Found\n.*\n\nDid you mean \/articles\/view\?\n/s)
  })

  it('shows values with --show-values, but not through a proxy', async (t) => {
    const get = await start(t, ['--env', 'development', '--show-values'])
    const target = '/articles/view/id/S1-canary?<b>=<i>'
    const { body } = await get(target, 'text/html')
    assert.match(body, /<dt>&lt;b&gt;<\/dt><dd>&lt;i&gt;<\/dd><dt>id<\/dt><dd>S1-canary<\/dd>/)
    const proxied = await get(target, 'text/html', [['X-Forwarded-For', '127.0.0.1']])
    assert.match(proxied.body, /<dt>id<\/dt><dd>token\(9\)<\/dd>/)
    assert.doesNotMatch(proxied.body, /canary/)
  })
})

describe('node server.js in production', () => {
  it('runs the own error/error, and shows no code, frame or value', async (t) => {
    const get = await start(t, [])
    for (const accept of ['text/html', 'application/json', 'text/plain']) {
      for (const target of ['/articles/view/id/S1', '/nosuch', '/error/error']) {
        assert.equal((await get(`${target}?env=development`, accept)).body, 'own')
      }
    }
  })
})

type Get = (
  target: string,
  accept: string,
  headers?: readonly [string, string][],
) => Promise<RawResponse>

async function start(t: TestContext, args: readonly string[]): Promise<Get> {
  const controllers = `${createFolder(t, SITE)}/site/controllers`
  const server = new ServerProcess(t, ['--port=0', '--controllers', controllers, ...args])
  const port = await server.port()
  return (target, accept, headers = []) =>
    exchange(port, { target, headers: [['Accept', accept], ...headers] })
}
