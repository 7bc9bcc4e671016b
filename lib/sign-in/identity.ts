import type { HttpRequest } from '../http/request.ts'

/** The user that has signed in. */
export interface Identity<Data = unknown> {
  /** The name of the provider in the options. */
  readonly provider: string
  /** The identifier of the user at this provider: `sub`, or what `identify` returned. It never changes; an e-mail may. */
  readonly subject: string
  /** The e-mail, if the provider has sent one: see `emailVerified`. */
  readonly email?: string
  /** Whether the provider has verified the e-mail. Only the boolean true counts. */
  readonly emailVerified?: boolean
  /** The name to show, if the provider has sent one. */
  readonly name?: string
  /** Milliseconds since 1970. */
  readonly signedInAt: number
  /** The return value of `onSignIn`, after `JSON.stringify()` and `JSON.parse()`. */
  readonly data?: Data
}

/**
 * The facts that `identify` reads in the response of the userinfo endpoint. A value of another type counts as missing.
 */
export interface UserFacts {
  /** The identifier of the user: a non-empty string that never changes. */
  readonly subject?: unknown
  /** The e-mail. */
  readonly email?: unknown
  /** Whether the provider has verified the e-mail. Only the boolean true counts. */
  readonly emailVerified?: unknown
  /** The name to show. */
  readonly name?: unknown
}

/** The claims about a user, of the ID Token and of the userinfo endpoint. */
export type Claims = Readonly<Record<string, unknown>>

/** The response of the token endpoint (RFC 6749, section 5.1; OpenID Connect Core, section 3.1.3.3). */
export interface Tokens {
  /** The token for requests to the provider. */
  readonly access_token: string
  /** The type of the access token: `bearer`. */
  readonly token_type: string
  /** The lifetime of the access token, in seconds. */
  readonly expires_in?: number
  /** The token that renews the access token. */
  readonly refresh_token?: string
  /** The granted scopes, if they differ from the requested ones. */
  readonly scope?: string
  /** The ID Token of OpenID Connect. It has been verified. */
  readonly id_token?: string
  readonly [parameter: string]: unknown
}

/** The second argument of `onSignIn`. */
export interface SignInDetails {
  /**
   * The claims of the ID Token, and those of the userinfo endpoint that it does not have. `email_verified` and
   * `phone_number_verified` come from the source of the address.
   */
  readonly claims: Claims
  /** The tokens. Portico does not keep them. */
  readonly tokens: Tokens
  /** The request of the return from the provider. */
  readonly request: HttpRequest
}

/** Reads a user in the claims of OpenID Connect (Core, section 5.1). */
export function factsOfClaims(claims: Claims): UserFacts {
  const { sub, email, email_verified, name } = claims
  return { subject: sub, email, emailVerified: email_verified, name }
}

/** Returns an identity without data; undefined if the user has no subject. */
export function toIdentity(provider: string, facts: UserFacts | undefined): Identity | undefined {
  const { subject, email, emailVerified, name } = facts ?? {}
  if (!isText(subject)) return undefined
  return {
    provider,
    subject,
    ...(isText(email) && {
      email,
      ...(emailVerified !== undefined && { emailVerified: emailVerified === true }),
    }),
    ...(isText(name) && { name }),
    signedInAt: Date.now(),
  }
}

/** Reports whether a value is a text that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
