import type { HttpRequest } from '../http/request.ts'

/** The hint for an operator about an unrouted request of a sign-in. */
export interface SignIn {
  /** The kind of request, recognized by the names of its parameters. */
  readonly looksLike: 'authorization request' | 'callback' | 'provider page'
  /** The likely cause, for the operator; names only, never a value. */
  readonly hint: string
}

// Parameters of an identity provider's own pages (SPEC section 1).
const PROVIDER_PARAMETERS = [
  'continue',
  'ddm',
  'dsh',
  'flowEntry',
  'flowName',
  'o2v',
  'opparams',
  'rart',
  'signInUrl',
]

/**
 * Recognizes a request of an OAuth 2.0 sign-in (RFC 6749, section 4.1) whose path is not routed.
 *
 * @param hasController Returns whether a path of this service has a controller.
 * @returns undefined if the request looks like none.
 */
export function recognizeSignIn(
  request: HttpRequest,
  hasController: (path: string) => boolean,
): SignIn | undefined {
  const has = (name: string): boolean => request.param(name) !== undefined
  if ((has('code') || has('error')) && has('state')) {
    return {
      looksLike: 'callback',
      hint: 'The provider sends its users back to this path: register a controller for it, or correct the redirect_uri',
    }
  }
  if (PROVIDER_PARAMETERS.filter(has).length >= 2) {
    return { looksLike: 'provider page', hint: providerHint(request, hasController) }
  }
  if (has('client_id') && (has('redirect_uri') || has('response_type'))) {
    return {
      looksLike: 'authorization request',
      hint: redirectHint(request, hasController) ?? AUTHORIZATION_HINT,
    }
  }
  return undefined
}

const AUTHORIZATION_HINT =
  "The authorization endpoint seems to be set to this service; it is the identity provider's"

function providerHint(request: HttpRequest, hasController: (path: string) => boolean): string {
  return (
    redirectHint(request, hasController) ??
    'This path is a page of the identity provider: a proxy or a relative link sent its user here'
  )
}

function redirectHint(
  request: HttpRequest,
  hasController: (path: string) => boolean,
): string | undefined {
  const uri = request.param('redirect_uri')
  if (uri === undefined || !URL.canParse(uri)) return undefined
  const { host, pathname } = new URL(uri)
  return host === ownHost(request) && !hasController(pathname)
    ? 'The redirect_uri names a path of this service that no controller serves'
    : undefined
}

function ownHost(request: HttpRequest): string {
  const domain = request.param('app_domain') ?? ''
  return URL.canParse(domain) ? new URL(domain).host : String(request.headers.host ?? '')
}
