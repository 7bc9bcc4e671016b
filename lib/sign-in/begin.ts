import type { HttpRequest } from '../http/request.ts'
import { headerOf } from '../http/request-readers.ts'
import type { HttpResponse } from '../http/response.ts'
import { continuePath } from './continue-path.ts'
import { authorizationUrl, createFlow } from './departure.ts'
import { signInError } from './faults.ts'
import { type Parts, redirectUriOf, single } from './parts.ts'
import type { Provider } from './provider.ts'

/**
 * Begins a sign-in: redirects the browser to the provider, with the cookie of a new flow.
 *
 * @throws {SignInError} 400 if the request is not a navigation; 502 or 504 if the document of the provider cannot be
 * fetched.
 */
export async function begin(
  parts: Parts,
  provider: Provider,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  // Each image of a page would begin a flow, and the cookies of many flows would exceed the limit of the headers.
  if ((headerOf(request, 'sec-fetch-mode') ?? 'navigate') !== 'navigate') {
    const facts = { provider: provider.name, step: 'begin', fault: 'no navigation' } as const
    throw signInError(400, 'A sign-in begins with a link or a redirect', facts)
  }
  const server = await provider.describe()
  const flow = await createFlow(provider, continuePath(single(request.query, 'continue')))
  const url = await authorizationUrl(provider, server, flow, redirectUriOf(parts, provider))
  await parts.flows.begin(request, response.cookies, flow)
  response.redirect(url, 303)
}
