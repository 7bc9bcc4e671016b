import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sendJson, startHostileProvider } from '../support/hostile-provider.ts'
import {
  assertRedirect,
  beginning,
  cookieNames,
  identityOf,
  signInOnce,
  startApp,
} from '../support/sign-in.ts'

describe('A provider without OpenID Connect', () => {
  it('is a 502 if its subject is not a non-empty string, or `identify` fails', async (t) => {
    const provider = await startHostileProvider(t)
    const table: Record<string, () => unknown> = {
      'no subject': () => ({ name: 'ada' }),
      'an empty subject': () => ({ subject: '' }),
      'a number': () => ({ subject: 42 }),
      'null as subject': () => ({ subject: null }),
      'an object': () => ({ subject: {} }),
      nothing: () => undefined,
      null: () => null,
    }
    for (const [what, identify] of Object.entries(table)) {
      const plain = { ...provider.plainOptions, identify: identify as never }
      const { browser } = await startApp(t, { providers: { plain } })
      const client = browser()
      const page = await signInOnce(client, beginning('plain'))
      assert.equal(page.status, 502, what)
      assert.deepEqual(cookieNames(client), [], what)
    }
  })

  it('is a 502 if userinfo lacks the id', async (t) => {
    const provider = await startHostileProvider(t, { userinfo: () => ({ message: 'x' }) })
    const { browser } = await startApp(t, { providers: { plain: provider.plainOptions } })
    assert.equal((await signInOnce(browser(), beginning('plain'))).status, 502)
  })

  it('is a 502 if an endpoint fails', async (t) => {
    const provider = await startHostileProvider(t)
    const { browser } = await startApp(t, { providers: { plain: provider.plainOptions } })
    for (const endpoint of ['token', 'userinfo']) {
      for (const status of [302, 401, 404, 500]) {
        provider.faults = { [endpoint]: () => (response: never) => sendJson(response, status, {}) }
        assert.equal((await signInOnce(browser(), beginning('plain'))).status, status && 502)
      }
    }
    provider.faults = { token: () => ({ error: 'bad_verification_code' }) }
    assert.equal((await signInOnce(browser(), beginning('plain'))).status, 502)
  })

  it('gets the code verifier, and no list of keys is read', async (t) => {
    const provider = await startHostileProvider(t)
    const { browser } = await startApp(t, { providers: { plain: provider.plainOptions } })
    const client = browser()
    assertRedirect(await signInOnce(client, beginning('plain')), '/')
    const [token] = provider.requestsTo('token')
    assert.match(token?.body.get('code_verifier') ?? '', /^[\w.~-]{43,128}$/)
    assert.equal(token?.headers.accept, 'application/json')
    assert.deepEqual(
      provider.received.map(({ endpoint }) => endpoint),
      ['authorize', 'token', 'userinfo'],
    )
    assert.equal((await identityOf(client))?.subject, '42')
  })

  it('may send iss with the origin of its endpoint, as GitHub does', async (t) => {
    const provider = await startHostileProvider(t)
    const { browser } = await startApp(t, { providers: { plain: provider.plainOptions } })
    const table: [number, string][] = [
      [303, `${provider.issuer}/login/oauth`],
      [400, 'https://other.example/login/oauth'],
    ]
    for (const [status, iss] of table) {
      provider.faults = { callback: (each) => each.set('iss', iss) }
      assert.equal((await signInOnce(browser(), beginning('plain'))).status, status, iss)
    }
  })
})
