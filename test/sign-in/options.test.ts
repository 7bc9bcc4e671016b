import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { signIn } from '../../lib/sign-in.ts'
import { ORIGIN, SECRET } from '../support/sign-in.ts'

const oidc = { issuer: 'https://idp.example', clientId: 'a', clientSecret: 'b', scope: 'openid' }
const plain = {
  authorizationEndpoint: 'https://idp.example/a',
  tokenEndpoint: 'https://idp.example/t',
  userinfoEndpoint: 'https://idp.example/u',
  clientId: 'a',
  clientSecret: 'b',
  scope: 'x',
  identify: () => ({ subject: 'a' }),
}
const options = { origin: ORIGIN, secrets: [SECRET], providers: { p: oidc } }

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
  ['providers', { providers: [oidc] }],
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
  ['clientId', { ...oidc, clientId: undefined }],
  ['clientId', { ...oidc, clientId: '' }],
  ['clientSecret', { ...oidc, clientSecret: undefined }],
  ['clientSecret', { ...oidc, clientSecret: '' }],
  ['clientSecret', { ...oidc, clientSecret: 'b', clientAuth: 'none' }],
  ['clientAuth', { ...oidc, clientAuth: 'jwt' }],
  ['scope', { ...oidc, scope: 'email profile' }],
  ['scope', { ...oidc, scope: 'openidx email' }],
  ['scope', { ...oidc, scope: ['openid'] }],
  ['issuer', { ...oidc, issuer: undefined }],
  ['issuer', { ...oidc, issuer: 'https://idp.example?x=y' }],
  ['clientid', { ...oidc, clientid: 'a' }],
  ['params', { ...oidc, params: 'access_type=offline' }],
  ['params', { ...oidc, params: new Map([['prompt', 'login']]) }],
  ['params', { ...oidc, params: new URLSearchParams('prompt=login') }],
  ['params', { ...oidc, params: ['prompt'] }],
  ['issuer', { ...oidc, issuer: ' https://idp.example' }],
  ['issuer', { ...oidc, issuer: 'https://idp.example\n' }],
  ['issuer', { ...oidc, issuer: 'https://idp.\texample' }],
  ['tokenEndpoint', { ...plain, tokenEndpoint: 'https://idp.example/t ' }],
  ['identify', { ...plain, identify: undefined }],
  ['identify', { ...plain, identify: 'id' }],
  ['tokenEndpoint', { ...plain, tokenEndpoint: undefined }],
  ['authorizationEndpoint', { ...plain, authorizationEndpoint: undefined }],
  ['userinfoEndpoint', { ...plain, userinfoEndpoint: undefined }],
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
  ].map((name): [string, object] => [name, { ...oidc, params: { [name]: 'x' } }]),
]

describe('signIn()', () => {
  it('accepts options that are complete', () => {
    signIn(options)
    signIn({ ...options, providers: { plain }, secrets: [new Uint8Array(32), SECRET] })
    signIn({ ...options, providers: { p: { ...oidc, params: { prompt: 'login', max_age: '0' } } } })
    const { clientSecret: _, ...open } = oidc
    signIn({ ...options, providers: { p: { ...open, clientAuth: 'none' } } })
  })

  for (const [name, change] of wrong) {
    it(`throws a TypeError that names "${name}" for ${inspect(change)}`, () => {
      assertThrows(name, { ...options, ...change })
    })
  }

  for (const [name, provider] of wrongProvider) {
    it(`throws a TypeError that names "${name}" for the provider ${inspect(provider)}`, () => {
      assertThrows(name, { ...options, providers: { ok: oidc, p: provider } })
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
