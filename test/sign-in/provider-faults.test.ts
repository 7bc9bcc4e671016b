import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { getGlobalDispatcher, interceptors, setGlobalDispatcher } from 'undici'
import { type Answer, type Faults, type Json, sendJson } from '../support/hostile-provider.ts'
import { findFreePorts } from '../support/ports.ts'
import {
  assertPrivate,
  assertRedirect,
  beginning,
  depart,
  goBack,
  identityOf,
  startApp,
  startHostileApp,
} from '../support/sign-in.ts'

type Endpoint = 'discovery' | 'jwks' | 'token' | 'userinfo'

const ENDPOINTS: readonly Endpoint[] = ['discovery', 'jwks', 'token', 'userinfo']
const MEBIBYTE = 1_048_576

/** Ways to fail that are the same for all endpoints. */
const answers: Record<string, (usual: Json) => Answer> = {
  'closes the connection': () => (response) => void response.destroy(),
  'sends half a response': () => (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 100 })
    response.write('{', () => response.destroy())
  },
  'responds with a 500': (usual) => (response) => sendJson(response, 500, usual),
  'responds with a 404': (usual) => (response) => sendJson(response, 404, usual),
  'responds with a 401 and a challenge': (usual) => (response) => {
    response.setHeader('WWW-Authenticate', 'Bearer error="invalid_token"')
    sendJson(response, 401, usual)
  },
  'sends an empty body': () => (response) => sendRaw(response, ''),
  'sends no JSON': () => (response) => sendRaw(response, '<html>'),
  'sends a list': () => (response) => sendRaw(response, '[]'),
  'sends null': () => (response) => sendRaw(response, 'null'),
  'sends an empty object': () => ({}),
  'sends more than 1 MiB': (usual) => ({ ...usual, padding: 'x'.repeat(MEBIBYTE) }),
  'sends more than 1 MiB in chunks': (usual) => (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.write(JSON.stringify({ ...usual, padding: 'x'.repeat(MEBIBYTE / 2) }).slice(0, -1))
    response.end(`,"more":"${'x'.repeat(MEBIBYTE / 2)}"}`)
  },
}

const documents: Record<string, (usual: Json) => Json> = {
  'names another issuer': (usual) => ({ ...usual, issuer: 'https://other.example' }),
  'names an issuer with another path': (usual) => ({ ...usual, issuer: `${usual.issuer}/x` }),
  'has no issuer': ({ issuer: _, ...rest }) => rest,
  'has no authorization endpoint': ({ authorization_endpoint: _, ...rest }) => rest,
  'has an authorization endpoint without a scheme': (usual) => ({
    ...usual,
    authorization_endpoint: '/authorize',
  }),
  'has an authorization endpoint that is a script': (usual) => ({
    ...usual,
    authorization_endpoint: 'javascript:alert(1)',
  }),
  'has an authorization endpoint that is no text': (usual) => ({
    ...usual,
    authorization_endpoint: 1,
  }),
}

const late: Record<string, [status: number, Faults]> = {
  'the document has no token endpoint': [502, { discovery: without('token_endpoint') }],
  'the document has no keys': [502, { discovery: without('jwks_uri') }],
  'the token response has no ID Token': [502, { token: without('id_token') }],
  'the token response has no access token': [502, { token: without('access_token') }],
  'the token response has no type': [502, { token: without('token_type') }],
  'the token response has another type': [502, { token: replace('token_type', 'mac') }],
  'the token response is an error with status 200': [502, { token: () => ({ error: 'x' }) }],
  'the ID Token is no text': [502, { token: replace('id_token', {}) }],
  'the ID Token is no token': [502, { token: replace('id_token', 'a.b.c') }],
  'the keys are no list': [502, { jwks: replace('keys', {}) }],
  'the list of keys is empty': [502, { jwks: replace('keys', []) }],
  'a key is null': [502, { jwks: replace('keys', [null]) }],
  'userinfo has no subject': [502, { userinfo: without('sub') }],
  'userinfo has another subject': [502, { userinfo: replace('sub', 'subject-other') }],
  'userinfo has a number as subject': [502, { userinfo: replace('sub', 1) }],
}

describe('A provider that fails', () => {
  for (const endpoint of ENDPOINTS) {
    for (const [what, change] of Object.entries(answers)) {
      it(`is a 502 if its endpoint "${endpoint}" ${what}`, async (t) => {
        await assertFails(await startHostileApp(t, { [endpoint]: change }), 502)
      })
    }

    it(`is a 504 if its endpoint "${endpoint}" does not respond`, {
      timeout: 10_000,
    }, async (t) => {
      const faults = { [endpoint]: () => () => {} }
      await assertFails(await startHostileApp(t, faults, { providerTimeoutMs: 60 }), 504)
    })

    it(`is a 504 if the body of its endpoint "${endpoint}" does not end`, {
      timeout: 10_000,
    }, async (t) => {
      const faults = { [endpoint]: () => (response: ServerResponse) => startBody(response) }
      await assertFails(await startHostileApp(t, faults, { providerTimeoutMs: 60 }), 504)
    })

    for (const status of [301, 302, 303, 307, 308]) {
      it(`is a 502 if its endpoint "${endpoint}" redirects with ${status}`, async (t) => {
        const faults = {
          [endpoint]: () => (response: ServerResponse) =>
            void response.writeHead(status, { Location: '/elsewhere' }).end(),
        }
        const app = await startHostileApp(t, faults)
        await assertFails(app, 502)
        assert.deepEqual(app.provider.requestsTo('/elsewhere'), [])
      })
    }
  }

  it('is a 502 if it redirects and the application lets undici follow redirects', async (t) => {
    const before = getGlobalDispatcher()
    setGlobalDispatcher(before.compose(interceptors.redirect({ maxRedirections: 3 })))
    t.after(() => setGlobalDispatcher(before))
    const redirect = (response: ServerResponse): void =>
      void response.writeHead(307, { Location: '/elsewhere' }).end()
    const app = await startHostileApp(t, { token: () => redirect })
    await assertFails(app, 502)
    assert.deepEqual(app.provider.requestsTo('/elsewhere'), [])
  })

  for (const [what, change] of Object.entries(documents)) {
    it(`is a 502 if its document ${what}`, async (t) => {
      const { browser } = await startHostileApp(t, { discovery: change })
      assert.equal((await browser().send(beginning())).status, 502)
    })
  }

  for (const [what, [status, faults]] of Object.entries(late)) {
    it(`is a ${status} if ${what}`, async (t) => {
      await assertFails(await startHostileApp(t, faults), status)
    })
  }

  it('is a 504 if each response is in time, and all together are not', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const providerTimeoutMs = 10_000
    const arrivals: string[] = []
    const answer = (endpoint: string) => (usual: Json) => (response: ServerResponse) => {
      arrivals.push(endpoint)
      t.mock.timers.tick(providerTimeoutMs - 1)
      sendJson(response, 200, usual)
    }
    const faults = { token: answer('token'), jwks: answer('jwks'), userinfo: answer('userinfo') }
    const app = await startHostileApp(t, faults, { providerTimeoutMs })
    await assertFails(app, 504)
    assert.deepEqual(arrivals, ['token', 'jwks', 'userinfo'])
    const facts = { provider: 'hostile', step: 'userinfo', fault: 'too late' }
    assert.deepEqual(app.reports[0]?.signIn, facts)
  })

  it('is a 502 with the code of the system if nothing listens, or if it has no TLS', async (t) => {
    const [port] = await findFreePorts(1)
    const { provider } = await startHostileApp(t)
    for (const [issuer, fault] of [
      [`http://127.0.0.1:${port}`, /^unreachable, ECONNREFUSED$/],
      [provider.issuer.replace('http:', 'https:'), /^unreachable, [A-Z][A-Z0-9_]+$/],
    ] as const) {
      const down = { issuer, clientId: 'a', clientSecret: 'b', scope: 'openid' }
      const { browser, reports } = await startApp(t, { providers: { down } })
      const page = await browser().send(beginning('down'))
      assert.equal(page.status, 502)
      assertPrivate(page)
      assert.match(reports[0]?.signIn?.fault ?? '', fault)
    }
  })

  it('may send documents of just under 1 MiB', async (t) => {
    const pad = (usual: Json): Json => ({ ...usual, padding: 'x'.repeat(MEBIBYTE - 2_000) })
    const faults = { discovery: pad, jwks: pad, token: pad, userinfo: pad }
    const { browser } = await startHostileApp(t, faults)
    const client = browser()
    assertRedirect(await goBack(client, await depart(client)), '/')
  })
})

async function assertFails(
  { browser, reports }: Awaited<ReturnType<typeof startHostileApp>>,
  status: number,
): Promise<void> {
  const client = browser()
  let page = await client.send(beginning())
  if (page.status === 303) page = await goBack(client, await depart(client))
  assert.equal(page.status, status, page.body)
  assertPrivate(page)
  assert.equal(await identityOf(client), null)
  assert.equal(reports.length, 1)
}

function sendRaw(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(body)
}

function startBody(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).write('{')
}

function without(name: string): (usual: Json) => Json {
  return ({ [name]: _, ...rest }) => rest
}

function replace(name: string, value: unknown): (usual: Json) => Json {
  return (usual) => ({ ...usual, [name]: value })
}
