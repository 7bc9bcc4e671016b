import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpError } from '../../lib/index.ts'
import { DESCRIPTION, type Faults, startHostileProvider } from '../support/hostile-provider.ts'
import {
  ADDRESS,
  assertPrivate,
  assertRedirect,
  beginning,
  cookieNames,
  depart,
  goBack,
  identityOf,
  signInOnce,
  startApp,
  startHostileApp,
} from '../support/sign-in.ts'

describe('The return from the provider', () => {
  it('begins the session of an identity', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { browser } = await startHostileApp(t)
    const client = browser()
    const page = await signInOnce(client)
    assertRedirect(page, '/')
    assertPrivate(page)
    assert.deepEqual(await identityOf(client), {
      provider: 'hostile',
      subject: 'subject-5f2d81',
      email: 'ada.canary@example.org',
      emailVerified: true,
      name: 'Canary Lovelace',
      signedInAt: Date.now(),
    })
  })

  it('begins a session without OpenID Connect', async (t) => {
    const provider = await startHostileProvider(t)
    const { browser } = await startApp(t, { providers: { plain: provider.plainOptions } })
    const client = browser()
    assertRedirect(await signInOnce(client, beginning('plain', { continue: '/a?b=c' })), '/a?b=c')
    const { signedInAt, ...identity } = (await identityOf(client)) ?? {}
    assert.deepEqual(identity, { provider: 'plain', subject: '42', name: 'ada' })
    assert.equal(typeof signedInAt, 'number')
    // The interfaces of some providers reject a request without it.
    assert.notEqual(provider.requestsTo('userinfo')[0]?.headers['user-agent'] ?? '', '')
  })

  it('passes claims, tokens and request to onSignIn, and keeps what it returns', async (t) => {
    const calls: unknown[] = []
    const { browser } = await startHostileApp(
      t,
      {},
      {
        onSignIn: async (identity, { claims, tokens, request }) => {
          calls.push([
            identity.subject,
            claims.sub,
            Object.keys(tokens),
            request.query.get('provider'),
          ])
          return { roles: ['editor'], dropped: undefined }
        },
      },
    )
    const client = browser()
    assertRedirect(await signInOnce(client), '/')
    const [[subject, sub, tokens, provider]] = calls as [[string, string, string[], string]]
    assert.deepEqual([subject, sub, provider], ['subject-5f2d81', 'subject-5f2d81', 'hostile'])
    assert.ok(tokens.includes('access_token'), String(tokens))
    assert.deepEqual((await identityOf(client))?.data, { roles: ['editor'] })
  })

  it('is what onSignIn throws, if it throws', async (t) => {
    const table: [unknown, number][] = [
      [new HttpError(403, 'Not a member'), 403],
      [new HttpError(429), 429],
      [new Error('a fault'), 500],
      ['a text', 500],
      [undefined, 500],
    ]
    for (const [thrown, status] of table) {
      const onSignIn = (): never => {
        throw thrown
      }
      const { browser, reports } = await startHostileApp(t, {}, { onSignIn })
      const client = browser()
      const page = await signInOnce(client)
      assert.equal(page.status, status)
      assertPrivate(page)
      assert.equal(await identityOf(client), null)
      assert.deepEqual(cookieNames(client), [])
      assert.equal(reports.length, 1)
    }
  })

  it('is a 403 if the user did not consent, and a 502 after any other error', async (t) => {
    const table = {
      access_denied: 403,
      server_error: 502,
      invalid_scope: 502,
      'a%0d': 502,
    }
    const { browser, provider } = await startHostileApp(t)
    for (const [error, status] of Object.entries(table)) {
      provider.faults = {
        callback: (parameters) => {
          denied(parameters)
          parameters.set('error', error)
        },
      }
      const client = browser()
      const page = await signInOnce(client)
      assert.equal(page.status, status, error)
      assertPrivate(page)
      assert.deepEqual(cookieNames(client), [], error)
      assert.doesNotMatch(page.body, new RegExp(DESCRIPTION))
    }
    assert.deepEqual(provider.requestsTo('token'), [])
  })

  const twice = (name: string) => (parameters: URLSearchParams) =>
    parameters.append(name, parameters.get(name) ?? '')
  const rejected: Record<string, (parameters: URLSearchParams, issuer: string) => void> = {
    'no state': (each) => each.delete('state'),
    'an empty state': (each) => each.set('state', ''),
    'an unknown state': (each) => each.set('state', 'A'.repeat(43)),
    'a changed state': (each) => each.set('state', `${each.get('state')}A`),
    'a shorter state': (each) => each.set('state', each.get('state')?.slice(0, -1) ?? ''),
    'a state in other letters': (each) =>
      each.set('state', each.get('state')?.replace(/[a-z]/i, swapCase) ?? ''),
    'the name of a property as state': (each) => each.set('state', '__proto__'),
    'neither code nor error': (each) => each.delete('code'),
    'an empty code': (each) => each.set('code', ''),
    'an empty error': (each) => {
      each.delete('code')
      each.set('error', '')
    },
    'both code and error': (each) => each.set('error', 'access_denied'),
    'the wrong iss': (each) => each.set('iss', 'https://other.example'),
    'two codes': twice('code'),
    'two states': twice('state'),
    'two providers': twice('provider'),
    'two iss': (each, issuer) => {
      each.set('iss', issuer)
      twice('iss')(each)
    },
    'two errors': (each) => {
      denied(each)
      twice('error')(each)
    },
    'two descriptions': (each) => {
      denied(each)
      twice('error_description')(each)
    },
  }
  for (const [what, change] of Object.entries(rejected)) {
    it(`is a 400 with ${what}`, async (t) => {
      const { browser, provider } = await startHostileApp(t)
      const client = browser()
      const back = await depart(client)
      change(back.searchParams, provider.issuer)
      const page = await goBack(client, back)
      assert.equal(page.status, 400, page.body)
      assertPrivate(page)
      assert.deepEqual(provider.requestsTo('token'), [])
      assert.equal(await identityOf(client), null)
    })
  }

  it('needs iss where the provider announces it, also with an error', async (t) => {
    const { browser, provider } = await startHostileApp(t)
    const discovery: Faults['discovery'] = (usual) => ({
      ...usual,
      authorization_response_iss_parameter_supported: true,
    })
    const right = (each: URLSearchParams): void => each.set('iss', provider.issuer)
    const table: [number, (each: URLSearchParams) => unknown][] = [
      [400, () => {}],
      [400, (each) => each.set('iss', '')],
      [400, denied],
      [303, right],
      [403, (each) => [denied(each), right(each)]],
    ]
    for (const [status, change] of table) {
      provider.faults = { discovery, callback: (each) => void change(each) }
      assert.equal((await signInOnce(browser())).status, status)
    }
    assert.equal(provider.requestsTo('token').length, 1)
  })

  it('is a 400 in another browser, for another provider, and the second time', async (t) => {
    const other = await startHostileProvider(t)
    const providers = { other: other.options }
    const { browser, provider, reports } = await startHostileApp(t, {}, { providers })
    const [client, stranger] = [browser(), browser()]
    const back = await depart(client)
    assert.equal((await goBack(stranger, back)).status, 400)
    const mixedUp = new URL(back)
    mixedUp.searchParams.set('provider', 'other')
    assert.equal((await goBack(client, mixedUp)).status, 400)
    assert.deepEqual([...other.requestsTo('token'), ...provider.requestsTo('token')], [])
    const again = await depart(client)
    assertRedirect(await goBack(client, again), '/')
    assert.equal((await goBack(client, again)).status, 400)
    assert.notEqual(await identityOf(client), null)
    assert.equal(reports.length, 3)
  })

  it('is a 400 when the user has taken too long', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { browser, provider } = await startHostileApp(t, {}, { transactionTtlMs: 60_000 })
    const client = browser()
    const inTime = await depart(client)
    const late = await depart(client)
    t.mock.timers.tick(59_000)
    assertRedirect(await goBack(client, inTime), '/')
    t.mock.timers.tick(2_000)
    assert.equal((await goBack(client, late)).status, 400)
    assert.equal(provider.requestsTo('token').length, 1)
  })

  it('is a 405 for HEAD, which leaves the flow as it is', async (t) => {
    const { browser, provider } = await startHostileApp(t)
    const client = browser()
    const back = await depart(client)
    for (const method of ['HEAD', 'POST']) {
      const page = await client.send(back, { method, site: 'none' })
      assert.equal(page.status, 405, method)
      assertPrivate(page)
    }
    assert.deepEqual(provider.requestsTo('token'), [])
    assertRedirect(await goBack(client, back), '/')
  })

  it('is a 404 for a provider that is not configured', async (t) => {
    const { browser } = await startHostileApp(t)
    const client = browser()
    for (const query of ['code=a&state=b', 'provider=nobody&code=a&state=b']) {
      assert.equal((await client.send(`${ADDRESS}?${query}`)).status, 404, query)
    }
  })
})

function denied(parameters: URLSearchParams): void {
  parameters.delete('code')
  parameters.set('error', 'access_denied')
  parameters.set('error_description', DESCRIPTION)
}

function swapCase(letter: string): string {
  return letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
}
