import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import {
  accounts,
  type ClientOptions,
  type OidcServer,
  startOidcServer,
} from '../support/oidc-server.ts'
import {
  ADDRESS,
  type App,
  assertRedirect,
  beginning,
  cookieNames,
  depart,
  goBack,
  identityOf,
  ORIGIN,
  signInOnce,
  startApp,
} from '../support/sign-in.ts'

const BEGIN = beginning('real', { continue: '/a/page?b=c' })

describe('A sign-in at a real provider', () => {
  for (const clientAuth of ['basic', 'post', 'none'] as const) {
    it(`begins a session, with the client authentication "${clientAuth}"`, async (t) => {
      const { app } = await start(t, (server) => server.client(clientAuth))
      const client = app.browser()
      assertRedirect(await signInOnce(client, BEGIN), '/a/page?b=c')
      const { signedInAt, ...identity } = (await identityOf(client)) ?? {}
      assert.deepEqual(identity, {
        provider: 'real',
        subject: 'ada',
        name: accounts.ada.name,
        email: accounts.ada.email,
        emailVerified: true,
      })
      assert.equal(typeof signedInAt, 'number')
      assert.deepEqual(app.reports, [])
    })
  }

  it('is a 502 with the wrong client secret', async (t) => {
    const { app } = await start(t, (server) => ({ ...server.client(), clientSecret: 'wrong' }))
    const client = app.browser()
    assert.equal((await signInOnce(client, BEGIN)).status, 502)
    assert.deepEqual(cookieNames(client), [])
  })

  it('is a 403 if the user denies it, and may begin anew', async (t) => {
    const { app, server } = await start(t)
    const client = app.browser()
    server.decision = 'deny'
    assert.equal((await signInOnce(client, BEGIN)).status, 403)
    server.decision = 'allow'
    assertRedirect(await signInOnce(client, BEGIN), '/a/page?b=c')
  })

  it('leads from a guarded page to it, and ends with the sign-out', async (t) => {
    const { app } = await start(t)
    const client = app.browser()
    const page = await client.open(`${ORIGIN}/admin/index/index?a=b`)
    assert.equal(page.body, 'secret')
    assert.equal(page.url.href, `${ORIGIN}/admin/index/index?a=b`)
    await client.send(`${ORIGIN}/elp/sign-out`, { method: 'POST' })
    assert.equal(await identityOf(client), null)
    assert.equal((await client.send(`${ORIGIN}/admin`)).status, 303)
  })

  it('happens in two tabs at once, and only once for each address', async (t) => {
    const { app } = await start(t)
    const client = app.browser()
    const [first, second] = [await depart(client, BEGIN), await depart(client, BEGIN)]
    for (const back of [second, first]) assertRedirect(await goBack(client, back), '/a/page?b=c')
    for (const back of [second, first]) assert.equal((await goBack(client, back)).status, 400)
    assert.equal((await identityOf(client))?.subject, 'ada')
  })

  it('checks iss, which this provider announces', async (t) => {
    const { app, server } = await start(t)
    for (const iss of [undefined, '', `${server.issuer}/`, 'https://other.example']) {
      const client = app.browser()
      const back = await depart(client, BEGIN)
      assert.equal(back.searchParams.get('iss'), server.issuer)
      if (iss === undefined) back.searchParams.delete('iss')
      else back.searchParams.set('iss', iss)
      assert.equal((await goBack(client, back)).status, 400)
    }
  })

  it('replaces the session of another user', async (t) => {
    const { app, server } = await start(t)
    const client = app.browser()
    await signInOnce(client, BEGIN)
    client.cookies(server.issuer).clear()
    server.account = 'bob'
    await signInOnce(client, BEGIN)
    const { subject, emailVerified } = (await identityOf(client)) ?? {}
    assert.deepEqual([subject, emailVerified], ['bob', false])
  })
})

async function start(
  t: TestContext,
  clientOf: (server: OidcServer) => ClientOptions = (server) => server.client(),
): Promise<{ app: App; server: OidcServer }> {
  const server = await startOidcServer(t, { redirectUris: [`${ADDRESS}?provider=real`] })
  return { server, app: await startApp(t, { providers: { real: clientOf(server) } }) }
}
