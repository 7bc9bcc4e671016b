import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { signIn } from '../../lib/sign-in.ts'
import { OAUTH, OIDC, ORIGIN, SECRET } from '../support/sign-in.ts'

const options = { origin: ORIGIN, secrets: [SECRET], providers: { p: OIDC } }

/** Options that are wrong, by the name that the message must have. */
const wrong: [name: string, change: object][] = [
  ['origin', { origin: undefined }],
  ['origin', { origin: 'news.example' }],
  ['origin', { origin: `${ORIGIN}/` }],
  ['origin', { origin: `${ORIGIN}/path` }],
  ['origin', { origin: 'https://NEWS.example' }],
  ['origin', { origin: 'https://user@news.example' }],
  ['secrets', { secrets: undefined }],
  ['secrets', { secrets: [] }],
  ['secrets', { secrets: SECRET }],
  ['secrets', { secrets: [undefined] }],
  ['secrets', { secrets: [SECRET, ''] }],
  ['secrets', { secrets: ['x'.repeat(31)] }],
  ['secrets', { secrets: [new Uint8Array(31)] }],
  ['secrets', { secrets: [32] }],
  ['providers', { providers: undefined }],
  ['providers', { providers: {} }],
  ['providers', { providers: [] }],
  ['providers', { providers: [OIDC] }],
  ['p', { providers: { p: undefined } }],
  ['sessionTTL', { sessionTTL: 1 }],
  ['callback', { callback: '/x' }],
  ['path', { path: 'elp/oauth.php' }],
  ['path', { path: '//elp/oauth.php' }],
  ['path', { path: 'https://news.example/elp/oauth.php' }],
  ['path', { path: '/elp/oauth.php?a=b' }],
  ['path', { path: 1 }],
  ...['sessionTtlMs', 'transactionTtlMs', 'providerTimeoutMs'].flatMap((name) =>
    [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1000', null].map(
      (value): [string, object] => [name, { [name]: value }],
    ),
  ),
  ['onSignIn', { onSignIn: 'x' }],
]

const wrongProvider: [name: string, provider: object][] = [
  ['clientId', { ...OIDC, clientId: undefined }],
  ['clientId', { ...OIDC, clientId: '' }],
  ['clientSecret', { ...OIDC, clientSecret: undefined }],
  ['clientSecret', { ...OIDC, clientSecret: '' }],
  ['clientSecret', { ...OIDC, clientSecret: 'b', clientAuth: 'none' }],
  ['clientAuth', { ...OIDC, clientAuth: 'jwt' }],
  ['scope', { ...OIDC, scope: 'email profile' }],
  ['scope', { ...OIDC, scope: 'openidx email' }],
  ['scope', { ...OIDC, scope: ['openid'] }],
  ['issuer', { ...OIDC, issuer: undefined }],
  ['issuer', { ...OIDC, issuer: 'https://idp.example?x=y' }],
  ['clientid', { ...OIDC, clientid: 'a' }],
  ['params', { ...OIDC, params: 'access_type=offline' }],
  ['params', { ...OIDC, params: new Map([['prompt', 'login']]) }],
  ['params', { ...OIDC, params: new URLSearchParams('prompt=login') }],
  ['params', { ...OIDC, params: ['prompt'] }],
  ['issuer', { ...OIDC, issuer: ' https://idp.example' }],
  ['issuer', { ...OIDC, issuer: 'https://idp.example\n' }],
  ['issuer', { ...OIDC, issuer: 'https://idp.\texample' }],
  ['tokenEndpoint', { ...OAUTH, tokenEndpoint: 'https://idp.example/t ' }],
  ['identify', { ...OAUTH, identify: undefined }],
  ['identify', { ...OAUTH, identify: 'id' }],
  ['tokenEndpoint', { ...OAUTH, tokenEndpoint: undefined }],
  ['authorizationEndpoint', { ...OAUTH, authorizationEndpoint: undefined }],
  ['userinfoEndpoint', { ...OAUTH, userinfoEndpoint: undefined }],
  ...[
    'response_type',
    'client_id',
    'redirect_uri',
    'scope',
    'state',
    'nonce',
    'code_challenge',
    'code_challenge_method',
    'response_mode',
    'request',
    'request_uri',
  ].map((name): [string, object] => [name, { ...OIDC, params: { [name]: 'x' } }]),
]

describe('signIn()', () => {
  it('accepts options that are complete', () => {
    signIn(options)
    signIn({ ...options, providers: { plain: OAUTH }, secrets: [new Uint8Array(32), SECRET] })
    signIn({ ...options, providers: { p: { ...OIDC, params: { prompt: 'login', max_age: '0' } } } })
    const { clientSecret: _, ...open } = OIDC
    signIn({ ...options, providers: { p: { ...open, clientAuth: 'none' } } })
  })

  for (const [name, change] of wrong) {
    it(`throws a TypeError that names "${name}" for ${inspect(change)}`, () => {
      assertThrows(name, { ...options, ...change })
    })
  }

  for (const [name, provider] of wrongProvider) {
    it(`throws a TypeError that names "${name}" for the provider ${inspect(provider)}`, () => {
      assertThrows(name, { ...options, providers: { ok: OIDC, p: provider } })
    })
  }

  it('shows no secret in a message', () => {
    for (const secrets of [['short secret'], [SECRET, 'short secret']]) {
      assert.throws(
        () => signIn({ ...options, secrets }),
        ({ message }: Error) => !message.includes('short'),
      )
    }
  })
})

function assertThrows(name: string, each: object): void {
  const check = (error: unknown): boolean => {
    assert.ok(error instanceof TypeError, String(error))
    assert.match(error.message, new RegExp(name))
    return true
  }
  assert.throws(() => signIn(each as never), check)
}

function inspect(value: object): string {
  return JSON.stringify(value, (_, each) => (each === undefined ? 'undefined' : each)).slice(0, 120)
}
