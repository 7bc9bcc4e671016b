import { checkNames, isObject, isRecord, MAX_TIMER_MS } from '../http/check-options.ts'
import { type CookieSite, cookieSiteOf } from '../session/cookie-site.ts'
import { checkedMs } from '../session/durations.ts'
import type { Identity, SignInDetails } from './identity.ts'
import { checkProvider, type ProviderOptions } from './provider-options.ts'

/** Options of `signIn()`. */
export interface SignInOptions<Data = unknown> {
  /** The origin that browsers see. It is never taken from `Host` or `X-Forwarded-*`. */
  readonly origin: string
  /** Strings (UTF-8) or bytes, 32 bytes or more each. The first seals, and all open: so a secret can be replaced. */
  readonly secrets: readonly (string | Uint8Array | undefined)[]
  /** The providers by name: letters, digits, `-`, `_`, `.` and `~`, at most 64. The first one is the default. */
  readonly providers: Readonly<Record<string, ProviderOptions>>
  /** The path where browsers find the action `oauth.php` of the controller (default `/elp/oauth.php`). */
  readonly path?: string | undefined
  /** Milliseconds from a sign-in to the end of the session (default 43,200,000: 12 hours). */
  readonly sessionTtlMs?: number | undefined
  /** Milliseconds from the departure to the provider to the return (default 600,000: 10 minutes). */
  readonly transactionTtlMs?: number | undefined
  /**
   * Milliseconds for each request to a provider (default 10,000). The requests of one return have twice this time together:
   * keep that below `actionTimeoutMs` (default 25,000), or the response is a 503 that does not name the provider.
   */
  readonly providerTimeoutMs?: number | undefined
  /**
   * Called at each sign-in, before the session begins. What it returns is `data` of the identity. To reject the user,
   * it throws an `HttpError`.
   */
  readonly onSignIn?:
    | ((identity: Identity, details: SignInDetails) => Data | Promise<Data>)
    | undefined
}

/** Checked options with their defaults. */
export interface CheckedOptions {
  readonly site: CookieSite
  readonly secrets: unknown
  readonly providers: ReadonlyMap<string, ProviderOptions>
  readonly path: string
  readonly sessionTtlMs: number
  readonly transactionTtlMs: number
  readonly providerTimeoutMs: number
  readonly onSignIn: ((identity: Identity, details: SignInDetails) => unknown) | undefined
}

const OPTIONS: readonly (keyof SignInOptions)[] = [
  'origin',
  'secrets',
  'providers',
  'path',
  'sessionTtlMs',
  'transactionTtlMs',
  'providerTimeoutMs',
  'onSignIn',
]
const PROVIDER_NAME = /^[A-Za-z0-9._~-]{1,64}$/
const PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/

/** @throws {TypeError} If an option is missing, misspelt or unsafe; the message names it. */
export function checkedOptions(options: SignInOptions): CheckedOptions {
  if (!isObject(options)) {
    throw new TypeError('Expected the options of signIn() to be an object')
  }
  checkNames('options of signIn()', options, OPTIONS)
  const { path = '/elp/oauth.php', onSignIn } = options
  const { sessionTtlMs = 12 * 3_600_000, transactionTtlMs = 600_000 } = options
  const { providerTimeoutMs = 10_000 } = options
  if (typeof path !== 'string' || !PATH.test(path)) {
    throw new TypeError(`Expected "path" to be a path such as "/elp/oauth.php", got "${path}"`)
  }
  if (onSignIn !== undefined && typeof onSignIn !== 'function') {
    throw new TypeError('Expected "onSignIn" to be a function')
  }
  return {
    site: cookieSiteOf(options.origin),
    secrets: options.secrets,
    providers: checkedProviders(options.providers),
    path,
    sessionTtlMs: checkedMs('sessionTtlMs', sessionTtlMs),
    transactionTtlMs: checkedMs('transactionTtlMs', transactionTtlMs),
    providerTimeoutMs: checkedMs('providerTimeoutMs', providerTimeoutMs, MAX_TIMER_MS),
    onSignIn,
  }
}

// A Map: a request that names the provider "constructor" must find none.
function checkedProviders(
  providers: SignInOptions['providers'],
): ReadonlyMap<string, ProviderOptions> {
  if (!isRecord(providers)) {
    throw new TypeError('Expected "providers" to be an object')
  }
  const map = new Map(Object.entries(providers))
  if (map.size === 0) throw new TypeError('Expected "providers" to have a provider')
  for (const [name, provider] of map) {
    if (!PROVIDER_NAME.test(name)) {
      throw new TypeError(`Expected the name of a provider, such as "google", got "${name}"`)
    }
    checkProvider(name, provider)
  }
  return map
}
