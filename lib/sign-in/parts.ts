import type { Message } from '../http/message.ts'
import { type HttpRequest, stateOf } from '../http/request.ts'
import type { ResponseHeaders } from '../http/response-headers.ts'
import { CookieStore } from '../session/cookie-store.ts'
import { createSeal } from '../session/seal.ts'
import { Flows } from './flows.ts'
import type { Identity } from './identity.ts'
import type { CheckedOptions } from './options.ts'
import { Provider } from './provider.ts'

/** The parts that the members of {@link SignIn} share. */
export interface Parts {
  readonly options: CheckedOptions
  readonly providers: ReadonlyMap<string, Provider>
  readonly first: string
  readonly flows: Flows
  readonly sessions: CookieStore<Identity>
  /** The messages of this sign-in, with the name of the provider that begins it anew. */
  readonly entered: WeakMap<Message, string>
}

/** Creates the parts. */
export function createParts(options: CheckedOptions): Parts {
  const { site, path, secrets, transactionTtlMs, sessionTtlMs, providerTimeoutMs } = options
  const sealFor = (purpose: string) =>
    createSeal(secrets, `portico/sign-in ${site.origin}${path} ${purpose}`)
  const providers = new Map(
    Array.from(options.providers, ([name, each]) => [
      name,
      new Provider(name, each, providerTimeoutMs),
    ]),
  )
  const [first = ''] = providers.keys()
  return {
    options,
    providers,
    first,
    flows: new Flows({ site, seal: sealFor('flow'), ttlMs: transactionTtlMs }),
    sessions: new CookieStore({
      site,
      name: 'sign-in.session',
      seal: sealFor('session'),
      ttlMs: sessionTtlMs,
      // Not the provider: a report shows its name.
      secretsOf: ({ subject, email, name, data }) => [subject, email, name, data],
    }),
    entered: new WeakMap(),
  }
}

/** Returns the user of a request. A session of a provider that is not configured any more counts as none. */
export async function identityOf(
  { sessions, providers }: Parts,
  request: HttpRequest,
): Promise<Identity | undefined> {
  const identity = await sessions.read(request)
  return identity && providers.has(identity.provider) ? identity : undefined
}

/** Returns the path that begins a sign-in. */
export function beginPath({ options }: Parts, provider: string, path = '/'): string {
  const query = new URLSearchParams({ provider, ...(path !== '/' && { continue: path }) })
  return `${options.path}?${query}`
}

/** Returns the address that a provider sends its users back to. */
export function redirectUriOf({ options }: Parts, { name }: Provider): string {
  return `${options.site.origin}${options.path}?provider=${name}`
}

/**
 * Marks a message as one of this sign-in, so that the error page offers a link, and sets the headers of its response.
 *
 * @param finish Sets further headers (default: those of an earlier call).
 */
export function enter(
  { providers, first, entered }: Parts,
  request: HttpRequest,
  finish: ((headers: ResponseHeaders) => void) | undefined = stateOf(request).message.ending
    ?.finish,
): void {
  const { message } = stateOf(request)
  const requested = single(request.query, 'provider') ?? ''
  entered.set(message, providers.has(requested) ? requested : first)
  message.ending = {
    ...message.ending,
    hidesParams: true,
    finish(headers) {
      headers.set('Cache-Control', 'no-store').set('Referrer-Policy', 'no-referrer')
      finish?.(headers)
    },
  }
}

/** Returns the value of a parameter that was sent once, and is not empty (RFC 6749, section 3.1). */
export function single(parameters: URLSearchParams, name: string): string | undefined {
  const [value, ...others] = parameters.getAll(name)
  return others.length === 0 && value !== '' ? value : undefined
}
