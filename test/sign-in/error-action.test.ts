import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { FrontController, type HttpRequest, type HttpResponse } from '../../lib/index.ts'
import type { SignIn } from '../../lib/sign-in.ts'
import { Browser, type Page } from '../support/browser.ts'
import { startServing } from '../support/serving.ts'
import {
  ADDRESS,
  assertPrivate,
  beginning,
  cookieNames,
  depart,
  goBack,
  ORIGIN,
  startHostileApp,
} from '../support/sign-in.ts'

type ErrorAction = (request: HttpRequest, response: HttpResponse, auth: SignIn) => unknown

const actions: Record<string, [status: number, action: ErrorAction]> = {
  'sets no header': [
    418,
    (_, response) => {
      response.status = 418
    },
  ],
  'lets caches keep its responses': [
    418,
    (_, response) => {
      response.status = 418
      response.headers.set('Cache-Control', 'public').set('Referrer-Policy', 'unsafe-url')
    },
  ],
  'fails too': [
    500,
    () => {
      throw new Error('broken')
    },
  ],
}

describe('An error action of the application', () => {
  for (const [what, [status, action]] of Object.entries(actions)) {
    it(`that ${what} changes neither the headers nor the end of a flow`, async (t) => {
      const pages = await failInTurn(t, action)
      assert.equal(pages.length, 8)
      for (const page of pages) {
        assert.equal(page.status, status)
        assertPrivate(page)
      }
    })
  }

  it('that forwards to a guarded action keeps the end of a flow', async (t) => {
    const { client, provider } = await serveWithErrorAction(t, (request) =>
      request.forward({ controller: 'index', action: 'index' }),
    )
    const back = await depart(client)
    provider.faults = { token: () => ({}) }
    await client.send(back, { site: 'cross-site', headers: { 'sec-fetch-mode': 'cors' } })
    assert.deepEqual(cookieNames(client), [])
  })

  it('can offer the link of the built-in page', async (t) => {
    const links: unknown[] = []
    await failInTurn(t, (request, _, auth) => void links.push(auth.link(request)))
    const link = { href: '/elp/oauth.php?provider=hostile', text: 'Sign in again' }
    assert.deepEqual(links, Array(8).fill(link))
  })
})

describe('The page in development', () => {
  it('shows no value of the address, but those of other requests', async (t) => {
    const options = { development: true, showValues: true }
    const { browser } = await startHostileApp(t, {}, {}, options)
    // Values are only for a browser on the same machine.
    const headers = { host: '127.0.0.1' }
    const client = browser()
    const parameters = 'state=canary-b&error_description=canary-c'
    for (const target of [
      `${ADDRESS}?provider=hostile&code=canary-a&${parameters}`,
      `${ADDRESS}?provider=nobody&${parameters}`,
    ]) {
      const page = await client.send(target, { headers })
      assert.match(page.body, /error_description/)
      assert.doesNotMatch(page.body, /canary/)
    }
    const deleted = await client.send(`${ADDRESS}?${parameters}`, { method: 'DELETE', headers })
    assert.equal(deleted.status, 405)
    assert.doesNotMatch(deleted.body, /canary/)
    const other = await client.send(`${ORIGIN}/nobody?text=shown`, { headers })
    assert.match(other.body, /shown/)
  })
})

/**
 * Returns the responses to an unknown provider, an unknown state, a failed return, a forged sign-out, wrong methods, a form that is
 * too large, and a request that the guard rejects.
 */
async function failInTurn(t: TestContext, action: ErrorAction): Promise<Page[]> {
  const { client, provider } = await serveWithErrorAction(t, action)
  const back = await depart(client)
  provider.faults = { token: () => ({}) }
  const pages = [
    await client.send(beginning('nobody')),
    await goBack(client, new URL(`${ADDRESS}?provider=hostile&code=a&state=b`)),
    await goBack(client, back),
    await client.send(`${ORIGIN}/elp/sign-out`, { method: 'POST', site: 'cross-site' }),
    await client.send(beginning(), { method: 'DELETE' }),
    await client.send(`${ORIGIN}/elp/sign-out`),
    await client.send(`${ORIGIN}/elp/sign-out`, { form: { continue: 'x'.repeat(200) } }),
    await client.send(`${ORIGIN}/index/index`, { headers: { 'sec-fetch-mode': 'cors' } }),
  ]
  assert.deepEqual(cookieNames(client), [])
  return pages
}

// Guards the controller `index`.
async function serveWithErrorAction(t: TestContext, action: ErrorAction) {
  const { auth, provider } = await startHostileApp(t)
  const error = (request: HttpRequest, response: HttpResponse) => action(request, response, auth)
  const front = new FrontController({
    controllers: { elp: auth.controller, error: { error }, index: { index() {} } },
    plugins: [auth.guard(({ controller }) => controller === 'index')],
    limits: { maxBodyBytes: 100 },
  })
  const { url } = await startServing(t, front)
  return { client: new Browser({ [ORIGIN]: url }), provider }
}
