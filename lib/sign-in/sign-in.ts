import type { Controller } from '../controllers/controller.ts'
import type { ErrorLink } from '../controllers/error-hooks.ts'
import type { Plugin } from '../dispatch/plugin.ts'
import { checkNames } from '../http/check-options.ts'
import type { HttpRequest } from '../http/request.ts'
import { checkInstalled } from '../session/optional-package.ts'
import { continuePath } from './continue-path.ts'
import { createController } from './controller.ts'
import { createGuard } from './guard.ts'
import type { Identity } from './identity.ts'
import { checkedOptions, type SignInOptions } from './options.ts'
import { beginPath, createParts, identityOf } from './parts.ts'

/** Options of a guard. */
export interface GuardOptions {
  /** The provider that a user without a session is sent to (default: the first one). */
  readonly provider?: string | undefined
}

/** Options of a path that begins a sign-in. */
export interface BeginOptions {
  /** The path to continue at after the sign-in; `/` in place of anything else (default `/`). */
  readonly continue?: string | undefined
}

/** A sign-in: its addresses, and the identity of a request. */
export interface SignIn<Data = unknown> {
  /** The actions `oauth.php` (GET, and HEAD only to begin) and `sign-out` (POST). */
  readonly controller: Controller
  /** Returns the user of a request; undefined if there is no session. The cookie is unsealed once a request. */
  identity(request: HttpRequest): Promise<Identity<Data> | undefined>
  /**
   * Creates a plugin that lets only users with a session pass. It holds at every dispatch, forwards too. A navigation by GET
   * or HEAD is redirected to the sign-in, and everything else is a 401. The actions of the controller and the error
   * page are never guarded.
   *
   * @param isGuarded Reports whether a request needs a user. The request has the registered names, however a client spells them.
   * @throws {TypeError} If `isGuarded` is not a function, or the provider is not configured.
   */
  guard(isGuarded: (request: HttpRequest) => boolean, options?: GuardOptions): Plugin
  /**
   * Returns the path that begins a sign-in, such as `/elp/oauth.php?provider=google`.
   *
   * @throws {TypeError} If the provider is not configured.
   */
  url(provider: string, options?: BeginOptions): string
  /**
   * Returns the link that the built-in error page offers, for an error action of the application; undefined if the error has
   * nothing to do with this sign-in.
   *
   * @param request The request of the error action.
   */
  link(request: HttpRequest): ErrorLink | undefined
}

/**
 * Creates a sign-in by external identity providers: the authorization-code flow of OAuth 2.0 with PKCE, and OpenID Connect.
 * The sessions are sealed cookies, so several processes with the same secrets need no store. Needs the packages
 * `oauth4webapi`, `jose` and `undici`.
 *
 * @example
 * const auth = signIn({
 *   origin: 'https://news.example',
 *   secrets: [process.env.SIGN_IN_SECRET],
 *   providers: { google: { issuer: 'https://accounts.google.com', clientId, clientSecret, scope: 'openid email' } },
 * })
 * new FrontController({ controllers: { elp: auth.controller }, plugins: [auth.guard((r) => r.module === 'admin')] })
 * @throws {TypeError} If an option is missing, misspelt or unsafe; the message names it.
 * @throws {Error} If one of the packages is not installed; the message is the command that installs it.
 */
export function signIn<Data = unknown>(options: SignInOptions<Data>): SignIn<Data> {
  const checked = checkedOptions(options)
  checkInstalled(['oauth4webapi', 'jose', 'undici'], 'portico/sign-in')
  const parts = createParts(checked)
  const actions = createController(parts)
  const checkProvider = (provider: string): void => {
    if (parts.providers.has(provider)) return
    throw new TypeError(`There is no provider "${String(provider)}" among the options of signIn()`)
  }
  return {
    controller: actions.controller,
    identity: (request) => identityOf(parts, request) as Promise<Identity<Data> | undefined>,
    guard(isGuarded, guardOptions = {}) {
      checkNames('options of a guard', guardOptions, ['provider'])
      const { provider = parts.first } = guardOptions
      checkProvider(provider)
      if (typeof isGuarded !== 'function') {
        throw new TypeError('Expected "isGuarded" to be a function')
      }
      return createGuard(parts, actions, isGuarded, provider)
    },
    url(provider, urlOptions = {}) {
      checkNames('options of url()', urlOptions, ['continue'])
      checkProvider(provider)
      return beginPath(parts, provider, continuePath(urlOptions.continue))
    },
    link({ errorHandler }) {
      return errorHandler && actions.hooks.linkOf(errorHandler.request, errorHandler.exception)
    },
  }
}
