import type { AuthorizationServer } from 'oauth4webapi'
import { isObject } from '../http/check-options.ts'
import { during, knownErrorCode, ProviderFault } from './faults.ts'
import type { Flow } from './flows.ts'
import { verifyIdToken } from './id-token.ts'
import { type Claims, factsOfClaims, type Identity, type Tokens, toIdentity } from './identity.ts'
import { isIssuer, loadOAuth, type Provider, TOLERANCE_S } from './provider.ts'

/** The tokens and the claims of a user. */
export interface Redeemed {
  readonly claims: Claims
  readonly tokens: Tokens
}

/**
 * Redeems a code for tokens, and reads the claims of the user.
 *
 * @param parameters The checked parameters of the return, from `validateAuthResponse()`.
 * @throws {SignInError} 502 or 504.
 */
export async function redeem(
  provider: Provider,
  server: AuthorizationServer,
  flow: Flow,
  {
    parameters,
    redirectUri,
    deadline,
  }: {
    readonly parameters: URLSearchParams
    readonly redirectUri: string
    readonly deadline: AbortSignal
  },
): Promise<Redeemed> {
  const { name, options } = provider
  const tokens = await during(
    { provider: name, step: 'token' },
    async () => {
      const { authorizationCodeGrantRequest } = await loadOAuth()
      provider.endpointOf(server, 'token_endpoint')
      const response = await authorizationCodeGrantRequest(
        server,
        provider.client,
        await provider.clientAuth(),
        parameters,
        redirectUri,
        flow.verifier,
        await provider.requestOptions(),
      )
      return readTokens(provider, server, flow, response)
    },
    deadline,
  )
  if (!isIssuer(options)) {
    return { tokens, claims: await readUser(provider, server, tokens, undefined, deadline) }
  }
  const idClaims = await during(
    { provider: name, step: 'id-token' },
    async () => {
      const keys = await provider.keys.of(provider.endpointOf(server, 'jwks_uri'))
      const clientId = provider.client.client_id
      const hasMaxAge = options.params?.max_age !== undefined
      const expected = { issuer: server.issuer, clientId, toleranceS: TOLERANCE_S, hasMaxAge }
      return verifyIdToken(String(tokens.id_token), keys, expected)
    },
    deadline,
  )
  if (server.userinfo_endpoint === undefined) return { tokens, claims: idClaims }
  const user = await readUser(provider, server, tokens, String(idClaims.sub), deadline)
  return { tokens, claims: mergedClaims(idClaims, user) }
}

// The claims of the ID Token have precedence. `email_verified` comes from the source of `email`: it says nothing about the address of
// the other source.
function mergedClaims(idClaims: Claims, user: Claims): Claims {
  const verified = ['email', 'phone_number'].map((name) => {
    const source = Object.hasOwn(idClaims, name) ? idClaims : user
    return [`${name}_verified`, source[`${name}_verified`]] as const
  })
  return { ...user, ...idClaims, ...Object.fromEntries(verified) }
}

/** @throws {SignInError} 502 if the claims have no subject. An error of the application's `identify` is thrown on. */
export async function identify({ name, options }: Provider, claims: Claims): Promise<Identity> {
  const facts = isIssuer(options) ? factsOfClaims(claims) : await options.identify(claims)
  return during({ provider: name, step: 'identity' }, () => {
    const identity = toIdentity(name, facts)
    if (identity === undefined) throw new ProviderFault('no subject')
    return identity
  })
}

async function readTokens(
  { client: registered, options }: Provider,
  server: AuthorizationServer,
  { nonce }: Flow,
  response: Response,
): Promise<Tokens> {
  const { clockTolerance, processAuthorizationCodeResponse } = await loadOAuth()
  const client = { ...registered, [clockTolerance]: TOLERANCE_S }
  const maxAge = options.params?.max_age
  const tokens = isIssuer(options)
    ? await processAuthorizationCodeResponse(server, client, response, {
        expectedNonce: nonce,
        requireIdToken: true,
        ...(maxAge !== undefined && { maxAge: Number(maxAge) }),
      })
    : await processAuthorizationCodeResponse(server, client, await withoutIdToken(response))
  if (tokens.token_type !== 'bearer') throw new ProviderFault('not supported')
  return tokens as Tokens
}

// An ID Token that was not requested is ignored (RFC 6749, section 5.1): there is no issuer to verify it with.
async function withoutIdToken(response: Response): Promise<Response> {
  const { status, headers } = response
  const text = await response.text()
  const body: unknown = status === 200 ? JSON.parse(text) : undefined
  if (!isObject(body)) return new Response(text, { status, headers })
  // GitHub sends its errors with the status 200.
  if ('error' in body) throw new ProviderFault(knownErrorCode(body.error))
  return Response.json({ ...body, id_token: undefined })
}

async function readUser(
  provider: Provider,
  server: AuthorizationServer,
  { access_token }: Tokens,
  subject: string | undefined,
  deadline: AbortSignal,
): Promise<Claims> {
  return during(
    { provider: provider.name, step: 'userinfo' },
    async () => {
      const { processUserInfoResponse, protectedResourceRequest, userInfoRequest } =
        await loadOAuth()
      const url = provider.endpointOf(server, 'userinfo_endpoint')
      const options = await provider.requestOptions()
      if (subject !== undefined) {
        const response = await userInfoRequest(server, provider.client, access_token, options)
        return processUserInfoResponse(server, provider.client, subject, response)
      }
      const headers = new Headers({ accept: 'application/json' })
      const response = await protectedResourceRequest(
        access_token,
        'GET',
        url,
        headers,
        null,
        options as never,
      )
      if (response.status !== 200) throw new ProviderFault('unexpected status')
      const user: unknown = await response.json()
      if (!isObject(user) || Array.isArray(user)) {
        throw new ProviderFault('no object')
      }
      return user as Claims
    },
    deadline,
  )
}
