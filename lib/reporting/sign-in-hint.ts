import { HttpError, type HttpErrorOptions, setDefaults } from '../http/errors.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { headerOf } from '../http/request-readers.ts'
import { sentParamsOf } from '../scrubbing/sent-params.ts'
import type { Failure } from './failure.ts'

/** The hint for an operator about an unrouted request of a sign-in. */
export interface SignInHint {
  /** The kind of request, recognized by the names of its parameters. */
  readonly looksLike: 'authorization request' | 'callback' | 'provider page'
  /** The likely cause, for the operator; names only, never a value. */
  readonly hint: string
}

/** The facts of a failed sign-in: configured names and fixed words, and nothing of the request. */
export interface SignInFacts {
  /** The name of the provider in the options; '' if the request names none. */
  readonly provider: string
  /** The part of the sign-in that failed, such as `token`. */
  readonly step: string
  /** What was wrong, such as `too late`. */
  readonly fault: string
}

/** A failed sign-in. Its report has the facts. The error of a library is not its `cause`. */
export class SignInError extends HttpError {
  /** The facts. */
  readonly signIn: SignInFacts

  /** @param facts Reports do not scrub them. */
  constructor(
    status: number,
    message: string,
    facts: SignInFacts,
    headers?: HttpErrorOptions['headers'],
  ) {
    super(status, message, headers && { headers })
    this.signIn = Object.freeze({ ...facts })
  }
}

setDefaults(SignInError, 'SignInError')

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

const HINTS: Readonly<Record<SignInHint['looksLike'], string>> = {
  callback:
    'The provider sends its users back to this path: register a controller for it, or correct the redirect_uri',
  'provider page':
    'This path is a page of the identity provider: a proxy or a relative link sent its user here',
  'authorization request':
    "The authorization endpoint seems to be set to this service; it is the identity provider's",
}

/**
 * Recognizes a request of an OAuth 2.0 sign-in (RFC 6749, section 4.1) that went astray: no action serves it.
 *
 * @returns undefined if the request looks like none.
 */
export function recognizeSignIn({ request, status }: Failure): SignInHint | undefined {
  if (request === undefined || request.route !== null || status !== 404) return undefined
  const looksLike = kindOfSignIn(request)
  if (looksLike === undefined) return undefined
  const hint = looksLike !== 'callback' && redirectHintOf(request)
  return { looksLike, hint: hint || HINTS[looksLike] }
}

/** Returns the kind of a request that {@link recognizeSignIn} recognizes. Reads no value. */
export function kindOfSignIn(request: HttpRequest): SignInHint['looksLike'] | undefined {
  const params = sentParamsOf(request)
  const has = (name: string): boolean => params.has(name)
  if ((has('code') || has('error')) && has('state')) return 'callback'
  if (PROVIDER_PARAMETERS.filter(has).length > 1) return 'provider page'
  const isAuthorization = has('client_id') && (has('redirect_uri') || has('response_type'))
  return isAuthorization ? 'authorization request' : undefined
}

// The time to parse a host in other characters than ASCII grows with the square of its length: 0.2 s for 16,000.
const SHORT_URL = /^[a-z]{1,10}:\/\/[^/?#\\]{1,255}(?:[/?#].{0,8000})?$/is
// Each report of the error routes the path again, and the expressions of routes take time for a long one.
const MAX_PATH = 500

function redirectHintOf(request: HttpRequest): string | undefined {
  const redirect = urlIn(request, 'redirect_uri')
  if (redirect === undefined || redirect.pathname.length > MAX_PATH) return undefined
  const ownHost = urlIn(request, 'app_domain')?.host ?? headerOf(request, 'host')
  const { hasController } = stateOf(request).settings
  return redirect.host === ownHost && hasController?.(redirect) === false
    ? 'The redirect_uri names a path of this service that no controller serves'
    : undefined
}

function urlIn(request: HttpRequest, name: string): URL | undefined {
  const url = sentParamsOf(request).get(name)?.text ?? ''
  return SHORT_URL.test(url) && URL.canParse(url) ? new URL(url) : undefined
}
