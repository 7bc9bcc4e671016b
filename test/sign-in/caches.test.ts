import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { KeySets } from '../../lib/sign-in/id-token.ts'
import { type Json, sendJson, startHostileProvider } from '../support/hostile-provider.ts'
import {
  assertRedirect,
  beginning,
  depart,
  goBack,
  identityOf,
  signInOnce,
  startHostileApp,
} from '../support/sign-in.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('The document of a provider', () => {
  it('is fetched when it is first needed, once for all who wait', async (t) => {
    const other = await startHostileProvider(t)
    const { browser, provider } = await startHostileApp(
      t,
      {},
      { providers: { other: other.options } },
    )
    // A request to this provider would have arrived before the last one to the other.
    assertRedirect(await signInOnce(browser(), beginning('other')), '/')
    assert.deepEqual(provider.received, [])
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    provider.faults = {
      discovery: (usual) => (response) => void gate.then(() => sendJson(response, 200, usual)),
    }
    const arrived = provider.next('discovery')
    const waiting = Array.from({ length: 20 }, () => browser().send(beginning()))
    await arrived
    // A response to a later request shows that the others have arrived too.
    await identityOf(browser())
    release()
    const statuses = (await Promise.all(waiting)).map(({ status }) => status)
    assert.deepEqual(new Set(statuses), new Set([303]))
    assert.equal(provider.requestsTo('discovery').length, 1)
  })

  it('is kept for an hour', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { browser, provider } = await startHostileApp(t)
    const client = browser()
    const count = async (): Promise<number> => {
      assert.equal((await client.send(beginning())).status, 303)
      return provider.requestsTo('discovery').length
    }
    assert.equal(await count(), 1)
    t.mock.timers.tick(HOUR - 2_000)
    assert.equal(await count(), 1)
    t.mock.timers.tick(4_000)
    assert.equal(await count(), 2)
    // The clock of the machine is corrected.
    t.mock.timers.setTime(Date.now() - 24 * HOUR)
    assert.equal(await count(), 3)
  })

  it('is fetched anew after a failure', async (t) => {
    const { browser, provider } = await startHostileApp(t, {
      discovery: () => (response) => sendJson(response, 500, {}),
    })
    const client = browser()
    assert.equal((await client.send(beginning())).status, 502)
    provider.faults = { discovery: () => ({ issuer: 'https://other.example' }) }
    assert.equal((await client.send(beginning())).status, 502)
    provider.faults = {}
    assertRedirect(await signInOnce(client), '/')
  })

  it('is not needed by those who are signed in, nor by users of another provider', async (t) => {
    const other = await startHostileProvider(t)
    const { browser, provider } = await startHostileApp(
      t,
      {},
      { providers: { other: other.options } },
    )
    const client = browser()
    await signInOnce(client)
    provider.faults = Object.fromEntries(
      ['discovery', 'jwks', 'token', 'userinfo'].map((each) => [each, () => () => {}]),
    )
    const before = provider.received.length
    assert.equal((await identityOf(client))?.subject, 'subject-5f2d81')
    assertRedirect(await signInOnce(browser(), beginning('other')), '/')
    assert.equal(provider.received.length, before)
  })

  it('does not delay another provider while one does not respond', async (t) => {
    const silent = await startHostileProvider(t, { discovery: () => () => {} })
    const { browser } = await startHostileApp(
      t,
      {},
      {
        providers: { silent: silent.options },
        providerTimeoutMs: 5_000,
      },
    )
    const arrived = silent.next('discovery')
    const pending = browser().send(beginning('silent'))
    await arrived
    assertRedirect(await signInOnce(browser()), '/')
    silent.faults = {}
    void pending.catch(() => {})
  })
})

describe('KeySets.of()', () => {
  it('keeps the keys of a provider, but not when the clock is set back', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const sets = new KeySets(async () => new Response())
    const url = new URL('https://provider.example/keys')
    const keys = await sets.of(url)
    t.mock.timers.tick(1_000)
    assert.equal(await sets.of(url), keys)
    t.mock.timers.setTime(Date.now() - 500)
    const others = await sets.of(url)
    assert.notEqual(others, keys)
    assert.equal(await sets.of(url), others)
  })
})

describe('The keys of a provider', () => {
  it('are kept, but not longer than an hour', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { browser, provider } = await startHostileApp(t)
    const count = async (): Promise<number> => {
      assertRedirect(await signInOnce(browser()), '/')
      return provider.requestsTo('jwks').length
    }
    assert.equal(await count(), 1)
    assert.equal(await count(), 1)
    t.mock.timers.tick(4 * MINUTE)
    assert.equal(await count(), 1)
    t.mock.timers.tick(HOUR)
    assert.equal(await count(), 2)
  })

  it('that were withdrawn are not accepted after an hour', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { browser, provider } = await startHostileApp(t)
    assertRedirect(await signInOnce(browser()), '/')
    provider.faults = { jwks: () => ({ keys: [] }) }
    t.mock.timers.tick(HOUR + 1_000)
    assert.equal((await signInOnce(browser())).status, 502)
  })

  it('are fetched again for an unknown one, at most once a minute', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { browser, provider } = await startHostileApp(t)
    assertRedirect(await signInOnce(browser()), '/')
    t.mock.timers.tick(MINUTE + 1_000)
    provider.rotateKey()
    assertRedirect(await signInOnce(browser()), '/')
    assert.equal(provider.requestsTo('jwks').length, 2)
    // Now the provider uses keys that it does not list.
    const { keys } = await listOf(provider.issuer)
    const listed = provider.requestsTo('jwks').length
    provider.faults = { jwks: () => ({ keys }) }
    provider.rotateKey()
    for (let count = 0; count < 3; count++) {
      t.mock.timers.tick(1_000)
      assert.equal((await signInOnce(browser())).status, 502)
    }
    assert.equal(provider.requestsTo('jwks').length, listed)
    t.mock.timers.tick(MINUTE)
    const returns = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const client = browser()
        return { client, back: await depart(client) }
      }),
    )
    const pages = await Promise.all(returns.map(({ client, back }) => goBack(client, back)))
    assert.deepEqual(new Set(pages.map(({ status }) => status)), new Set([502]))
    assert.equal(provider.requestsTo('jwks').length, listed + 1)
  })

  for (const hasName of [true, false]) {
    it(`are fetched again for a new one ${hasName ? 'under the same name' : 'without a name'}`, async (t) => {
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
      const { browser, provider } = await startHostileApp(t)
      if (!hasName) {
        const withoutName = ([{ kid: _, ...key }]: [Json]) => [key]
        provider.faults = {
          jwks: ({ keys }) => ({ keys: withoutName(keys as [Json]) }),
          idToken: (claims) => provider.sign(claims, { kid: undefined }),
        }
      }
      assertRedirect(await signInOnce(browser()), '/')
      provider.rotateKey({ keepsName: true })
      // The keys are fetched at most once a minute.
      assert.equal((await signInOnce(browser())).status, 502)
      assert.equal(provider.requestsTo('jwks').length, 1)
      t.mock.timers.tick(MINUTE + 1_000)
      const pages = await Promise.all([1, 2, 3].map(() => signInOnce(browser())))
      for (const page of pages) assertRedirect(page, '/')
      assert.equal(provider.requestsTo('jwks').length, 2)
    })
  }

  it('are fetched once for all who wait', async (t) => {
    const { browser, provider } = await startHostileApp(t)
    const returns = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const client = browser()
        return { client, back: await depart(client) }
      }),
    )
    await Promise.all(
      returns.map(async ({ client, back }) => assertRedirect(await goBack(client, back), '/')),
    )
    assert.equal(provider.requestsTo('jwks').length, 1)
  })

  it('are fetched anew after a failure', async (t) => {
    const { browser, provider } = await startHostileApp(t, {
      jwks: () => (response) => sendJson(response, 500, {}),
    })
    assert.equal((await signInOnce(browser())).status, 502)
    provider.faults = {}
    assertRedirect(await signInOnce(browser()), '/')
  })
})

async function listOf(issuer: string): Promise<{ keys: object[] }> {
  return (await fetch(`${issuer}/jwks`)).json() as Promise<{ keys: object[] }>
}
