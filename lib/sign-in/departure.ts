import type { AuthorizationServer } from 'oauth4webapi'
import { during } from './faults.ts'
import { type Flow, flowOf } from './flows.ts'
import { isIssuer, loadOAuth, type Provider } from './provider.ts'

/** Creates a flow with a new state, nonce and PKCE verifier. */
export async function createFlow(provider: Provider, path: string): Promise<Flow> {
  const { generateRandomCodeVerifier } = await loadOAuth()
  const verifier = generateRandomCodeVerifier()
  return flowOf({ provider: provider.name, verifier, path, startedAt: Date.now() })
}

/**
 * Returns the URL of the authorization request (RFC 6749, section 4.1.1; RFC 7636; OpenID Connect Core, section 3.1.2.1).
 *
 * @throws {SignInError} 502 if the provider has no safe endpoint for it.
 */
export async function authorizationUrl(
  provider: Provider,
  server: AuthorizationServer,
  flow: Flow,
  redirectUri: string,
): Promise<string> {
  const { calculatePKCECodeChallenge } = await loadOAuth()
  const { options, client, scope } = provider
  const url = await during({ provider: provider.name, step: 'begin' }, () =>
    provider.endpointOf(server, 'authorization_endpoint'),
  )
  const parameters = {
    ...options.params,
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    ...(scope !== undefined && { scope }),
    state: flow.state,
    ...(isIssuer(options) && { nonce: flow.nonce }),
    code_challenge: await calculatePKCECodeChallenge(flow.verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}
