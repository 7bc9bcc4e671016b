import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { Provider } from 'oidc-provider'
import { listening } from './http.ts'

/** A user of the provider, with the claims of OpenID Connect. */
export interface Account {
  readonly name: string
  readonly email: string
  readonly email_verified: boolean
}

/** What the user does at the provider. */
export type Decision = 'allow' | 'deny'

/** The options of {@link startOidcServer}. */
export interface OidcServerOptions {
  /** The addresses that users may return to, such as `https://news.example/elp/oauth.php?provider=real`. */
  readonly redirectUris: readonly string[]
  /** Whether the user must press a button to sign in and to consent (default false: it happens at once). */
  readonly pages?: boolean
  /** The base URL that browsers see, if it is not that of the server. */
  readonly issuer?: string
}

/** A real provider (`oidc-provider`) that listens on the loopback address. */
export interface OidcServer {
  readonly issuer: string
  /** The options of this provider for `signIn()`: a client that authenticates in this way. */
  client(clientAuth?: 'basic' | 'post' | 'none'): ClientOptions
  /** The subject of the user who signs in next (`ada` or `bob`). */
  account: keyof typeof accounts
  decision: Decision
}

/** The options of a provider for `signIn()`. */
export interface ClientOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: string
  readonly clientAuth: 'basic' | 'post' | 'none'
  readonly scope: string
}

/** The users of the provider, by subject. */
export const accounts = {
  ada: { name: 'Ada Lovelace', email: 'ada@example.org', email_verified: true },
  bob: { name: 'Bob', email: 'bob@example.org', email_verified: false },
} as const satisfies Readonly<Record<string, Account>>

// RFC 6749, section 2.3.1: the characters that the client must encode in a Basic header.
const SECRET = 'a secret of 32+ bytes: %&+/=?:~*()!'
const METHODS = { basic: 'client_secret_basic', post: 'client_secret_post', none: 'none' } as const

let keys: readonly object[] | undefined

/** Starts a real provider until the test ends. It demands PKCE, and sends `iss` with the code (RFC 9207). */
export async function startOidcServer(
  t: TestContext,
  { redirectUris, pages = false, ...options }: OidcServerOptions,
): Promise<OidcServer> {
  const server = createServer()
  const issuer = options.issuer ?? `http://127.0.0.1:${await listening(t, server)}`
  const provider = new Provider(issuer, {
    clients: Object.entries(METHODS).map(([id, method]) => ({
      client_id: id,
      ...(id === 'none' ? {} : { client_secret: SECRET }),
      token_endpoint_auth_method: method,
      redirect_uris: redirectUris,
    })),
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    findAccount: (_: unknown, id: keyof typeof accounts) => ({
      accountId: id,
      claims: () => ({ sub: id, ...accounts[id] }),
    }),
    cookies: { keys: ['a key for tests'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    jwks: { keys: signingKeys() },
    pkce: { required: () => true },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
  })
  const running: OidcServer = {
    issuer,
    client: (clientAuth = 'basic') => ({
      issuer,
      clientId: clientAuth,
      ...(clientAuth === 'none' ? {} : { clientSecret: SECRET }),
      clientAuth,
      scope: 'openid email profile',
    }),
    account: 'ada',
    decision: 'allow',
  }
  const respond = provider.callback()
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) respond(request, response)
    else if (pages && request.method === 'GET') showPage(response)
    else decide(provider, running, request, response).catch((error) => response.destroy(error))
  })
  return running
}

function showPage(response: ServerResponse): void {
  response.setHeader('Content-Type', 'text/html')
  response.end('<!doctype html><title>Provider</title><form method="post"><button>Allow</button>')
}

async function decide(
  provider: Provider,
  { account, decision }: OidcServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response)
  const finish = (result: object) => provider.interactionFinished(request, response, result)
  if (decision === 'deny') return finish({ error: 'access_denied' })
  if (prompt.name === 'login') return finish({ login: { accountId: account } })
  const { accountId = '' } = session ?? {}
  const grant =
    (grantId && (await provider.Grant.find(grantId))) ||
    new provider.Grant({ accountId, clientId: params.client_id })
  const { missingOIDCScope = [], missingOIDCClaims = [] } = prompt.details
  grant.addOIDCScope(missingOIDCScope.join(' '))
  grant.addOIDCClaims(missingOIDCClaims)
  return finish({ consent: { grantId: await grant.save() } })
}

function signingKeys(): readonly object[] {
  keys ??= [
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  ]
  return keys
}
