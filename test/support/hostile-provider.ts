import { createHash, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { SignJWT } from 'jose'
import { type Dispatcher, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { listening } from './http.ts'

/** An object of JSON. */
export type Json = Readonly<Record<string, unknown>>

/** What an endpoint sends: a document, or what a function writes. A function that writes nothing lets the client wait. */
export type Answer = Json | ((response: ServerResponse) => void)

/** Returns what an endpoint sends in place of its usual document. */
export type Change = (usual: Json) => Answer

/** How the provider breaks its rules. */
export interface Faults {
  readonly discovery?: Change
  readonly jwks?: Change
  readonly token?: Change
  readonly userinfo?: Change
  /** Changes the parameters of the return. */
  readonly callback?: (parameters: URLSearchParams) => void
  /** Changes the claims of the ID Token. */
  readonly claims?: (usual: Json) => Json
  /** Makes the ID Token of its claims. */
  readonly idToken?: (claims: Json) => Promise<string> | string
}

/** A request that the provider received. */
export interface Received {
  readonly endpoint: string
  readonly method: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: URLSearchParams
}

/** The endpoints by their paths. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  '/.well-known/openid-configuration': 'discovery',
  '/authorize': 'authorize',
  '/jwks': 'jwks',
  '/token': 'token',
  '/userinfo': 'userinfo',
}

const SUBJECT = 'subject-5f2d81'
const CLIENT_ID = 'hostile-client'
/** The claims of the user. All are secrets that no sink may contain. */
export const person: Json = {
  email: 'ada.canary@example.org',
  email_verified: true,
  name: 'Canary Lovelace',
}
export const DESCRIPTION = 'description-canary-7c1e'

/**
 * A provider of OAuth 2.0 and OpenID Connect that keeps the rules, and breaks those that `faults` names. Its users sign in and
 * consent at once. A code counts once, with the verifier, the address and the secret that belong to it.
 */
export class HostileProvider {
  /** The base URL, such as `http://127.0.0.1:40123`; it is the issuer too. */
  readonly issuer: string
  readonly clientSecret: string = `client-secret-${token()}`
  /** Every request so far. */
  readonly received: Received[] = []
  /** Everything that only the browser, the client and this provider may know. */
  readonly secrets: Set<string> = new Set([this.clientSecret, SUBJECT, DESCRIPTION])
  faults: Faults = {}
  #key: SigningKey = createKey(token())
  readonly #events = new EventEmitter()
  readonly #codes = new Map<string, URLSearchParams>()
  readonly #subjects = new Map<string, string>()

  constructor(issuer: string) {
    this.issuer = issuer
    for (const claim of [person.email, person.name]) this.secrets.add(String(claim))
  }

  /** The options of this provider for `signIn()`. */
  get options() {
    const { issuer, clientSecret } = this
    return { issuer, clientId: CLIENT_ID, clientSecret, scope: 'openid email profile' }
  }

  /** The options of this provider without OpenID Connect. */
  get plainOptions() {
    return {
      authorizationEndpoint: `${this.issuer}/authorize`,
      tokenEndpoint: `${this.issuer}/token`,
      userinfoEndpoint: `${this.issuer}/userinfo`,
      clientId: CLIENT_ID,
      clientSecret: this.clientSecret,
      scope: 'read:user',
      identify: (user: Json) => ({ subject: user.id && String(user.id), name: user.login }),
    }
  }

  /** The requests of an endpoint so far. */
  requestsTo(endpoint: string): Received[] {
    return this.received.filter((each) => each.endpoint === endpoint)
  }

  /** Waits for the next request to an endpoint. */
  async next(endpoint: string): Promise<void> {
    await once(this.#events, endpoint)
  }

  /** Signs with a new key from now on. It has a new name, unless `keepsName`. */
  rotateKey({ keepsName = false } = {}): void {
    this.#key = createKey(keepsName ? this.#key.kid : token())
  }

  /** Signs an ID Token. */
  sign(claims: Json, header: object = {}): Promise<string> {
    const { kid, privateKey } = this.#key
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'ES256', kid, ...header })
      .sign(privateKey)
  }

  /** Responds to a request. @internal */
  async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', this.issuer)
    const endpoint = ENDPOINTS[url.pathname] ?? url.pathname
    const received: Received = {
      endpoint,
      method: request.method ?? '',
      query: url.searchParams,
      headers: request.headers,
      body: new URLSearchParams(await text(request)),
    }
    this.received.push(received)
    this.#events.emit(endpoint)
    if (endpoint === 'authorize') return this.#authorize(received, response)
    const { status, usual } = await this.#usual(received)
    const change = this.faults[endpoint as 'token'] ?? ((same) => same)
    const answer = change(usual)
    if (typeof answer === 'function') return answer(response)
    sendJson(response, status, answer)
  }

  #authorize({ query }: Received, response: ServerResponse): void {
    const code = `code-${token()}`
    this.#codes.set(code, query)
    for (const name of ['state', 'nonce']) this.#keep(query.get(name))
    const target = new URL(query.get('redirect_uri') ?? '')
    target.searchParams.set('code', this.#keep(code))
    target.searchParams.set('state', query.get('state') ?? '')
    this.faults.callback?.(target.searchParams)
    response.writeHead(303, { Location: target.href }).end()
  }

  async #usual(request: Received): Promise<{ status: number; usual: Json }> {
    switch (request.endpoint) {
      case 'discovery':
        return { status: 200, usual: this.#document() }
      case 'jwks':
        return { status: 200, usual: { keys: [this.#key.publicJwk] } }
      case 'token':
        return this.#token(request)
      case 'userinfo':
        return this.#userinfo(request)
      default:
        return { status: 404, usual: {} }
    }
  }

  #document(): Json {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      userinfo_endpoint: `${this.issuer}/userinfo`,
      jwks_uri: `${this.issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256', 'RS256'],
      code_challenge_methods_supported: ['S256'],
    }
  }

  async #token({ headers, body }: Received): Promise<{ status: number; usual: Json }> {
    this.#keep(body.get('code_verifier'))
    const code = body.get('code') ?? ''
    const authorized = this.#codes.get(code)
    this.#codes.delete(code)
    const challenge = createHash('sha256').update(body.get('code_verifier') ?? '')
    if (
      authorized === undefined ||
      authorized.get('code_challenge') !== challenge.digest('base64url') ||
      authorized.get('redirect_uri') !== body.get('redirect_uri') ||
      secretOf(headers.authorization) !== this.clientSecret
    ) {
      return {
        status: 400,
        usual: { error: 'invalid_grant', error_description: DESCRIPTION },
      }
    }
    const accessToken = this.#keep(`access-${token()}`)
    this.#subjects.set(accessToken, SUBJECT)
    const isOpenId = authorized.get('scope')?.split(' ').includes('openid')
    return {
      status: 200,
      usual: {
        access_token: accessToken,
        refresh_token: this.#keep(`refresh-${token()}`),
        token_type: 'Bearer',
        expires_in: 60,
        ...(isOpenId && { id_token: await this.#idToken(authorized.get('nonce')) }),
      },
    }
  }

  async #idToken(nonce: string | null): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const usual: Json = {
      iss: this.issuer,
      aud: CLIENT_ID,
      sub: SUBJECT,
      iat: now,
      exp: now + 300,
      ...(nonce !== null && { nonce }),
    }
    const { claims = (same) => same, idToken = (same) => this.sign(same) } = this.faults
    return this.#keep(await idToken(claims(usual)))
  }

  #userinfo({ headers }: Received): { status: number; usual: Json } {
    const accessToken = headers.authorization?.replace(/^Bearer /, '') ?? ''
    const sub = this.#subjects.get(accessToken)
    if (sub === undefined) return { status: 401, usual: { error_description: DESCRIPTION } }
    return { status: 200, usual: { sub, id: 42, login: 'ada', ...person } }
  }

  #keep<T extends string | null>(secret: T): T {
    if (secret) this.secrets.add(secret)
    return secret
  }
}

/** Starts a {@link HostileProvider} on a free port of the loopback address until the test ends. */
export async function startHostileProvider(
  t: TestContext,
  faults: Faults = {},
): Promise<HostileProvider> {
  const server = createServer()
  const url = `http://127.0.0.1:${await listening(t, server)}`
  return serveProvider(new HostileProvider(url), server, faults)
}

/**
 * Starts a {@link HostileProvider} whose issuer has the scheme `https:`. Until the test ends, undici finds it at a port of
 * this machine.
 *
 * @returns The provider, and its base URL on this machine.
 */
export async function startSecureProvider(
  t: TestContext,
  faults: Faults = {},
): Promise<{ provider: HostileProvider; url: string }> {
  const server = createServer()
  const url = `http://127.0.0.1:${await listening(t, server)}`
  const provider = serveProvider(new HostileProvider('https://idp.example'), server, faults)
  const before = getGlobalDispatcher()
  const toPort: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch(
      { ...options, origin: options.origin === provider.issuer ? url : (options.origin ?? '') },
      handler,
    )
  setGlobalDispatcher(before.compose(toPort))
  t.after(() => setGlobalDispatcher(before))
  return { provider, url }
}

function serveProvider(provider: HostileProvider, server: Server, faults: Faults): HostileProvider {
  provider.faults = faults
  server.on('request', (request, response) => {
    provider.respond(request, response).catch((error) => response.destroy(error))
  })
  return provider
}

/** Sends a document with a status. */
export function sendJson(response: ServerResponse, status: number, document: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(document))
}

/** Encodes a part of a token by hand, for tokens that no library makes. */
export function encodePart(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

// Both parts are form-encoded first (RFC 6749, section 2.3.1).
function secretOf(authorization = ''): string | undefined {
  const [scheme, credentials = ''] = authorization.split(' ')
  const [id, secret = ''] = Buffer.from(credentials, 'base64').toString().split(':')
  if (scheme !== 'Basic' || decodeURIComponent(id ?? '') !== CLIENT_ID) return undefined
  return decodeURIComponent(secret)
}

interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly publicJwk: object
}

function createKey(kid: string): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicJwk = { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }
  return { kid, privateKey, publicJwk }
}

function token(): string {
  return randomBytes(18).toString('base64url')
}
