import { hkdfSync, subtle, type webcrypto } from 'node:crypto'
import { once } from './optional-package.ts'

/** Encrypts and authenticates values that a browser keeps, so that it can neither read nor change them. */
export interface Seal {
  /** Seals a value that has a JSON form. It can be opened for a time, in milliseconds. */
  seal(data: unknown, ttlMs: number): Promise<string>
  /** Returns the sealed value; undefined for a text that is changed, truncated, expired, or has another seal. */
  open(text: string): Promise<unknown>
}

const MIN_SECRET_BYTES = 32
const HEADER = { alg: 'dir', enc: 'A256GCM' } as const
const ALGORITHMS = {
  keyManagementAlgorithms: [HEADER.alg],
  contentEncryptionAlgorithms: [HEADER.enc],
  requiredClaims: ['data', 'exp'],
}

// Loaded when first needed: an import of this file then also works with require().
const loadJose = once(() => import('jose'))

/**
 * Creates a seal. A value that was sealed for one purpose cannot be opened for another one.
 *
 * @param secrets The first one seals, and all open.
 * @throws {TypeError} If a secret is too short; the message names it.
 */
export function createSeal(secrets: unknown, purpose: string): Seal {
  const raw = checkedSecrets(secrets).map((secret) => hkdfSync('sha256', secret, '', purpose, 32))
  // Imports the keys once: jose would import the bytes for each cookie, which takes half of the time.
  const importKeys = once(() => Promise.all(raw.map(importKey)))
  return {
    async seal(data, ttlMs) {
      const { EncryptJWT } = await loadJose()
      const jwt = new EncryptJWT({ data }).setExpirationTime((Date.now() + ttlMs) / 1_000)
      const [first] = await importKeys()
      return jwt.setProtectedHeader(HEADER).encrypt(first as webcrypto.CryptoKey)
    },
    async open(text) {
      const { jwtDecrypt } = await loadJose()
      for (const key of await importKeys()) {
        try {
          const { payload } = await jwtDecrypt(text, key, ALGORITHMS)
          // Compares milliseconds too: jose compares whole seconds.
          return isExpired(payload.exp) ? undefined : payload.data
        } catch {
          // Another key may open it. If none does, the cookie is as if it had not been sent.
        }
      }
      return undefined
    },
  }
}

function isExpired(seconds = 0): boolean {
  return Date.now() >= Math.round(seconds * 1_000)
}

/** @throws {TypeError} If a value is not a list of secrets. The message holds nothing of them. */
function checkedSecrets(secrets: unknown): readonly (string | Uint8Array)[] {
  if (!Array.isArray(secrets) || secrets.length === 0) {
    throw new TypeError('Expected "secrets" to be a list of one secret or more')
  }
  for (const [i, secret] of secrets.entries()) {
    const isSecret = typeof secret === 'string' || secret instanceof Uint8Array
    if (isSecret && Buffer.byteLength(secret) >= MIN_SECRET_BYTES) continue
    throw new TypeError(
      `Expected "secrets[${i}]" to be a string or a Uint8Array of ${MIN_SECRET_BYTES} bytes or more`,
    )
  }
  return secrets
}

function importKey(bytes: ArrayBuffer): Promise<webcrypto.CryptoKey> {
  return subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
}
