import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, type IncomingMessage, request as sendRequest } from 'node:http'
import { text } from 'node:stream/consumers'

/** A cookie in the jar. */
export interface Cookie {
  readonly name: string
  readonly value: string
  readonly path: string
  readonly secure: boolean
  readonly sameSite: string
}

/** A response that a browser received. */
export interface Page {
  readonly url: URL
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The target of a redirect. */
  readonly location: URL | undefined
}

/** One request of a browser. The defaults are those of a link on a page of the same origin. */
export interface Send {
  readonly method?: string
  /** Further headers; '' leaves one out. */
  readonly headers?: Readonly<Record<string, string>>
  /** The fields of a form; the method is then POST. */
  readonly form?: Readonly<Record<string, string>>
  /** Where the request comes from: `Sec-Fetch-Site`. */
  readonly site?: 'same-origin' | 'cross-site' | 'none'
}

const MAX_REDIRECTS = 20
const MAX_COOKIE_BYTES = 4_096

/**
 * A client with a jar of cookies, which follows redirects as a browser does. It ignores when a cookie expires, so that a test
 * sees what the server does with an old one; it removes a cookie that the server removes.
 */
export class Browser {
  readonly #hosts: Readonly<Record<string, string>>
  // By host, as in a browser: the port does not matter.
  readonly #jar = new Map<string, Map<string, Cookie>>()

  /** @param hosts The base URL of the server for an origin that is not on this machine. */
  constructor(hosts: Readonly<Record<string, string>> = {}) {
    this.#hosts = hosts
  }

  /** Opens an address, and follows redirects to the page. */
  async open(url: string | URL, init: Send = {}): Promise<Page> {
    let page = await this.send(url, init)
    let site = init.site ?? 'same-origin'
    for (let count = 0; page.location !== undefined; count++) {
      assert.ok(count < MAX_REDIRECTS, `too many redirects: ${page.location}`)
      if (page.location.origin !== page.url.origin) site = 'cross-site'
      page = await this.send(page.location, { site })
    }
    return page
  }

  /** Opens an address, and follows redirects until one of another site leads to this origin. It does not follow that one. */
  async openUntilReturn(origin: string, url: string | URL): Promise<URL> {
    const isReturn = ({ url, location }: Page): boolean =>
      url.origin !== origin && location?.origin === origin
    let page = await this.send(url)
    while (page.location !== undefined && !isReturn(page)) {
      page = await this.send(page.location, { site: 'cross-site' })
    }
    assert.ok(page.location, `${page.url} does not lead back: ${page.status} ${page.body}`)
    return page.location
  }

  /** Sends one request, and keeps the cookies of the response. */
  async send(address: string | URL, init: Send = {}): Promise<Page> {
    const url = new URL(address)
    const { form, site = 'same-origin' } = init
    const { method = form ? 'POST' : 'GET', headers = {} } = init
    const base = new URL(this.#hosts[url.origin] ?? url.origin)
    const all: Record<string, string> = {
      host: url.host,
      accept: 'text/html,*/*;q=0.8',
      'sec-fetch-site': site,
      'sec-fetch-mode': 'navigate',
      cookie: this.#cookieHeader(url, method, site),
      'content-type': form ? 'application/x-www-form-urlencoded' : '',
      ...headers,
    }
    const outgoing = sendRequest(base, {
      method,
      path: url.pathname + url.search,
      agent: false,
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
    })
    outgoing.end(form && String(new URLSearchParams(form)))
    const incoming = await new Promise<IncomingMessage>((resolve, reject) =>
      outgoing.on('response', resolve).on('error', reject),
    )
    for (const line of incoming.headers['set-cookie'] ?? []) this.#keep(url, line)
    const { statusCode: status = 0, headers: received } = incoming
    const isRedirect = [301, 302, 303, 307, 308].includes(status)
    const location = isRedirect ? new URL(received.location ?? '', url) : undefined
    return { url, status, headers: received, body: await text(incoming), location }
  }

  /** The cookies of a host, by name. Tests change them. */
  cookies(origin: string): Map<string, Cookie> {
    const host = new URL(origin).hostname
    const cookies = this.#jar.get(host) ?? new Map<string, Cookie>()
    this.#jar.set(host, cookies)
    return cookies
  }

  /** Replaces the value of a cookie. */
  change(origin: string, name: string, value: string): void {
    const cookie = this.cookies(origin).get(name)
    assert.ok(cookie, `no cookie ${name}`)
    this.cookies(origin).set(name, { ...cookie, value })
  }

  #cookieHeader(url: URL, method: string, site: string): string {
    const isSent = ({ path, secure, sameSite }: Cookie): boolean =>
      `${url.pathname}/`.startsWith(path === '/' ? path : `${path}/`) &&
      (!secure || url.protocol === 'https:') &&
      (site !== 'cross-site' || (sameSite !== 'strict' && ['GET', 'HEAD'].includes(method)))
    const sent = [...this.cookies(url.origin).values()].filter(isSent)
    return sent.map(({ name, value }) => `${name}=${value}`).join('; ')
  }

  #keep(url: URL, line: string): void {
    const cookie = parseSetCookie(line)
    const isHostCookie = cookie.secure && cookie.path === '/' && !/; *domain=/i.test(line)
    if (cookie.name.startsWith('__Host-') && !isHostCookie) return
    if (cookie.secure && url.protocol !== 'https:') return
    if (cookie.name.length + cookie.value.length > MAX_COOKIE_BYTES) return
    const cookies = this.cookies(url.origin)
    if (isRemoval(line)) cookies.delete(cookie.name)
    else cookies.set(cookie.name, cookie)
  }
}

/** Parses a line of `Set-Cookie`. */
export function parseSetCookie(line: string): Cookie {
  const [, name = '', value = ''] = line.match(/^([^=]*)=([^;]*)/) ?? []
  return {
    name,
    value,
    path: line.match(/; *path=([^;]*)/i)?.[1] ?? '/',
    secure: /; *secure(?:;|$)/i.test(line),
    sameSite: line.match(/; *samesite=([^;]*)/i)?.[1]?.toLowerCase() ?? 'lax',
  }
}

/** Reports whether a line of `Set-Cookie` removes the cookie. */
export function isRemoval(line: string): boolean {
  const maxAge = line.match(/; *max-age=(-?\d+)/i)?.[1]
  if (maxAge !== undefined) return Number(maxAge) <= 0
  const expires = line.match(/; *expires=([^;]*)/i)?.[1]
  return expires !== undefined && Date.parse(expires) <= Date.now()
}
