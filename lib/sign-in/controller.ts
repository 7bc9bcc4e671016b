import type { Action, Controller } from '../controllers/controller.ts'
import { type ErrorHooks, errorHooks, errorHooksOf } from '../controllers/error-hooks.ts'
import { ResponseCookies } from '../http/cookies.ts'
import { HttpError } from '../http/errors.ts'
import { typeOf } from '../http/exceptions.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { splitTarget, withoutOrigin } from '../http/request-line.ts'
import { kindOfSignIn } from '../reporting/sign-in-hint.ts'
import { knownParams } from '../scrubbing/sent-params.ts'
import { begin } from './begin.ts'
import { signInError } from './faults.ts'
import type { Flow } from './flows.ts'
import { beginPath, enter, type Parts, single } from './parts.ts'
import { complete, invalidReturn } from './return.ts'
import { createSignOut } from './sign-out.ts'

/** The actions of a sign-in, and what happens at its errors. */
export interface SignInController {
  readonly controller: Controller
  /** They concern only the errors of this sign-in. */
  readonly hooks: ErrorHooks
}

// A request with one of these is a return from the provider.
const RETURN_PARAMETERS = ['code', 'state', 'error']
// The parameters of the address and of the protocol. A request has each of them once at most (RFC 6749, section 3.1).
const SINGLE_PARAMETERS = [
  ...[...RETURN_PARAMETERS, 'provider', 'iss', 'error_description', 'error_uri', 'scope'],
  ...['response', 'id_token', 'access_token', 'token_type', 'expires_in', 'session_state'],
]

// Reports show only these names: a code may be glued to any other one.
const KNOWN_PARAMETERS = new Set([...SINGLE_PARAMETERS, 'continue', 'authuser', 'hd', 'prompt'])

/** Creates the actions `oauth.php` and `sign-out`. */
export function createController(parts: Parts): SignInController {
  const oauth: Action = async (request, response) => {
    const { query } = request
    const isReturn = RETURN_PARAMETERS.some((name) => query.has(name))
    if (!isReturn) {
      enter(parts, request)
      const provider = providerOf(parts, request, 'begin')
      return begin(parts, provider, request, response)
    }
    if (request.method === 'HEAD') {
      enter(parts, request)
      throw new HttpError(405, 'The method is not allowed here', { headers: { Allow: 'GET' } })
    }
    const flow = await findFlow(parts, request)
    const provider = providerOf(parts, request, 'return')
    if (flow?.provider !== provider.name) {
      const facts = { provider: provider.name, step: 'return', fault: 'unknown state' } as const
      throw signInError(400, 'This sign-in has ended, or has not begun in this browser', facts)
    }
    const results = ['code', 'error'].filter((name) => single(query, name) !== undefined)
    if (results.length !== 1) throw invalidReturn(provider.name)
    return complete(parts, { provider, flow }, request, response)
  }
  const signOut = createSignOut(parts)
  const hooks: ErrorHooks = {
    failed(request) {
      const { message, route, firstRoute, settings } = stateOf(request)
      if (parts.entered.has(message)) return
      // No action has run, for example because of another method, a form that is too large, or a forward of a plugin.
      const isOwn = [route, firstRoute].some(
        (each) => each && errorHooksOf(settings.resolve?.(each).run) === hooks,
      )
      // A plugin may reject the request before it is routed.
      const path = withoutOrigin(splitTarget(message.target).path)
      if (isOwn || path === parts.options.path) enter(parts, request)
    },
    linkOf(request, exception) {
      const { message } = stateOf(request)
      const provider = parts.entered.get(message) ?? astrayProvider(parts, request, exception)
      if (provider === undefined) return undefined
      return { href: beginPath(parts, provider), text: 'Sign in again' }
    },
  }
  oauth.methods = ['GET']
  Object.assign(oauth, { [knownParams]: KNOWN_PARAMETERS, [errorHooks]: hooks })
  signOut.methods = ['POST']
  Object.assign(signOut, { [errorHooks]: hooks })
  return { hooks, controller: { 'oauth.php': oauth, signOut } }
}

/** Returns the flow of a request. Whatever its outcome, the response removes the cookie of the flow. */
async function findFlow(parts: Parts, request: HttpRequest): Promise<Flow | undefined> {
  enter(parts, request)
  const state = single(request.query, 'state')
  const flow = state === undefined ? undefined : await parts.flows.find(request, state)
  if (flow === undefined) return undefined
  enter(parts, request, (headers) => parts.flows.end(new ResponseCookies(headers), flow.state))
  return flow
}

/** @throws {SignInError} 400 if a parameter was sent twice; 404 if no such provider is configured. */
function providerOf({ providers }: Parts, { query }: HttpRequest, step: 'begin' | 'return') {
  const provider = providers.get(single(query, 'provider') ?? '')
  const facts = { provider: provider?.name ?? '', step }
  if (SINGLE_PARAMETERS.some((name) => query.getAll(name).length > 1)) {
    const fault = 'repeated parameter'
    throw signInError(400, 'A parameter was given more than once', { ...facts, fault })
  }
  if (provider !== undefined) return provider
  throw signInError(404, 'There is no such provider', { ...facts, fault: 'unknown provider' })
}

// A page of the provider was requested here, at a path that is not routed. Its `redirect_uri` shows the sign-in.
function astrayProvider(
  { options, providers }: Parts,
  request: HttpRequest,
  exception: Error,
): string | undefined {
  if (typeOf(exception) === 'EXCEPTION_OTHER') return undefined
  const uri = single(request.query, 'redirect_uri') ?? ''
  const start = `${options.site.origin}${options.path}?`
  if (!uri.startsWith(start)) return undefined
  const name = single(new URLSearchParams(uri.slice(start.length)), 'provider')
  // The configured name, and not the one of the request.
  const provider = providers.get(name ?? '')?.name
  return kindOfSignIn(request) === 'provider page' ? provider : undefined
}
