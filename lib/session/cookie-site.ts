import type { CookieAttributes, ResponseCookies } from '../http/cookies.ts'

/** The origin that browsers see, and whether its cookies are `Secure`. */
export interface CookieSite {
  readonly origin: string
  /** False for plain HTTP, which only a host of this machine may have. */
  readonly isSecure: boolean
}

// Not 127.0.0.2 or news.localhost: browsers treat them differently.
const LOCAL_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Reports whether a URL may have the scheme `http:`, because its host is this machine. */
export function isLocalUrl({ hostname }: URL): boolean {
  return LOCAL_HOSTS.includes(hostname)
}

/** @throws {TypeError} If a value is not an origin, or has the scheme `http:` and another host than this machine. */
export function cookieSiteOf(origin: unknown): CookieSite {
  if (typeof origin !== 'string' || !URL.canParse(origin) || new URL(origin).origin !== origin) {
    throw new TypeError(
      `Expected "origin" to be an origin such as "https://news.example", got "${String(origin)}"`,
    )
  }
  const url = new URL(origin)
  if (url.protocol === 'https:') return { origin, isSecure: true }
  if (url.protocol === 'http:' && isLocalUrl(url)) return { origin, isSecure: false }
  throw new TypeError(
    `Expected "origin" to begin with "https:", got "${origin}": only ${LOCAL_HOSTS.join(', ')} may have "http:"`,
  )
}

/** Returns the name of a cookie, with the prefix that binds it to its host. */
export function cookieName({ isSecure }: CookieSite, name: string): string {
  return isSecure ? `__Host-${name}` : name
}

/** Sets a cookie that the browser keeps for a time, in milliseconds. */
export function setCookie(
  site: CookieSite,
  cookies: ResponseCookies,
  { name, value, ttlMs }: { readonly name: string; readonly value: string; readonly ttlMs: number },
): void {
  cookies.set(name, value, { ...attributes(site), maxAgeSeconds: Math.ceil(ttlMs / 1_000) })
}

/** Removes a cookie that {@link setCookie} has set. */
export function deleteCookie(site: CookieSite, cookies: ResponseCookies, name: string): void {
  cookies.delete(name, attributes(site))
}

// The other attributes have these defaults: Path=/; HttpOnly; SameSite=Lax.
function attributes({ isSecure }: CookieSite): CookieAttributes {
  return { secure: isSecure }
}
