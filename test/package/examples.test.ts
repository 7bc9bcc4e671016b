import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fetch, type RequestInit } from 'undici'
import { commandOf, startExample } from '../support/examples.ts'
import { repositoryFile } from '../support/repository.ts'
import { runNode } from '../support/run-node.ts'

// Each example runs with the command in its first line. test/system/strangler.test.ts runs the strangler in
// front of PHP.

const folder = 'examples/embedding'

// The requests to each example: the path, the status with the body of a 2xx response, and the body to send.
const conversations: Record<
  string,
  [path: string, expected: string, body?: RequestInit['body']][]
> = {
  'http.js': [
    ['/clock/ticks/count/2', '200 data: 1\n\ndata: 2\n\n'],
    ['/clock/shout', '200 GRÜN', 'grün'],
    ['/clock/wire', '200 {"httpVersion":"1.1"}'],
  ],
  'several.js': [
    ['/app', '200 This is the site'],
    ['/admin?a=1', '200 This is the back office'],
    ['/administration', '404'],
    ['/application', '404'],
  ],
  'express.js': [
    ['/app/news/list/page/2', '200 {"page":"2"}'],
    ['/app/news/save', '200 Saved grün', new URLSearchParams({ title: 'grün' })],
    ['/app/old', '200 Express has grün', new URLSearchParams({ title: 'grün' })],
    ['/app/old', '200 Express has undefined', ''],
    ['/application/news/list', '404'],
  ],
  'polka.js': [
    ['/app/news/list/page/2', '200 {"page":"2"}'],
    ['/app/old', '200 Polka has it'],
    ['/application/news/list', '404'],
  ],
  'fastify.js': [
    ['/app/news/list/page/2', '200 {"page":"2"}'],
    ['/app/old', '200 {"fastifyHas":"grün"}', 'grün'],
    ['/application/news/list', '404'],
  ],
}

describe(folder, { concurrency: 4 }, () => {
  it('has a conversation for each of its files', () => {
    assert.deepEqual(readdirSync(repositoryFile(folder)).sort(), Object.keys(conversations).sort())
  })

  for (const [file, requests] of Object.entries(conversations)) {
    it(`runs ${file} with the command in its first line`, async (t) => {
      assert.equal(await commandOf(`${folder}/${file}`), `node ${folder}/${file}`)
      const url = await startExample(t, `${folder}/${file}`)
      for (const [path, expected, body] of requests) {
        const init: RequestInit = body === undefined ? {} : { method: 'POST', body }
        const response = await fetch(new URL(path, url), { ...init, keepalive: false })
        const text = await response.text()
        assert.equal(response.ok ? `${response.status} ${text}` : `${response.status}`, expected)
        // A form of another site chooses the body. A browser may run it as HTML, also without a type.
        if (body === undefined) continue
        assert.doesNotMatch(response.headers.get('Content-Type') ?? 'html', /html/, path)
      }
    })
  }
})

describe('The example', { concurrency: 4 }, () => {
  it('hello says hello', async (t) => {
    const url = await startExample(t, 'examples/hello/server.js')
    const response = await fetch(`${url}/hello/world/name/Ada`)
    assert.equal(await response.text(), 'Hello, Ada!\n')
  })

  it('hello.test.js has tests that pass', async () => {
    const [, ...args] = (await commandOf('examples/hello/hello.test.js')).split(' ')
    const { code, output } = await runNode(args, repositoryFile('.'))
    assert.equal(code, 0, output)
    assert.match(output, /pass 3/)
  })

  it('news site lists, shows and saves articles, and has a custom error page', async (t) => {
    const url = await startExample(t, 'examples/controllers/index.js')
    const list = await json(`${url}/`)
    assert.deepEqual(list, await json(`${url}/news/list`))
    assert.equal(list.articles.length, 2)

    const body = new URLSearchParams({ title: 'A third one', body: 'Saved' })
    const saved = await fetch(`${url}/news/save`, { method: 'POST', body })
    assert.equal(saved.url, `${url}/news/view/id/3`)
    assert.deepEqual(await saved.json(), { id: '3', title: 'A third one', body: 'Saved' })

    assert.deepEqual(await json(`${url}/admin/report`), { reports: ['daily'] })
    const { headers } = await fetch(`${url}/admin/report/daily`)
    assert.equal(headers.get('cache-control'), 'private')
    await json(`${url}/admin/report/init`, 404)
    const missing = await json(`${url}/signin/v2/identifier?dsh=secret`, 404)
    assert.equal(missing.type, 'EXCEPTION_NO_CONTROLLER')
  })

  it('notebook is the application of the guide in TypeScript', {
    skip:
      !(process.features as { typescript?: unknown }).typescript &&
      `Node ${process.versions.node} does not run TypeScript, 22.18 does`,
  }, async (t) => {
    const url = await startExample(t, 'examples/notebook/app.ts')
    assert.match(await (await fetch(`${url}/note/1`)).text(), /Milk &amp; honey/)
    assert.equal((await fetch(`${url}/site.css`)).status, 200)
  })

  it('strangler serves what has moved, and responds with a 502 when the old server is down', async (t) => {
    const url = await startExample(t, 'examples/strangler/server.js', {
      // The discard port: no program listens there.
      OLD_SITE: 'http://127.0.0.1:9',
    })
    assert.deepEqual(await json(`${url}/news/list`), { answeredBy: 'Portico', page: '1' })
    assert.equal(
      (await json(`${url}/account`, 502)).detail,
      'The server failed to answer this request.',
    )
  })
})

// biome-ignore lint/suspicious/noExplicitAny: the body has the fields of its example.
async function json(url: string, status = 200): Promise<any> {
  const response = await fetch(url)
  assert.equal(response.status, status, url)
  return response.json()
}
