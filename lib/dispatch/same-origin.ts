import { checkNames } from '../http/check-options.ts'
import { rejectionWith } from '../http/errors.ts'
import type { HttpRequest } from '../http/request.ts'
import { headerOf } from '../http/request-readers.ts'
import { isErrorRequest } from './error-request.ts'
import type { Plugin } from './plugin.ts'

/** Options of {@link sameOrigin}. */
export interface SameOriginOptions {
  /** Further origins whose pages may send unsafe requests, such as `https://admin.example` (default none). */
  readonly origins?: readonly string[] | undefined
}

const MESSAGE = 'This request must come from a page of this site'

// The methods that change nothing (RFC 9110, section 9.2.1), so that a link of another site may use them.
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS']

/**
 * Creates a plugin that rejects cross-site requests (CSRF): a POST, PUT, PATCH or DELETE must come from a page of the
 * same origin.
 *
 * `Sec-Fetch-Site` decides if it is there: `same-origin` and `none` pass. Otherwise `Origin` must be the origin that the
 * client requested (`request.client`), or one of the list. A request with neither header gets 403. Behind
 * a proxy that ends TLS, set `trustProxy`.
 *
 * @throws {TypeError} If an option is unknown, or an origin is not one.
 */
export function sameOrigin(options: SameOriginOptions = {}): Plugin {
  checkNames('options', options, ['origins'])
  const { origins = [] } = options
  for (const origin of origins) checkOrigin(origin)
  const passes = (request: HttpRequest): boolean =>
    SAFE_METHODS.includes(request.method) || isAllowed(request, origins)
  return {
    // Before the form is read.
    routeShutdown(request) {
      if (!passes(request)) throw rejectionWith(403, MESSAGE)
    },
    // The error action may forward the rejected request, or make a forward of the original one, which has no error. Responds here,
    // because a second error would be a 500.
    preDispatch(request, response) {
      if (isErrorRequest(request) || passes(request)) return undefined
      response.status = 403
      return response.text(MESSAGE)
    },
  }
}

function isAllowed(request: HttpRequest, origins: readonly string[]): boolean {
  const site = headerOf(request, 'sec-fetch-site')
  if (site === 'same-origin' || site === 'none') return true
  const origin = headerOf(request, 'origin')
  if (origin === undefined) return false
  if (origins.includes(origin)) return true
  // A browser that sends Sec-Fetch-Site has compared the origins itself.
  return site === undefined && origin === originFor(request)
}

const DEFAULT_PORTS = { http: /:80$/, https: /:443$/ } as const

// Returns the origin that the client requested, without a default port, as browsers write it. Does not parse the host: that takes
// 0.2 s for a long one in other characters than ASCII.
function originFor({ client: { protocol, host } }: HttpRequest): string {
  return `${protocol}://${host.toLowerCase()}`.replace(DEFAULT_PORTS[protocol], '')
}

function checkOrigin(origin: string): void {
  if (URL.canParse(origin) && new URL(origin).origin === origin) return
  throw new TypeError(`Expected an origin such as "https://admin.example", got "${origin}"`)
}
