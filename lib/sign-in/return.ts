import type { AuthorizationServer } from 'oauth4webapi'
import { type HttpRequest, stateOf } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import type { SignInError } from '../reporting/sign-in-hint.ts'
import { withDeadline } from './deadline.ts'
import { during, knownErrorCode, signInError } from './faults.ts'
import type { Flow } from './flows.ts'
import type { Identity } from './identity.ts'
import { type Parts, redirectUriOf, single } from './parts.ts'
import { isIssuer, loadOAuth, type Provider } from './provider.ts'
import { identify, redeem } from './redeem.ts'

/**
 * Ends a sign-in: redeems the code, and begins the session.
 *
 * @throws {SignInError} 400, 403, 502 or 504; and whatever `onSignIn` throws.
 */
export async function complete(
  parts: Parts,
  { provider, flow }: { readonly provider: Provider; readonly flow: Flow },
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const { onSignIn, providerTimeoutMs } = parts.options
  // Two times the timeout for all requests to the provider together: this is below the default time of an action.
  const { claims, tokens } = await withDeadline(providerTimeoutMs * 2, async (deadline) => {
    const server = serverOf(provider, await provider.describe(deadline), request)
    const parameters = await checkedParameters(provider, server, flow, request)
    const redirectUri = redirectUriOf(parts, provider)
    return redeem(provider, server, flow, { parameters, redirectUri, deadline })
  })
  // The errors of `onSignIn` may quote them. It fails if they are nested too deep.
  await during({ provider: provider.name, step: 'identity' }, () =>
    stateOf(request).message.hide(claims, tokens, provider.options.clientSecret),
  )
  const identity = await identify(provider, claims)
  const data = await onSignIn?.(identity, { claims, tokens, request })
  await beginSession(parts, response, { ...identity, ...(data !== undefined && { data }) })
  response.redirect(flow.path, 303)
}

/** Creates the error for a return with other parameters than those of the protocol. */
export function invalidReturn(provider: string): SignInError {
  const facts = { provider, step: 'return', fault: 'wrong parameters' } as const
  return signInError(400, 'The return from the provider is not valid', facts)
}

async function beginSession(
  { sessions }: Parts,
  response: HttpResponse,
  identity: Identity,
): Promise<void> {
  try {
    await sessions.write(response, identity)
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown
    const { provider } = identity
    throw signInError(500, thrown.message, { provider, step: 'session', fault: 'too large' })
  }
}

/** Checks the parameters of the return by RFC 6749, section 4.1.2, and RFC 9207. */
async function checkedParameters(
  { name: provider, client }: Provider,
  server: AuthorizationServer,
  { state }: Flow,
  { query }: HttpRequest,
): Promise<URLSearchParams> {
  const { AuthorizationResponseError, validateAuthResponse } = await loadOAuth()
  // A parameter without a value counts as missing (RFC 6749, section 3.1).
  const parameters = new URLSearchParams([...query].filter(([, value]) => value !== ''))
  try {
    return validateAuthResponse(server, client, parameters, state)
  } catch (thrown) {
    if (!(thrown instanceof AuthorizationResponseError)) throw invalidReturn(provider)
    const fault = knownErrorCode(thrown.error)
    const facts = { provider, step: 'return', fault } as const
    throw fault === 'access_denied'
      ? signInError(403, 'The provider did not grant access', facts)
      : signInError(502, `The sign-in failed at the provider: ${fault}`, facts)
  }
}

// Accepts the `iss` of a provider without a configured issuer if it has the origin of its endpoint: nothing else is known of it.
function serverOf(
  { options }: Provider,
  server: AuthorizationServer,
  { query }: HttpRequest,
): AuthorizationServer {
  const issuer = single(query, 'iss')
  if (isIssuer(options) || issuer === undefined || !URL.canParse(issuer)) return server
  return new URL(issuer).origin === server.issuer ? { ...server, issuer } : server
}
