import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { SignJWT } from 'jose'
import { type Action, FrontController, HttpError, HttpRequest } from '../../lib/index.ts'
import { type ProviderOptions, type SignInOptions, signIn } from '../../lib/sign-in.ts'
import { collectReports } from '../support/collectors.ts'
import { listening } from '../support/http.ts'

type Json = Readonly<Record<string, unknown>>

/** What a small provider sends: changes of its document, its tokens and its claims. */
interface Sent {
  readonly document?: Json
  readonly tokens?: Json
  readonly claims?: Json
  /** The type of all that it sends (default `application/json`). */
  readonly type?: string
  /** The status of all that it sends (default 200). */
  readonly status?: number
}

const ORIGIN = 'https://news.example'
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

describe('The redemption of a code', () => {
  it('accepts a bearer token only', async (t) => {
    for (const token_type of ['Bearer', 'bearer']) {
      assert.equal((await signInWith(t, { tokens: { token_type } })).identity?.subject, 'ada')
    }
    for (const token_type of ['DPoP', 'mac', 1, undefined]) {
      const { status, report } = await signInWith(t, { tokens: { token_type } })
      assert.equal(status, 502)
      assert.equal(report?.signIn?.step, 'token')
    }
  })

  it('ignores an ID Token of a provider without an issuer', async (t) => {
    for (const id_token of ['no token', 1, {}]) {
      const { identity } = await signInWith(t, { tokens: { id_token } }, toPlain)
      assert.equal(identity?.subject, 'ada')
    }
  })

  it('checks the time of the authentication if "params" limits its age', async (t) => {
    const limit = (options: object): ProviderOptions =>
      ({ ...options, params: { max_age: '600' } }) as never
    const now = Math.floor(Date.now() / 1_000)
    for (const [auth_time, status] of [
      [now, 303],
      [now - 650, 303],
      [now - 700, 502],
      [now + 50, 303],
      [now + 200, 502],
      [undefined, 502],
      [String(now), 502],
    ] as const) {
      const claims = { auth_time }
      assert.equal((await signInWith(t, { claims }, limit)).status, status, String(auth_time))
    }
  })

  it('shows nothing of claims, tokens and the client secret, also if the application quotes them', async (t) => {
    const claims = { sub: 'CANARY-sub', email: 'CANARY@example.org', name: 'A CANARY', id: 812345 }
    const tokens = { access_token: 'CANARY-access' }
    const quote = (...values: unknown[]): never => {
      throw new HttpError(403, `quoted: ${JSON.stringify(values)} CANARY-secret`)
    }
    const refused = await signInWith(t, { claims, tokens }, undefined, (_, details) =>
      quote(details.claims, details.tokens),
    )
    assert.equal(refused.status, 403)
    assert.match(String(refused.report?.message), /^quoted: /)
    const { front, cookie, reports } = await signInWith(t, { claims, tokens }, undefined, () => {})
    const request = new HttpRequest({ target: '/news/quote', headers: { cookie } })
    const { body } = await front.handle(request)
    assert.match(String(body), /"status":403/)
    for (const sink of [refused.reports, body, reports]) {
      assert.doesNotMatch(JSON.stringify(sink), /CANARY|812345/)
    }
  })

  it('reads documents of JSON, and no others', async (t) => {
    for (const type of [
      'application/json',
      'Application/JSON; charset=utf-8',
      'application/a+json',
    ]) {
      assert.equal((await signInWith(t, { type })).status, 303, type)
    }
    for (const type of ['text/html', 'application/jwt', 'application/jsonp', '']) {
      const { status, report } = await signInWith(t, { type })
      assert.deepEqual([status, report?.signIn?.fault], [502, 'no JSON'], type)
    }
  })

  it('follows no redirect', async (t) => {
    for (const status of [301, 302, 303, 307, 308]) {
      const { report } = await signInWith(t, { status })
      const signIn = { provider: 'small', step: 'discovery', fault: 'redirect' }
      assert.deepEqual(report?.signIn, signIn)
    }
  })

  it('sends nothing to an endpoint of another host by plain HTTP', async (t) => {
    for (const [endpoint, step] of [
      ['authorization_endpoint', 'begin'],
      ['token_endpoint', 'token'],
      ['jwks_uri', 'id-token'],
      ['userinfo_endpoint', 'userinfo'],
    ] as const) {
      for (const url of [
        'http://192.0.2.1/x',
        'http://localhost.example/x',
        'file:///x',
        1,
        null,
      ]) {
        const { status, report } = await signInWith(t, { document: { [endpoint]: url } })
        assert.equal(status, 502)
        const fault = 'unsafe endpoint'
        assert.deepEqual(report?.signIn, { provider: 'small', step, fault }, String(url))
      }
    }
  })
})

/** Signs in at a provider that listens on the loopback address. */
async function signInWith(
  t: TestContext,
  sent: Sent,
  change: (options: Record<string, string>) => ProviderOptions = (same) => same as never,
  onSignIn?: SignInOptions['onSignIn'],
) {
  const issuer = await startProvider(t, sent)
  const provider = change({ issuer, clientId: 'client', clientSecret: 'CANARY-secret' })
  const { reports, onReport } = collectReports()
  const secrets = ['a secret of thirty-two characters, or more']
  const auth = signIn({ origin: ORIGIN, secrets, providers: { small: provider }, onSignIn })
  const quote: Action = async (request) => {
    const { subject, email, name } = (await auth.identity(request)) ?? {}
    throw new HttpError(403, `quoted: ${subject} ${email} ${name}`)
  }
  const front = new FrontController({
    controllers: { elp: auth.controller, news: { quote } },
    onReport,
  })
  const send = async (target: string, cookie = '') => {
    const request = new HttpRequest({ target, headers: { cookie } })
    const { status, headers } = await front.handle(request)
    const cookies = [...headers]
      .filter(([name]) => name === 'Set-Cookie')
      .flatMap(([, each]) => each)
    const kept = cookies.filter((line) => !line.includes('Max-Age=0'))
    const location = headers.get('Location') ?? ''
    return { status, location, cookie: kept.map((line) => line.split(';')[0]).join('; ') }
  }
  const begun = await send('/elp/oauth.php?provider=small')
  const query = new URLSearchParams(begun.location.split('?')[1])
  nonce = query.get('nonce') ?? ''
  const { status, cookie } =
    begun.status === 303
      ? await send(`/elp/oauth.php?provider=small&code=c&state=${query.get('state')}`, begun.cookie)
      : begun
  const request = new HttpRequest({ target: '/', headers: { cookie } })
  return {
    status,
    cookie,
    front,
    reports,
    report: reports[0],
    identity: await auth.identity(request),
  }
}

let nonce = ''

/** Starts a provider that checks nothing, until the test ends. Returns its issuer. */
async function startProvider(
  t: TestContext,
  { document = {}, tokens = {}, claims = {}, type = 'application/json', status = 200 }: Sent,
): Promise<string> {
  const server = createServer(async ({ url }, response) => {
    const now = Math.floor(Date.now() / 1_000)
    const usual = { iss: issuer, aud: 'client', sub: 'ada', iat: now, exp: now + 60, nonce }
    const id_token = await new SignJWT({ ...usual, ...claims })
      .setProtectedHeader({ alg: 'ES256' })
      .sign(privateKey)
    const documents: Record<string, Json> = {
      '/.well-known/openid-configuration': {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['ES256'],
        ...document,
      },
      '/jwks': { keys: [publicKey.export({ format: 'jwk' })] },
      '/token': { access_token: 'a', token_type: 'Bearer', id_token, ...tokens },
      '/userinfo': { sub: claims.sub ?? 'ada' },
    }
    response.writeHead(status, { 'Content-Type': type, Location: '/jwks' })
    response.end(JSON.stringify(documents[url ?? '']))
  })
  const issuer = `http://127.0.0.1:${await listening(t, server)}`
  return issuer
}

function toPlain({ issuer = '', clientId, clientSecret }: Record<string, string>): ProviderOptions {
  return {
    authorizationEndpoint: `${issuer}/authorize`,
    tokenEndpoint: `${issuer}/token`,
    userinfoEndpoint: `${issuer}/userinfo`,
    clientId,
    clientSecret,
    identify: ({ sub }) => ({ subject: sub }),
  }
}
