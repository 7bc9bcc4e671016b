import type { createRemoteJWKSet, JWTVerifyOptions } from 'jose'
import { ProviderFault } from './faults.ts'
import type { Claims } from './identity.ts'
import type { ProviderFetch } from './provider-fetch.ts'

const MAX_KEY_AGE_MS = 3_600_000
const MIN_KEY_AGE_MS = 60_000

// The algorithms with a public key. A symmetric one would make the client secret a key.
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** Finds the key of a token, and can fetch the keys again. */
export type Keys = ReturnType<typeof createRemoteJWKSet>

/** The public keys of a provider, by the URL of its key set. */
export class KeySets {
  readonly #fetch: ProviderFetch
  #url = ''
  #keys: Keys | undefined
  #usedAt = 0

  constructor(fetch: ProviderFetch) {
    this.#fetch = fetch
  }

  /**
   * Returns the function that finds the key of a token. It keeps the keys for an hour at most, fetches them once for all callers
   * that wait, and fetches them again for an unknown key, if they are older than a minute.
   */
  async of(url: URL): Promise<Keys> {
    const { createRemoteJWKSet, customFetch } = await import('jose')
    const now = Date.now()
    // The clock may have been set back: the keys would be kept for longer.
    const isFresh = now >= this.#usedAt && url.href === this.#url
    this.#usedAt = now
    if (this.#keys !== undefined && isFresh) return this.#keys
    this.#url = url.href
    this.#keys = createRemoteJWKSet(url, {
      [customFetch]: this.#fetch as never,
      cacheMaxAge: MAX_KEY_AGE_MS,
      cooldownDuration: MIN_KEY_AGE_MS,
    })
    return this.#keys
  }
}

/** The expected properties of an ID Token. */
export interface Expected {
  readonly issuer: string
  readonly clientId: string
  readonly toleranceS: number
  /** Whether the user must have authenticated at a time that counts. */
  readonly hasMaxAge: boolean
}

/**
 * Verifies the signature of an ID Token, and what `oauth4webapi` does not check (OpenID Connect Core, section 3.1.3.7).
 *
 * @throws {ProviderFault | Error} If the token is not valid.
 */
export async function verifyIdToken(
  token: string,
  keys: Keys,
  { issuer, clientId, toleranceS, hasMaxAge }: Expected,
): Promise<Claims> {
  const payload = await verifyJwt(token, keys, {
    algorithms: ALGORITHMS,
    issuer,
    audience: clientId,
    clockTolerance: toleranceS,
    requiredClaims: ['exp', 'iat', 'sub', 'nonce'],
  })
  if (payload.azp !== undefined && payload.azp !== clientId) throw new ProviderFault('wrong azp')
  const latest = Date.now() / 1_000 + toleranceS
  if (Number(payload.iat) > latest) throw new ProviderFault('issued in the future')
  if (hasMaxAge && Number(payload.auth_time) > latest) {
    throw new ProviderFault('authenticated in the future')
  }
  return payload
}

// Fetches the keys again if the signature is wrong: the provider may have replaced a key and kept its `kid`.
async function verifyJwt(token: string, keys: Keys, options: JWTVerifyOptions): Promise<Claims> {
  const { jwtVerify } = await import('jose')
  try {
    return (await jwtVerify(token, keys, options)).payload
  } catch (thrown) {
    const { code } = thrown as { readonly code?: unknown }
    if (code !== 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') throw thrown
    // If they are cooling down, they have just been fetched, perhaps for another token.
    if (!keys.coolingDown) await keys.reload()
    return (await jwtVerify(token, keys, options)).payload
  }
}
