import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import {
  type ErrorReport,
  FrontController,
  type FrontControllerOptions,
  HttpRequest,
  type HttpResponse,
  type Plugin,
} from '../../lib/index.ts'
import { type SignIn, type SignInOptions, signIn } from '../../lib/sign-in.ts'
import { Browser, type Page } from './browser.ts'
import { type ChannelMessage, collectLog, collectMessages, collectReports } from './collectors.ts'
import { type Faults, type HostileProvider, startHostileProvider } from './hostile-provider.ts'
import { startServing } from './serving.ts'

/** The origin of the application. Its browsers find it at a port of this machine. */
export const ORIGIN = 'https://news.example'
export const ADDRESS = `${ORIGIN}/elp/oauth.php`
export const SECRET = 'a secret of exactly 32 bytes !!!'
/** The options of a provider of OpenID Connect, and of one that only has OAuth 2.0. No test connects to them. */
export const OIDC = {
  issuer: 'https://idp.example',
  clientId: 'a',
  clientSecret: 'b',
  scope: 'openid',
}
export const OAUTH = {
  authorizationEndpoint: 'https://idp.example/a',
  tokenEndpoint: 'https://idp.example/t',
  userinfoEndpoint: 'https://idp.example/u',
  clientId: 'a',
  clientSecret: 'b',
  scope: 'x',
  identify: () => ({ subject: 'a' }),
}

/** An application whose users sign in. */
export interface App {
  readonly auth: SignIn
  readonly front: FrontController
  readonly reports: readonly ErrorReport[]
  /** Everything that the application has logged, reported and published. */
  readonly sinks: readonly (readonly unknown[])[]
  /** The exceptions that its error action has received. */
  readonly exceptions: readonly Error[]
  readonly port: number
  /** Creates a browser that finds the application, and further origins at the base URLs of their servers. */
  browser(hosts?: Readonly<Record<string, string>>): Browser
}

/** What an application has besides its sign-in. */
export interface AppOptions extends FrontControllerOptions {
  readonly guarded?: (request: HttpRequest) => boolean
}

/**
 * Serves an application until the test ends. `/index/who` shows the identity of the session as JSON; `/admin/...` is guarded.
 */
export async function startApp(
  t: TestContext,
  options: Partial<SignInOptions> & Pick<SignInOptions, 'providers'>,
  { guarded = ({ module }) => module === 'admin', plugins = [], ...frontOptions }: AppOptions = {},
): Promise<App> {
  const auth = signIn({ origin: ORIGIN, secrets: [SECRET], ...options })
  const { reports, onReport } = collectReports()
  const { entries, logger } = collectLog()
  const exceptions: Error[] = []
  const collectExceptions: Plugin = {
    preDispatch: ({ errorHandler }) =>
      void (errorHandler && exceptions.push(errorHandler.exception)),
  }
  const messages: readonly ChannelMessage[] = collectMessages(t)
  const front = new FrontController({
    controllers: { elp: auth.controller, index: createIndex(auth) },
    modules: { admin: { index: { index: showSecret } } },
    plugins: [collectExceptions, ...plugins, auth.guard(guarded)],
    onReport,
    logger,
    ...frontOptions,
  })
  const { url, port } = await startServing(t, front)
  return {
    auth,
    front,
    reports,
    sinks: [reports, entries, messages],
    exceptions,
    port,
    browser: (hosts = {}) => new Browser({ ...hosts, [ORIGIN]: url }),
  }
}

/** An application whose only provider, `hostile`, breaks the rules that the test names. */
export interface HostileApp extends App {
  readonly provider: HostileProvider
}

/** Serves an application with the provider `hostile` until the test ends. */
export async function startHostileApp(
  t: TestContext,
  faults: Faults = {},
  options: Partial<SignInOptions> = {},
  frontOptions: AppOptions = {},
): Promise<HostileApp> {
  const provider = await startHostileProvider(t, faults)
  const providers = { hostile: provider.options, ...options.providers }
  return { provider, ...(await startApp(t, { ...options, providers }, frontOptions)) }
}

/** Returns the address that begins a sign-in. */
export function beginning(provider = 'hostile', parameters: Record<string, string> = {}): string {
  return `${ADDRESS}?${new URLSearchParams({ provider, ...parameters })}`
}

/** Begins a sign-in and lets the user consent. Returns the address of the return, which the browser has not opened yet. */
export function depart(browser: Browser, begin: string = beginning()): Promise<URL> {
  return browser.openUntilReturn(ORIGIN, begin)
}

/** Signs in, and returns the response to the return. */
export async function signInOnce(browser: Browser, begin: string = beginning()): Promise<Page> {
  return goBack(browser, await depart(browser, begin))
}

/** Opens the address of a return. */
export function goBack(browser: Browser, address: URL): Promise<Page> {
  return browser.send(address, { site: 'cross-site' })
}

/** Returns the identity of the session; null if there is none. */
export async function identityOf(browser: Browser): Promise<Record<string, unknown> | null> {
  const page = await browser.send(`${ORIGIN}/index/who`)
  assert.equal(page.status, 200, page.body)
  return JSON.parse(page.body)
}

/** Returns the names of the cookies of the application. */
export function cookieNames(browser: Browser): string[] {
  return [...browser.cookies(ORIGIN).keys()]
}

/** Asserts that a response redirects to a path of the application. */
export function assertRedirect({ status, headers, body }: Page, path: string): void {
  assert.equal(status, 303, body)
  assert.equal(headers.location?.replace(ORIGIN, ''), path, body)
}

/** Asserts that no cache keeps a response, and that no other site learns its address. */
export function assertPrivate({ headers }: Page): void {
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['referrer-policy'], 'no-referrer')
}

/** Creates a request with the cookies of a browser, for a front controller without a server. */
export function requestOf(browser: Browser, target = '/index/who'): HttpRequest {
  const cookies = [...browser.cookies(ORIGIN).values()]
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  return new HttpRequest({ target, headers: cookie === '' ? {} : { cookie } })
}

function createIndex(auth: SignIn) {
  return {
    index: (_: HttpRequest, response: HttpResponse) => void response.text('home'),
    who: async (request: HttpRequest, response: HttpResponse) =>
      response.text(JSON.stringify((await auth.identity(request)) ?? null)),
  }
}

function showSecret(_: HttpRequest, response: HttpResponse): void {
  response.text('secret')
}
