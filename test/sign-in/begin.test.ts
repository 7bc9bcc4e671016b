import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FrontController, HttpRequest } from '../../lib/index.ts'
import { startHostileProvider } from '../support/hostile-provider.ts'
import {
  ADDRESS,
  assertPrivate,
  assertRedirect,
  beginning,
  cookieNames,
  depart,
  goBack,
  ORIGIN,
  signInOnce,
  startApp,
  startHostileApp,
} from '../support/sign-in.ts'

describe('The beginning of a sign-in', () => {
  it('redirects to the authorization endpoint with the parameters of the protocol', async (t) => {
    const { provider, browser } = await startHostileApp(t)
    const page = await browser().send(beginning())
    const { location } = page
    assert.equal(page.status, 303)
    assertPrivate(page)
    assert.equal(`${location?.origin}${location?.pathname}`, `${provider.issuer}/authorize`)
    const { state, nonce, code_challenge, ...rest } = Object.fromEntries(
      location?.searchParams ?? [],
    )
    assert.deepEqual(rest, {
      response_type: 'code',
      client_id: 'hostile-client',
      redirect_uri: `${ADDRESS}?provider=hostile`,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
    })
    for (const random of [state, nonce, code_challenge]) assert.match(random ?? '', /^[\w-]{22,}$/)
    assert.equal(new Set([state, nonce, code_challenge]).size, 3)
  })

  it('takes the origin from the options, and not from the request', async (t) => {
    const { browser } = await startHostileApp(t)
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      forwarded: 'host=evil.example;proto=http',
    }
    const { location } = await browser().send(beginning(), { headers })
    assert.equal(location?.searchParams.get('redirect_uri'), `${ADDRESS}?provider=hostile`)
  })

  it('sends no value a second time', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    const seen = new Set<string | null | undefined>()
    for (let count = 0; count < 20; count++) {
      const { location } = await client.send(beginning())
      for (const name of ['state', 'nonce', 'code_challenge']) {
        seen.add(location?.searchParams.get(name))
      }
    }
    assert.equal(seen.size, 60)
  })

  it('sends the further parameters of the provider, and keeps the query of its endpoint', async (t) => {
    const provider = await startHostileProvider(t)
    const { browser } = await startApp(t, {
      providers: {
        tenant: {
          ...provider.plainOptions,
          authorizationEndpoint: `${provider.issuer}/authorize?tenant=a%26b`,
          params: { access_type: 'offline', prompt: 'consent' },
        },
      },
    })
    const { location } = await browser().send(beginning('tenant'))
    const sent = location?.searchParams
    assert.equal(sent?.get('tenant'), 'a&b')
    assert.equal(sent?.get('access_type'), 'offline')
    assert.equal(sent?.get('prompt'), 'consent')
    assert.equal(sent?.get('response_type'), 'code')
  })

  it('sends a code challenge but no nonce without OpenID Connect', async (t) => {
    const { plainOptions } = await startHostileProvider(t)
    const { browser } = await startApp(t, { providers: { plain: plainOptions } })
    const { location } = await browser().send(beginning('plain'))
    assert.equal(location?.searchParams.get('nonce'), null)
    assert.equal(location?.searchParams.get('code_challenge_method'), 'S256')
    assert.equal(location?.searchParams.get('scope'), 'read:user')
  })

  it('is a 404 for a provider that is not configured', async (t) => {
    const { browser, provider } = await startHostileApp(t)
    const client = browser()
    const names = ['nobody', '', 'Hostile', 'hostile ', 'constructor', '__proto__', 'toString']
    const targets = [...names.map((name) => beginning(name)), ADDRESS, `${ADDRESS}?continue=/a`]
    for (const target of targets) {
      const page = await client.send(target)
      assert.equal(page.status, 404, target)
      assertPrivate(page)
    }
    assert.deepEqual(cookieNames(client), [])
    assert.deepEqual(provider.received, [])
  })

  it('responds to HEAD as to GET, and to no other method', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    const head = await client.send(beginning(), { method: 'HEAD' })
    assert.equal(head.status, 303)
    assert.equal(head.location?.searchParams.get('response_type'), 'code')
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const page = await client.send(beginning(), { method })
      assert.equal(page.status, 405, method)
      assert.match(page.headers.allow ?? '', /\bGET\b/)
      assertPrivate(page)
    }
  })

  it('is a 400 without a cookie for an image or a script', async (t) => {
    const { browser, provider, reports } = await startHostileApp(t)
    const client = browser()
    for (const mode of ['no-cors', 'cors', 'same-origin', 'websocket']) {
      const page = await client.send(beginning(), { headers: { 'sec-fetch-mode': mode } })
      assert.equal(page.status, 400, mode)
      assertPrivate(page)
    }
    assert.deepEqual(cookieNames(client), [])
    assert.deepEqual(provider.received, [])
    const facts = { provider: 'hostile', step: 'begin', fault: 'no navigation' }
    assert.deepEqual(reports[0]?.signIn, facts)
    // This client is no browser: it does not send Sec-Fetch-Mode.
    const page = await client.send(beginning(), { headers: { 'sec-fetch-mode': '' } })
    assert.equal(page.status, 303)
  })

  it('has a path that `url()` makes', async (t) => {
    const { auth, browser } = await startHostileApp(t)
    const url = auth.url('hostile', { continue: '/a/path?b=c&d=%26#e' })
    assert.match(url, /^\/elp\/oauth\.php\?/)
    const client = browser()
    const back = await depart(client, `${ORIGIN}${url}`)
    assertRedirect(await goBack(client, back), '/a/path?b=c&d=%26#e')
    assert.match(auth.url('hostile'), /^\/elp\/oauth\.php\?provider=hostile$/)
    assert.throws(() => auth.url('nobody'), /nobody/)
  })

  it('works under both rules of names, and so does the sign-out', async (t) => {
    const provider = await startHostileProvider(t)
    for (const names of ['exact', 'zf1'] as const) {
      const { browser } = await startApp(t, { providers: { hostile: provider.options } }, { names })
      const client = browser()
      assertRedirect(await signInOnce(client), '/')
      const out = await client.send(`${ORIGIN}/elp/sign-out`, { method: 'POST' })
      assertRedirect(out, '/')
      assert.deepEqual(cookieNames(client), [], names)
    }
  })

  it('works at another path', async (t) => {
    const { options } = await startHostileProvider(t)
    const path = '/members/account/oauth.php'
    const { auth } = await startApp(t, { providers: { hostile: options }, path })
    const front = new FrontController({ modules: { members: { account: auth.controller } } })
    const response = await front.handle(new HttpRequest({ target: auth.url('hostile') }))
    assert.equal(response.status, 303)
    const { searchParams } = new URL(String(response.headers.get('location')))
    assert.equal(searchParams.get('redirect_uri'), `${ORIGIN}${path}?provider=hostile`)
  })
})
