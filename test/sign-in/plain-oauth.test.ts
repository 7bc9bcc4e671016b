import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { HttpError } from '../../lib/index.ts'
import type { Claims, UserFacts } from '../../lib/sign-in.ts'
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
  it('is a 502 if its subject is not a non-empty string', async (t) => {
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

  it('reports an error of `identify` as it is, without the values of the user', async (t) => {
    const provider = await startHostileProvider(t)
    const table: [number, string, (user: Claims) => UserFacts][] = [
      [500, 'TypeError', ({ id }) => ({ subject: Object(id).profile.login })],
      [403, 'HttpError', ({ email }) => refuse(`${email} is no member`)],
    ]
    for (const [status, name, identify] of table) {
      const plain = { ...provider.plainOptions, identify }
      const { browser, reports } = await startApp(t, { providers: { plain } })
      assert.equal((await signInOnce(browser(), beginning('plain'))).status, status)
      const [report] = reports
      assert.equal(report?.name, name)
      if (status === 500) assert.match(report?.stack?.[0] ?? '', /plain-oauth\.test\.js/)
      else assert.equal(report?.message, '[email] is no member')
    }
  })

  it('is a 502 if userinfo lacks the id', async (t) => {
    const provider = await startHostileProvider(t, { userinfo: () => ({ message: 'x' }) })
    const { browser } = await startApp(t, { providers: { plain: provider.plainOptions } })
    assert.equal((await signInOnce(browser(), beginning('plain'))).status, 502)
  })

  it('is no fault of the application if userinfo is nested too deep', async (t) => {
    const deep = `{"id":7,"deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const send = (response: ServerResponse) =>
      response.setHeader('Content-Type', 'application/json').end(deep)
    const provider = await startHostileProvider(t, { userinfo: () => send as never })
    const { browser } = await startApp(t, { providers: { plain: provider.plainOptions } })
    // Node 26 writes JSON of any depth.
    const { status } = await signInOnce(browser(), beginning('plain'))
    assert.ok([303, 502].includes(status), `${status}`)
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
  })

  it('names the fault of a token response with the status 200, as GitHub sends it', async (t) => {
    const provider = await startHostileProvider(t)
    const { browser, reports } = await startApp(t, { providers: { plain: provider.plainOptions } })
    const codes = [
      'incorrect_client_credentials',
      'bad_verification_code',
      'ada.canary@example.org',
    ]
    for (const error of codes) {
      provider.faults = { token: () => ({ error }) }
      assert.equal((await signInOnce(browser(), beginning('plain'))).status, 502)
    }
    assert.deepEqual(
      reports.map(({ signIn }) => signIn?.fault),
      [...codes.slice(0, 2), 'unknown error code'],
    )
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

function refuse(message: string): never {
  throw new HttpError(403, message)
}
