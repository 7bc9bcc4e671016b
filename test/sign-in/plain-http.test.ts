import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FrontController } from '../../lib/index.ts'
import { signIn } from '../../lib/sign-in.ts'
import { Browser } from '../support/browser.ts'
import { startHostileProvider, startSecureProvider } from '../support/hostile-provider.ts'
import { findFreePorts } from '../support/ports.ts'
import { startServing } from '../support/serving.ts'
import {
  assertRedirect,
  beginning,
  depart,
  goBack,
  OAUTH,
  OIDC,
  SECRET,
  signInOnce,
  startApp,
} from '../support/sign-in.ts'

const ENDPOINTS = {
  authorization_endpoint: 'authorize',
  token_endpoint: 'token',
  jwks_uri: 'jwks',
  userinfo_endpoint: 'userinfo',
}

const create = (origin: string, provider: object = OIDC): unknown =>
  signIn({ origin, secrets: [SECRET], providers: { p: provider as never } })

describe('Plain HTTP', () => {
  it('is a TypeError for an origin that is not on this machine', () => {
    for (const host of ['localhost', 'localhost:3000', '127.0.0.1:8080', '[::1]:3000']) {
      create(`http://${host}`)
    }
    const others = ['news.example', 'localhost.evil.example', '127.0.0.1.evil.example', '127.0.0.2']
    for (const host of [...others, 'a.localhost', '10.0.0.1', '[::2]', '0.0.0.0']) {
      assert.throws(() => create(`http://${host}`), { name: 'TypeError', message: /origin/ }, host)
    }
  })

  it('is a TypeError for an issuer that is not on this machine, and for other schemes', () => {
    for (const origin of ['https://news.example', 'http://localhost']) {
      create(origin, { ...OIDC, issuer: 'http://localhost:9000' })
      create(origin, { ...OIDC, issuer: 'http://127.0.0.1:9000/tenant' })
      for (const issuer of [
        'http://idp.example',
        'http://localhost.evil.example',
        'ftp://idp.example',
        'idp.example',
        '',
      ]) {
        const make = (): unknown => create(origin, { ...OIDC, issuer })
        assert.throws(make, { name: 'TypeError', message: /issuer/ }, issuer)
      }
    }
  })

  it('is a TypeError for an endpoint that is not on this machine', () => {
    for (const name of ['authorizationEndpoint', 'tokenEndpoint', 'userinfoEndpoint']) {
      for (const url of ['http://idp.example/x', 'javascript:alert(1)', '/x', '']) {
        const make = (): unknown => create('https://news.example', { ...OAUTH, [name]: url })
        assert.throws(make, { name: 'TypeError', message: new RegExp(name) }, `${name} ${url}`)
      }
    }
  })

  it('has cookies without Secure and __Host-, and the whole sign-in works', async (t) => {
    const provider = await startHostileProvider(t)
    const [port = 0] = await findFreePorts(1)
    const origin = `http://127.0.0.1:${port}`
    const auth = signIn({ origin, secrets: [SECRET], providers: { hostile: provider.options } })
    const who = async (request: never, response: { text(text: string): void }) =>
      response.text(`${(await auth.identity(request))?.subject}`)
    const front = new FrontController({
      controllers: { elp: auth.controller, index: { who } as never },
    })
    await startServing(t, front, { port })
    const client = new Browser()
    const begun = await client.send(`${origin}/elp/oauth.php?provider=hostile`)
    const back = await client.openUntilReturn(origin, `${origin}/elp/oauth.php?provider=hostile`)
    const returned = await client.send(back, { site: 'cross-site' })
    assert.equal(returned.status, 303, returned.body)
    const lines = [begun, returned].flatMap(({ headers }) => headers['set-cookie'] ?? [])
    assert.ok(lines.length >= 2)
    for (const line of lines) {
      assert.doesNotMatch(line, /^__Host-|; *Secure/i)
      assert.match(line, /; *HttpOnly/i)
    }
    assert.equal((await client.send(`${origin}/index/who`)).body, 'subject-5f2d81')
  })

  it('is a 502 for an endpoint in the document of an issuer with HTTPS', async (t) => {
    const { provider, url } = await startSecureProvider(t)
    const providers = { secure: provider.options }
    const hosts = { [provider.issuer]: url }
    const app = await startApp(t, { providers })
    assertRedirect(await signInOnce(app.browser(hosts), beginning('secure')), '/')
    for (const [name, endpoint] of Object.entries(ENDPOINTS)) {
      provider.faults = { discovery: (usual) => ({ ...usual, [name]: `${url}/${endpoint}` }) }
      const before = provider.requestsTo(endpoint).length
      const { browser } = await startApp(t, { providers })
      const client = browser(hosts)
      let page = await client.send(beginning('secure'))
      if (page.status === 303)
        page = await goBack(client, await depart(client, beginning('secure')))
      assert.equal(page.status, 502, name)
      assert.equal(provider.requestsTo(endpoint).length - before, 0, name)
    }
  })
})
