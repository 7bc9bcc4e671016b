import { checkNames, isObject, isRecord } from '../http/check-options.ts'
import { isLocalUrl } from '../session/cookie-site.ts'
import { type Claims, isText, type UserFacts } from './identity.ts'

/** How a client authenticates to the token endpoint. */
export type ClientAuth = 'basic' | 'post' | 'none'

/** Options of a client at its provider. */
export interface ClientOptions {
  /** The identifier that the provider has given to this application. */
  readonly clientId: string | undefined
  /** Required except for `clientAuth: 'none'`. */
  readonly clientSecret?: string | undefined
  /**
   * Where the client secret is: in `Authorization` (`basic`, the default) or in the body (`post`). `none` is for a public
   * client, which has no secret.
   */
  readonly clientAuth?: ClientAuth | undefined
  /** Further parameters of the authorization request, such as `{ access_type: 'offline' }` (default none). */
  readonly params?: Readonly<Record<string, string>> | undefined
}

/** A provider with OpenID Connect. Its endpoints and keys are those of its discovery document. */
export interface IssuerOptions extends ClientOptions {
  /** The issuer, such as `https://accounts.google.com`. `http:` is only for `localhost`, `127.0.0.1` and `[::1]`. */
  readonly issuer: string
  /** The scopes; `openid` is one of them (default `openid`). */
  readonly scope?: string | undefined
}

/** A provider with OAuth 2.0 alone, such as GitHub. */
export interface EndpointOptions extends ClientOptions {
  /** The URL of the page where users sign in and consent. */
  readonly authorizationEndpoint: string
  /** The URL that redeems a code for tokens. */
  readonly tokenEndpoint: string
  /** The URL that describes the user of an access token, as an object of JSON. */
  readonly userinfoEndpoint: string
  /** The scopes (default none). */
  readonly scope?: string | undefined
  /** Reads the user in the response of the userinfo endpoint. If it throws, that is the error of the request. */
  readonly identify: (user: Claims) => UserFacts | Promise<UserFacts>
}

/** Options of a provider. */
export type ProviderOptions = IssuerOptions | EndpointOptions

const CLIENT_OPTIONS = ['clientId', 'clientSecret', 'clientAuth', 'scope', 'params']
const ENDPOINTS = ['authorizationEndpoint', 'tokenEndpoint', 'userinfoEndpoint'] as const

// The parameters that only the protocol sets. `request` and `response_mode` would replace what is checked here.
const PROTOCOL_PARAMETERS: readonly string[] = [
  'response_type',
  'response_mode',
  'client_id',
  'client_secret',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'request',
  'request_uri',
]

/** @throws {TypeError} If an option of a provider is missing, misspelt or unsafe; the message names it. */
export function checkProvider(name: string, options: ProviderOptions): void {
  const expect = (isValid: boolean, option: string, expected: string): void => {
    if (isValid) return
    throw new TypeError(`Expected "${option}" of the provider "${name}" to be ${expected}`)
  }
  if (!isObject(options)) {
    throw new TypeError(`Expected the provider "${name}" to be an object`)
  }
  const isIssuer = 'issuer' in options
  const others = isIssuer ? ['issuer'] : [...ENDPOINTS, 'identify']
  checkNames(`options of the provider "${name}"`, options, [...CLIENT_OPTIONS, ...others])
  const { clientId, clientSecret, clientAuth = 'basic', scope, params } = options
  expect(isText(clientId), 'clientId', 'a string')
  expect(['basic', 'post', 'none'].includes(clientAuth), 'clientAuth', '"basic", "post" or "none"')
  if (clientAuth === 'none') {
    expect(clientSecret === undefined, 'clientSecret', 'absent with "clientAuth": "none"')
  } else expect(isText(clientSecret), 'clientSecret', 'a string')
  expect(scope === undefined || isScope(scope), 'scope', 'names with one space between')
  checkParams(name, params ?? {})
  if (isIssuer) {
    expect(isSafeUrl(options.issuer, /[?#]/), 'issuer', URL_EXPECTED)
    const scopes = (scope ?? 'openid').split(' ')
    expect(scopes.includes('openid'), 'scope', 'a list with "openid", because it has an "issuer"')
    return
  }
  for (const endpoint of ENDPOINTS) {
    expect(isSafeUrl(options[endpoint], /#/), endpoint, URL_EXPECTED)
  }
  expect(typeof options.identify === 'function', 'identify', 'a function')
}

function checkParams(name: string, params: Readonly<Record<string, string>>): void {
  if (!isRecord(params)) {
    throw new TypeError(`Expected "params" of the provider "${name}" to be an object`)
  }
  for (const [parameter, value] of Object.entries(params)) {
    if (PROTOCOL_PARAMETERS.includes(parameter)) {
      throw new TypeError(
        `Expected "params" of the provider "${name}" without "${parameter}": the protocol sets it`,
      )
    }
    const isNumber = parameter === 'max_age'
    if (typeof value === 'string' && (!isNumber || /^\d{1,9}$/.test(value))) continue
    throw new TypeError(
      `Expected "params.${parameter}" of the provider "${name}" to be a string${isNumber ? ' of digits' : ''}`,
    )
  }
}

const URL_EXPECTED =
  'a URL that begins with "https:" (or "http:" for localhost, 127.0.0.1 and [::1])'

/** Reports whether a value is a URL of HTTPS, or of HTTP to this machine, without user and password. */
export function isSafeUrl(value: unknown, forbidden: RegExp, mayBeHttp = true): value is string {
  // Rejects white space: URL() drops it, but the provider compares the text.
  if (typeof value !== 'string' || !URL.canParse(value) || /\s/.test(value)) return false
  if (forbidden.test(value)) return false
  const url = new URL(value)
  if (url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (mayBeHttp && url.protocol === 'http:' && isLocalUrl(url))
}

// RFC 6749, section 3.3.
function isScope(value: unknown): boolean {
  return typeof value === 'string' && /^[!#-[\]-~]+(?: [!#-[\]-~]+)*$/.test(value)
}
