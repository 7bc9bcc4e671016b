import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import { SignJWT } from 'jose'
import {
  encodePart,
  type Faults,
  type HostileProvider,
  type Json,
} from '../support/hostile-provider.ts'
import {
  assertRedirect,
  depart,
  goBack,
  type HostileApp,
  identityOf,
  signInOnce,
  startHostileApp,
} from '../support/sign-in.ts'

// The clock of the tests stands still.
const NOW = 1_800_000_000

const set = (changes: Json) => (usual: Json) => ({ ...usual, ...changes })
const CLIENT = 'hostile-client'

/** Claims that are accepted (303) or not (502). */
const claims: Record<string, [number, (usual: Json) => Json]> = {
  'another issuer': [502, set({ iss: 'https://other.example' })],
  'the issuer with a slash': [502, ({ iss, ...rest }) => ({ ...rest, iss: `${iss}/` })],
  'no issuer': [502, set({ iss: undefined })],
  'another audience': [502, set({ aud: 'other-client' })],
  'no audience': [502, set({ aud: undefined })],
  'an empty list of audiences': [502, set({ aud: [] })],
  'a list with the audience': [303, set({ aud: [CLIENT] })],
  'several audiences': [502, set({ aud: [CLIENT, 'other-client'] })],
  'several audiences and azp': [303, set({ aud: [CLIENT, 'other'], azp: CLIENT })],
  'several audiences and another azp': [502, set({ aud: [CLIENT, 'other'], azp: 'other' })],
  azp: [303, set({ azp: CLIENT })],
  'another azp': [502, set({ azp: 'other-client' })],
  'another azp for a list of one': [502, set({ aud: [CLIENT], azp: 'other-client' })],
  'an empty azp': [502, set({ azp: '' })],
  'a list as azp': [502, set({ azp: [CLIENT] })],
  'exp 59 s ago': [303, set({ exp: NOW - 59 })],
  'exp 61 s ago': [502, set({ exp: NOW - 61 })],
  'no exp': [502, set({ exp: undefined })],
  'a text as exp': [502, set({ exp: String(NOW + 300) })],
  'iat 60 s ahead': [303, set({ iat: NOW + 60 })],
  'iat 61 s ahead': [502, set({ iat: NOW + 61 })],
  'no iat': [502, set({ iat: undefined })],
  'a text as iat': [502, set({ iat: String(NOW) })],
  'nbf 59 s ahead': [303, set({ nbf: NOW + 59 })],
  'nbf 61 s ahead': [502, set({ nbf: NOW + 61 })],
  'another nonce': [502, set({ nonce: 'A'.repeat(43) })],
  'no nonce': [502, set({ nonce: undefined })],
  'an empty nonce': [502, set({ nonce: '' })],
  'no subject': [502, set({ sub: undefined })],
  'an empty subject': [502, set({ sub: '' })],
  'a number as subject': [502, set({ sub: 1 })],
}

/** Tokens whose signature does not count. */
const forgeries: Record<
  string,
  (provider: HostileProvider, claims: Json) => Promise<string> | string
> = {
  'is signed with another key under the same id': async (provider, each) => {
    const [header = ''] = (await provider.sign(each)).split('.')
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
    return new SignJWT({ ...each }).setProtectedHeader({ alg: 'ES256', kid }).sign(otherKey())
  },
  'brings its own key': (_, each) => {
    const key = otherKey()
    const jwk = createPublicKey(key).export({ format: 'jwk' })
    return new SignJWT({ ...each }).setProtectedHeader({ alg: 'ES256', jwk }).sign(key)
  },
  'was changed after it was signed': async (provider, each) => {
    const [header, , signature] = (await provider.sign(each)).split('.')
    return `${header}.${encodePart({ ...each, sub: 'subject-admin' })}.${signature}`
  },
  'has an empty signature': async (provider, each) =>
    (await provider.sign(each)).replace(/[^.]*$/, ''),
  'has the algorithm none': (_, each) => `${encodePart({ alg: 'none' })}.${encodePart(each)}.`,
  'has the algorithm None': (_, each) => `${encodePart({ alg: 'None' })}.${encodePart(each)}.`,
  'is signed with the client secret': ({ clientSecret }, each) =>
    new SignJWT({ ...each }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(clientSecret)),
  'has an extension that must be understood': (provider, each) =>
    provider.sign(each, { crit: ['b64'], b64: true }),
  'has five parts': () => `${encodePart({ alg: 'dir', enc: 'A256GCM' })}..a.b.c`,
}

// A provider may even announce them.
const announced: Faults['discovery'] = (usual) => ({
  ...usual,
  id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none', 'None'],
})

describe('The ID Token', () => {
  for (const [what, [status, change]] of Object.entries(claims)) {
    it(`is ${status === 303 ? 'accepted' : 'rejected'} with ${what}`, async (t) => {
      t.mock.timers.enable({ apis: ['Date'], now: NOW * 1_000 })
      await assertOutcome(await startHostileApp(t, { claims: change }), status)
    })
  }

  for (const [what, forge] of Object.entries(forgeries)) {
    it(`is rejected if it ${what}`, async (t) => {
      const app = await startHostileApp(t, { discovery: announced })
      app.provider.faults = { ...app.provider.faults, idToken: (each) => forge(app.provider, each) }
      await assertOutcome(app, 502)
    })
  }

  it('is rejected if the provider does not announce its algorithm', async (t) => {
    const only = (algorithms: string[] | undefined) => (usual: Json) => ({
      ...usual,
      id_token_signing_alg_values_supported: algorithms,
    })
    await assertOutcome(await startHostileApp(t, { discovery: only(['RS256']) }), 502)
    await assertOutcome(await startHostileApp(t, { discovery: only(undefined) }), 502)
  })

  it('is rejected for a symmetric algorithm before a key is looked for', async (t) => {
    const app = await startHostileApp(t, { discovery: announced })
    const forge = forgeries['is signed with the client secret']
    app.provider.faults = {
      ...app.provider.faults,
      idToken: (each) => forge?.(app.provider, each) ?? '',
    }
    await assertOutcome(app, 502)
    assert.equal(app.reports[0]?.signIn?.fault, 'wrong algorithm')
    assert.deepEqual(app.provider.requestsTo('jwks'), [])
  })

  it('is the step of a fault in its claims', async (t) => {
    for (const change of [set({ nonce: 'other' }), set({ exp: 1 }), set({ aud: 'other' })]) {
      const { browser, reports } = await startHostileApp(t, { claims: change })
      assert.equal((await signInOnce(browser())).status, 502)
      assert.equal(reports[0]?.signIn?.step, 'id-token')
    }
  })

  it('is the one of this flow', async (t) => {
    const { browser, provider } = await startHostileApp(t)
    const client = browser()
    let first = ''
    provider.faults = { idToken: async (each) => (first = await provider.sign(each)) }
    assertRedirect(await signInOnce(client), '/')
    provider.faults = { idToken: () => first }
    const back = await depart(client)
    assert.equal((await goBack(client, back)).status, 502)
  })

  it('takes precedence over userinfo, which adds what it lacks', async (t) => {
    const { browser } = await startHostileApp(t, {
      claims: set({ email: 'token@example.org', email_verified: false }),
      userinfo: set({ email: 'userinfo@example.org', email_verified: true, name: 'Userinfo' }),
    })
    const client = browser()
    await signInOnce(client)
    const { email, emailVerified, name } = (await identityOf(client)) ?? {}
    assert.deepEqual(
      [email, emailVerified ?? false, name],
      ['token@example.org', false, 'Userinfo'],
    )
  })

  it('verifies only the address that it has itself', async (t) => {
    const own = { email: 'token@example.org', phone_number: '+1' }
    const verified = { email_verified: true, phone_number_verified: true }
    const table: [token: Json, userinfo: Json][] = [
      [own, { ...own, email: 'userinfo@example.org', ...verified }],
      [own, { email: undefined, ...verified }],
      [verified, own],
    ]
    const seen: unknown[] = []
    const { browser, provider } = await startHostileApp(
      t,
      {},
      {
        onSignIn: ({ emailVerified }, { claims }) =>
          seen.push([emailVerified, claims.email_verified, claims.phone_number_verified]),
      },
    )
    for (const [token, userinfo] of table) {
      const sub = ({ sub }: Json): Json => ({ sub })
      provider.faults = {
        claims: set(token),
        userinfo: (usual) => ({ ...sub(usual), ...userinfo }),
      }
      assertRedirect(await signInOnce(browser()), '/')
    }
    assert.deepEqual(seen, Array(table.length).fill([undefined, undefined, undefined]))
    provider.faults = {
      claims: set({ ...own, ...verified }),
      userinfo: set({ email_verified: false }),
    }
    assertRedirect(await signInOnce(browser()), '/')
    assert.deepEqual(seen.at(-1), [true, true, true])
  })

  it('is enough where the provider has no userinfo', async (t) => {
    const { browser, provider } = await startHostileApp(t, {
      discovery: ({ userinfo_endpoint: _, ...rest }) => rest,
      claims: set({ name: 'Token' }),
    })
    const client = browser()
    assertRedirect(await signInOnce(client), '/')
    assert.equal((await identityOf(client))?.name, 'Token')
    assert.deepEqual(provider.requestsTo('userinfo'), [])
  })
})

describe('The identity', () => {
  it('has a verified address only for the boolean true', async (t) => {
    for (const value of [true, 'true', 1, false, null, undefined, 'false', {}]) {
      const { browser } = await startHostileApp(t, { userinfo: set({ email_verified: value }) })
      const client = browser()
      assertRedirect(await signInOnce(client), '/')
      assert.equal(
        (await identityOf(client))?.emailVerified === true,
        value === true,
        String(value),
      )
    }
  })

  it('has no verified address without an address', async (t) => {
    const { browser } = await startHostileApp(t, {
      userinfo: set({ email: '', email_verified: true }),
    })
    const client = browser()
    assertRedirect(await signInOnce(client), '/')
    const { email, emailVerified } = (await identityOf(client)) ?? {}
    assert.deepEqual([email, emailVerified], [undefined, undefined])
  })

  it('has no email and no name that are not texts', async (t) => {
    const { browser } = await startHostileApp(t, {
      userinfo: set({ email: ['a'], name: { a: 1 } }),
    })
    const client = browser()
    assertRedirect(await signInOnce(client), '/')
    const { email, name } = (await identityOf(client)) ?? {}
    assert.deepEqual([email, name], [undefined, undefined])
  })
})

async function assertOutcome({ browser }: HostileApp, status: number): Promise<void> {
  const client = browser()
  const page = await signInOnce(client)
  assert.equal(page.status, status, page.body)
  assert.equal((await identityOf(client)) !== null, status === 303)
}

function otherKey() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}
