import { errorHooksOf } from '../controllers/error-hooks.ts'
import { isErrorRequest } from '../dispatch/error-request.ts'
import type { Plugin } from '../dispatch/plugin.ts'
import { type HttpRequest, stateOf, withState } from '../http/request.ts'
import { withoutOrigin } from '../http/request-line.ts'
import { headerOf } from '../http/request-readers.ts'
import type { ResponseHeaders } from '../http/response-headers.ts'
import { continuePath } from './continue-path.ts'
import type { SignInController } from './controller.ts'
import { signInError } from './faults.ts'
import { beginPath, enter, identityOf, type Parts } from './parts.ts'

/** Creates the plugin of a guard. It runs before each dispatch, also of a forward. */
export function createGuard(
  parts: Parts,
  { hooks }: SignInController,
  isGuarded: (request: HttpRequest) => boolean,
  provider: string,
): Plugin {
  const passes = (request: HttpRequest): boolean => {
    const { route, settings } = stateOf(request)
    const resolved = route && settings.resolve?.(route)
    if (resolved === undefined) return !isGuarded(request)
    const { run, ...names } = resolved
    if (errorHooksOf(run) === hooks) return true
    return !isGuarded(withState(request, { route: { ...route, ...names } }))
  }
  return {
    preDispatch(request, response) {
      if (isErrorRequest(request) || passes(request)) return undefined
      return identityOf(parts, request).then((identity) => {
        if (identity !== undefined) return keepPrivate(request)
        response.headers.set('Cache-Control', 'no-store')
        if (!isNavigation(request)) throw unauthorized(parts, request, provider)
        const path = continuePath(withoutOrigin(request.target))
        // The address itself is not guarded: it would redirect to itself for ever.
        if (path.split('?', 1)[0] === parts.options.path) throw notMounted(provider)
        return response.redirect(beginPath(parts, provider, path), 303)
      })
    },
  }
}

// Keeps shared caches from storing the response, which is for this user only.
function keepPrivate(request: HttpRequest): undefined {
  const { message } = stateOf(request)
  const finish = (headers: ResponseHeaders): void => {
    if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'private, no-store')
  }
  message.ending = { finish, ...message.ending }
}

function unauthorized(parts: Parts, request: HttpRequest, provider: string): Error {
  enter(parts, request)
  parts.entered.set(stateOf(request).message, provider)
  return signInError(
    401,
    'Sign in first',
    { provider, step: 'guard', fault: 'no session' },
    { 'WWW-Authenticate': 'Cookie realm="sign-in"' },
  )
}

function notMounted(provider: string): Error {
  const message = 'The "path" of signIn() leads to no action "oauth.php" of its controller'
  return signInError(500, message, { provider, step: 'guard', fault: 'not mounted' })
}

// A script cannot follow a redirect to the page of a provider.
function isNavigation(request: HttpRequest): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  const mode = headerOf(request, 'sec-fetch-mode')
  if (mode !== undefined) return mode === 'navigate'
  return /\btext\/html\b/i.test(headerOf(request, 'accept') ?? '')
}
