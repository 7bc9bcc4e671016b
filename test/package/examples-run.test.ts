import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { fetch } from 'undici'
import { commandOf, startExample } from '../support/examples.ts'
import { startNode } from '../support/run-node.ts'

// Each by the command in its first line; the strangler before a real PHP is in strangler.test.ts.
describe('The example', () => {
  it('hello says hello', async (t) => {
    const url = await startExample(t, 'examples/hello/server.js')
    const response = await fetch(`${url}/hello/world/name/Ada`)
    assert.equal(await response.text(), 'Hello, Ada!\n')
  })

  it('hello.test.js passes, and has tests', async (t) => {
    const [, ...args] = (await commandOf('examples/hello/hello.test.js')).split(' ')
    const child = startNode(t, args)
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (chunk) => {
      output += chunk
    })
    const [code] = await once(child, 'close')
    assert.equal(code, 0, output)
    assert.match(output, /pass 3/)
  })

  it('news site lists, shows and saves articles, and has an error page of its own', async (t) => {
    const url = await startExample(t, 'examples/controllers/index.js')
    const list = await json(`${url}/`)
    assert.deepEqual(list, await json(`${url}/news/list`))
    assert.equal(list.articles.length, 2)

    const body = new URLSearchParams({ title: 'A third one', body: 'Saved' })
    const saved = await fetch(`${url}/news/save`, { method: 'POST', body })
    assert.equal(saved.url, `${url}/news/view/id/3`)
    assert.deepEqual(await saved.json(), { id: '3', title: 'A third one', body: 'Saved' })

    assert.deepEqual(await json(`${url}/admin/report`), { reports: ['daily'] })
    const missing = await json(`${url}/signin/v2/identifier?dsh=secret`, 404)
    assert.equal(missing.type, 'EXCEPTION_NO_CONTROLLER')
  })

  it('strangler answers what has moved, and says that the old server is down', async (t) => {
    const url = await startExample(t, 'examples/strangler/server.js', {
      // The discard port: nobody listens there.
      OLD_SITE: 'http://127.0.0.1:9',
    })
    assert.deepEqual(await json(`${url}/news/list`), { answeredBy: 'Portico', page: '1' })
    assert.equal(
      (await json(`${url}/account`, 502)).detail,
      'The server failed to answer this request.',
    )
  })
})

// biome-ignore lint/suspicious/noExplicitAny: what an example tells, whatever it is.
async function json(url: string, status = 200): Promise<any> {
  const response = await fetch(url)
  assert.equal(response.status, status, url)
  return response.json()
}
