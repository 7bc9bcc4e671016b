import type { AuthorizationServer, Client, ClientAuth, HttpRequestOptions } from 'oauth4webapi'
import { outsideRequests } from '../http/retention.ts'
import { once } from '../session/optional-package.ts'
import { during, ProviderFault } from './faults.ts'
import { KeySets } from './id-token.ts'
import { createProviderFetch, type ProviderFetch } from './provider-fetch.ts'
import { type IssuerOptions, isSafeUrl, type ProviderOptions } from './provider-options.ts'

/** The functions of `oauth4webapi`. */
export type OAuth = typeof import('oauth4webapi')

/** The endpoints of a provider that a sign-in uses. */
export type Endpoint =
  | 'authorization_endpoint'
  | 'token_endpoint'
  | 'userinfo_endpoint'
  | 'jwks_uri'

/** Tolerance for the clocks of a provider and of this machine, in seconds. */
export const TOLERANCE_S = 60

const DOCUMENT_TTL_MS = 3_600_000

/** Loads `oauth4webapi` when it is first needed. */
export const loadOAuth: () => Promise<OAuth> = once(() => import('oauth4webapi'))

/** A provider, with the document and the keys that it has published. */
export class Provider {
  readonly name: string
  readonly options: ProviderOptions
  readonly keys: KeySets
  readonly #fetch: ProviderFetch
  #document: Promise<AuthorizationServer> | undefined
  #fetchedAt = 0

  constructor(name: string, options: ProviderOptions, timeoutMs: number) {
    this.name = name
    this.options = options
    this.#fetch = createProviderFetch(timeoutMs)
    this.keys = new KeySets(this.#fetch)
  }

  /** The client, as the provider has registered it. */
  get client(): Client {
    return { client_id: String(this.options.clientId) }
  }

  /** The scopes of the authorization request; undefined for none. */
  get scope(): string | undefined {
    return this.options.scope ?? (isIssuer(this.options) ? 'openid' : undefined)
  }

  /**
   * Returns the description of the provider. The document of an issuer is fetched when it is first needed, once for all callers
   * that wait, and kept for an hour. After a failure, the next call fetches it again.
   *
   * @param deadline Aborts when the caller waits no longer.
   * @throws {SignInError} 502 or 504.
   */
  async describe(deadline?: AbortSignal): Promise<AuthorizationServer> {
    const { name: provider, options } = this
    if (!isIssuer(options)) return describeEndpoints(options)
    const fetchDocument = () => this.#documentOf(options)
    return during({ provider, step: 'discovery' }, fetchDocument, deadline)
  }

  /**
   * Returns the URL of an endpoint.
   *
   * @throws {ProviderFault} If there is none, or if it has the scheme `http:` and may not have it.
   */
  endpointOf(server: AuthorizationServer, endpoint: Endpoint): URL {
    const url = server[endpoint]
    if (url === undefined) throw new ProviderFault('missing endpoint')
    if (!isSafeUrl(url, /#/, this.#mayUseHttp)) throw new ProviderFault('unsafe endpoint')
    return new URL(url)
  }

  /** Creates the options for a request to an endpoint whose URL has been checked. */
  async requestOptions(): Promise<HttpRequestOptions<'GET' | 'POST', URLSearchParams | undefined>> {
    const { allowInsecureRequests, customFetch } = await loadOAuth()
    return {
      [customFetch]: this.#fetch as never,
      [allowInsecureRequests]: this.#mayUseHttp,
    }
  }

  /** Returns how the client authenticates to the token endpoint. */
  async clientAuth(): Promise<ClientAuth> {
    const { ClientSecretBasic, ClientSecretPost, None } = await loadOAuth()
    const { clientAuth = 'basic', clientSecret = '' } = this.options
    if (clientAuth === 'none') return None()
    return clientAuth === 'post' ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret)
  }

  // Without an issuer, the options have the endpoints, and each was checked.
  get #mayUseHttp(): boolean {
    return !isIssuer(this.options) || new URL(this.options.issuer).protocol === 'http:'
  }

  #documentOf(options: IssuerOptions): Promise<AuthorizationServer> {
    const age = Date.now() - this.#fetchedAt
    if (this.#document !== undefined && age >= 0 && age < DOCUMENT_TTL_MS) return this.#document
    const document = outsideRequests(() => this.#discover(options))
    this.#document = document
    // Set here too, so that the document is not too old while it is fetched.
    this.#fetchedAt = Date.now()
    document.then(
      () => {
        this.#fetchedAt = Date.now()
      },
      () => {
        if (this.#document === document) this.#document = undefined
      },
    )
    return document
  }

  async #discover({ issuer }: IssuerOptions): Promise<AuthorizationServer> {
    const { discoveryRequest, processDiscoveryResponse } = await loadOAuth()
    const url = new URL(issuer)
    const requestOptions = await this.requestOptions()
    const response = await discoveryRequest(url, requestOptions as never)
    return processDiscoveryResponse(url, response)
  }
}

/** Reports whether a provider has OpenID Connect. */
export function isIssuer(options: ProviderOptions): options is IssuerOptions {
  return 'issuer' in options
}

function describeEndpoints(options: Exclude<ProviderOptions, IssuerOptions>): AuthorizationServer {
  const { authorizationEndpoint, tokenEndpoint, userinfoEndpoint } = options
  return {
    // A name only for oauth4webapi, which needs one.
    issuer: new URL(authorizationEndpoint).origin,
    authorization_endpoint: authorizationEndpoint,
    token_endpoint: tokenEndpoint,
    userinfo_endpoint: userinfoEndpoint,
  }
}
