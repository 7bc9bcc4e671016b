import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { SignJWT } from 'jose'
import { type ErrorReport, FrontController, HttpRequest } from '../../lib/index.ts'
import type { Identity, ProviderOptions, SignInOptions } from '../../lib/sign-in.ts'
import { signIn } from '../../lib/sign-in.ts'
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
      [undefined, 502],
      [String(now), 502],
    ] as const) {
      const claims = { auth_time }
      assert.equal((await signInWith(t, { claims }, limit)).status, status, String(auth_time))
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

/** Signs in at a provider that listens on the loopback address, in a browser that keeps one cookie. */
async function signInWith(
  t: TestContext,
  sent: Sent,
  change: (options: Record<string, string>) => ProviderOptions = (same) => same as never,
) {
  const issuer = await startProvider(t, sent)
  const provider = change({ issuer, clientId: 'client', clientSecret: 'secret' })
  const { reports, onReport } = collectReports()
  let identity: Identity | undefined
  const options: SignInOptions = {
    origin: ORIGIN,
    secrets: ['a secret of thirty-two characters, or more'],
    providers: { small: provider },
    onSignIn: (each) => {
      identity = each
    },
  }
  const controllers = { elp: signIn(options).controller }
  const front = new FrontController({ controllers, onReport })
  const begun = await front.handle(new HttpRequest({ target: '/elp/oauth.php?provider=small' }))
  const report = (): ErrorReport | undefined => reports[0]
  if (begun.status !== 303) return { status: begun.status, identity, report: report() }
  const { searchParams } = new URL(begun.headers.get('Location') ?? '')
  nonce = searchParams.get('nonce') ?? ''
  const target = `/elp/oauth.php?provider=small&code=c&state=${searchParams.get('state')}`
  const cookie = begun.headers.get('Set-Cookie')?.split(';')[0] ?? ''
  const { status } = await front.handle(new HttpRequest({ target, headers: { cookie } }))
  return { status, identity, report: report() }
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
      '/userinfo': { sub: 'ada' },
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
