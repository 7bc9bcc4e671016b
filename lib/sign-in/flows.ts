import { createHash, timingSafeEqual } from 'node:crypto'
import type { ResponseCookies } from '../http/cookies.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import { type CookieSite, cookieName, deleteCookie, setCookie } from '../session/cookie-site.ts'
import type { Seal } from '../session/seal.ts'

/** A sign-in that has begun in a browser: from the departure to the provider to the return. */
export interface Flow {
  readonly provider: string
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** The path to continue at. */
  readonly path: string
  /** Milliseconds since 1970. */
  readonly startedAt: number
}

/** Options of {@link Flows}. */
export interface FlowsOptions {
  readonly site: CookieSite
  readonly seal: Seal
  readonly ttlMs: number
}

// The form in a cookie. Short names: a browser sends the cookies of all flows that it has begun at once, and the cookie has
// at most 2,048 bytes with a path of 1,024.
interface Packed {
  readonly p: string
  readonly v: string
  readonly c: string
  readonly t: number
}

const MAX_FLOWS = 5
// Maximum cookies that are opened. A browser needs none of the others.
const MAX_OPENED = 8
// Maximum cookies that are read. The response removes those that it has not opened, and a proxy may reject a response with a field
// for each of 460.
const MAX_READ = 64
const PREFIX = 'sign-in.'
const ID = /^[\w-]{16}$/

/** The flows of a browser: a sealed cookie for each. */
export class Flows {
  readonly #options: FlowsOptions

  constructor(options: FlowsOptions) {
    this.#options = options
  }

  /** Sets the cookie of a new flow. Removes the oldest of more than five. */
  async begin(request: HttpRequest, cookies: ResponseCookies, flow: Flow): Promise<void> {
    const { site, seal, ttlMs } = this.#options
    for (const name of await this.#superfluous(request)) deleteCookie(site, cookies, name)
    hideFlow(request, flow)
    const value = await seal.seal(pack(flow), ttlMs)
    setCookie(site, cookies, { name: this.nameOf(flow.state), value, ttlMs })
  }

  /** Returns the flow of a state; undefined if it has not begun in this browser, or has ended. */
  async find(request: HttpRequest, state: string): Promise<Flow | undefined> {
    const flow = await this.#open(request.cookies.get(this.nameOf(state)))
    if (flow === undefined || !isEqual(flow.state, state)) return undefined
    hideFlow(request, flow)
    return flow
  }

  /** Removes the cookie of a flow: its state can be used once. */
  end(cookies: ResponseCookies, state: string): void {
    deleteCookie(this.#options.site, cookies, this.nameOf(state))
  }

  /** Returns the name of the cookie of a flow. It shows nothing of the state. */
  nameOf(state: string): string {
    return cookieName(this.#options.site, PREFIX + hashOf(state).toString('base64url').slice(0, 16))
  }

  // Returns the names of the cookies to remove: the oldest flows, which leave no room for another one, and the cookies that are not
  // opened. The cookies of another application on this host stay, unless they are that many.
  async #superfluous(request: HttpRequest): Promise<readonly string[]> {
    const prefix = cookieName(this.#options.site, PREFIX)
    const isFlow = ([name]: readonly [string, string]): boolean =>
      name.startsWith(prefix) && ID.test(name.slice(prefix.length))
    // Browsers send the oldest cookie first (RFC 6265bis, 5.8.3).
    const cookies = [...request.cookies].filter(isFlow).reverse()
    const found: { readonly name: string; readonly startedAt: number }[] = []
    for (const [name, value] of cookies.slice(0, MAX_OPENED)) {
      const flow = await this.#open(value)
      if (flow !== undefined) found.push({ name, startedAt: flow.startedAt })
    }
    const newest = found.sort((one, other) => other.startedAt - one.startedAt)
    return [
      ...newest.slice(MAX_FLOWS - 1).map(({ name }) => name),
      ...cookies.slice(MAX_OPENED, MAX_READ).map(([name]) => name),
    ]
  }

  async #open(text: string | undefined): Promise<Flow | undefined> {
    const packed = text === undefined ? undefined : await this.#options.seal.open(text)
    return packed === undefined ? undefined : unpack(packed as Packed)
  }
}

/**
 * Returns a flow. The state and the nonce are hashes of the secret in its cookie, the verifier (RFC 6749, section 10.12; OpenID
 * Connect Core, section 15.5.2).
 */
export function flowOf(secret: Omit<Flow, 'state' | 'nonce'>): Flow {
  const { verifier } = secret
  // 86 characters: a report never shows a name of a parameter that is this long.
  const state = createHash('sha512').update(`state ${verifier}`).digest('base64url')
  return { ...secret, state, nonce: hashOf(`nonce ${verifier}`).toString('base64url') }
}

// A hook may quote where the sign-in leads. The provider is not secret: reports show its name.
function hideFlow(request: HttpRequest, { provider: _, ...secrets }: Flow): void {
  stateOf(request).message.hide(secrets)
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

// Compares the hashes, because timingSafeEqual() needs texts of one length.
function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(hashOf(one), hashOf(other))
}

// JSON would escape each quote of a path. A path has no space.
function pack({ provider, verifier, path, startedAt }: Flow): Packed {
  return { p: provider, v: verifier, c: path.replaceAll('"', ' '), t: startedAt }
}

function unpack({ p, v, c, t }: Packed): Flow {
  return flowOf({ provider: p, verifier: v, path: c.replaceAll(' ', '"'), startedAt: t })
}
