import type { HttpErrorOptions } from '../http/errors.ts'
import { SignInError } from '../reporting/sign-in-hint.ts'

/** The parts of a sign-in that can fail. */
export type Step =
  | 'begin'
  | 'return'
  | 'discovery'
  | 'token'
  | 'id-token'
  | 'userinfo'
  | 'identity'
  | 'session'
  | 'guard'
  | 'sign-out'

/** A failure of a request to a provider. It holds nothing that the provider has sent. */
export class ProviderFault extends Error {
  readonly fault: string
  readonly status: 502 | 504

  constructor(fault: string, status: 502 | 504 = 502) {
    super(fault)
    this.fault = fault
    this.status = status
  }
}

/** The provider and the step of a sign-in that failed. */
export interface Place {
  /** The name of a provider; '' if none is configured under the requested name. */
  readonly provider: string
  readonly step: Step
}

/** Creates the error for a fault of the client or of the application. */
export function signInError(
  status: number,
  message: string,
  facts: Place & { readonly fault: string },
  headers?: HttpErrorOptions['headers'],
): SignInError {
  return new SignInError(status, message, facts, headers)
}

/**
 * Runs a part of a sign-in that depends on a provider.
 *
 * @param deadline Aborts when the provider has had enough time.
 * @throws {SignInError} 504 if the provider is too slow, else 502. It has no cause: the error of a library may quote the
 * response of the provider.
 */
export async function during<T>(
  place: Place,
  run: () => T | Promise<T>,
  deadline?: AbortSignal,
): Promise<T> {
  try {
    return await (deadline === undefined ? run() : untilDeadline(deadline, run))
  } catch (thrown) {
    const { fault, status } =
      thrown instanceof ProviderFault ? thrown : new ProviderFault(faultOf(thrown))
    // oauth4webapi also checks the claims of the ID Token in the response of the token endpoint.
    const { code } = (thrown ?? {}) as { readonly code?: unknown }
    const step = String(code).startsWith('OAUTH_JWT_') ? 'id-token' : place.step
    const facts = { ...place, step, fault }
    throw signInError(status, `The sign-in failed at the provider: ${fault}`, facts)
  }
}

// Rejects at the deadline, but does not abort what was run: other callers may wait for the same document.
function untilDeadline<T>(deadline: AbortSignal, run: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(new ProviderFault('too late', 504))
    if (deadline.aborted) return end()
    deadline.addEventListener('abort', end, { once: true })
    Promise.resolve(run()).then(resolve, reject)
  })
}

// Codes of errors (RFC 6749, sections 4.1.2.1 and 5.2; OpenID Connect Core, section 3.1.2.6; GitHub).
const ERROR_CODES: readonly string[] = [
  'access_denied',
  'account_selection_required',
  'bad_verification_code',
  'consent_required',
  'incorrect_client_credentials',
  'interaction_required',
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_request_object',
  'invalid_request_uri',
  'invalid_scope',
  'login_required',
  'redirect_uri_mismatch',
  'registration_not_supported',
  'request_not_supported',
  'request_uri_not_supported',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
  'unverified_user_email',
]

/** Returns the code of an error of a provider if a standard defines it: any other text may be a secret. */
export function knownErrorCode(code: unknown): string {
  return typeof code === 'string' && ERROR_CODES.includes(code) ? code : 'unknown error code'
}

// The codes of the errors of oauth4webapi and jose.
const FAULTS: Readonly<Record<string, string>> = {
  OAUTH_WWW_AUTHENTICATE_CHALLENGE: 'rejected credentials',
  OAUTH_PARSE_ERROR: 'invalid JSON',
  OAUTH_RESPONSE_IS_NOT_JSON: 'no JSON',
  OAUTH_RESPONSE_IS_NOT_CONFORM: 'unexpected status',
  OAUTH_MISSING_SERVER_METADATA: 'missing endpoint',
  OAUTH_INVALID_SERVER_METADATA: 'invalid endpoint',
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: 'expired or not valid yet',
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: 'wrong claim',
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: 'wrong issuer or subject',
  OAUTH_UNSUPPORTED_OPERATION: 'not supported',
  ERR_JWT_EXPIRED: 'expired or not valid yet',
  ERR_JWT_CLAIM_VALIDATION_FAILED: 'wrong claim',
  ERR_JOSE_ALG_NOT_ALLOWED: 'wrong algorithm',
  ERR_JOSE_NOT_SUPPORTED: 'not supported',
  ERR_JWKS_NO_MATCHING_KEY: 'unknown key',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'several possible keys',
  ERR_JWKS_INVALID: 'invalid keys',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'wrong signature',
}

// Codes of errors of this process: a package could not be loaded.
const LOCAL_CODES: readonly unknown[] = ['EMFILE', 'ENFILE', 'ENOENT', 'ERR_MODULE_NOT_FOUND']

function faultOf(thrown: unknown): string {
  const { code, error } = (thrown ?? {}) as { readonly code?: unknown; readonly error?: unknown }
  if (code === 'OAUTH_RESPONSE_BODY_ERROR') return knownErrorCode(error)
  if (LOCAL_CODES.includes(code)) return String(code)
  return (Object.hasOwn(FAULTS, String(code)) && FAULTS[String(code)]) || 'invalid response'
}
