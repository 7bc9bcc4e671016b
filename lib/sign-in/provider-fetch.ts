import { once } from '../session/optional-package.ts'
import { withDeadline } from './deadline.ts'
import { ProviderFault } from './faults.ts'

/** The function that `oauth4webapi` and `jose` call in place of `fetch()`. */
export type ProviderFetch = (url: string, init: FetchInit) => Promise<Response>

/** The options that `oauth4webapi` and `jose` set. */
interface FetchInit {
  readonly method: string
  readonly headers: Headers | Readonly<Record<string, string>>
  readonly body?: unknown
}

const MAX_BYTES = 1_048_576
// Matches `application/jwk-set+json` too (RFC 7517, section 8.5).
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i
const LATE_CODES: readonly unknown[] = [
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]

// The application may have given the dispatcher an interceptor that follows redirects. The types of undici lack the option.
const NO_REDIRECTS = { maxRedirections: 0 }

const loadUndici = once(() => import('undici'))

/**
 * Creates a function that sends a request to a provider through the global dispatcher of undici. It follows no redirect,
 * and reads the whole response.
 *
 * It throws a {@link ProviderFault}: 504 if the response is not complete in time, else 502.
 */
export function createProviderFetch(timeoutMs: number): ProviderFetch {
  return async (url, init) => {
    const { request } = await loadUndici()
    return withDeadline(timeoutMs, async (signal) => {
      try {
        const { statusCode, headers, body } = await request(url, {
          ...NO_REDIRECTS,
          method: init.method as 'GET' | 'POST',
          // A compressed response could become much larger.
          headers: {
            ...Object.fromEntries(new Headers(init.headers)),
            'accept-encoding': 'identity',
          },
          body: init.body ? String(init.body) : null,
          signal,
        })
        const bytes = await readAll(body)
        return toResponse(statusCode, String(headers['content-type'] ?? ''), bytes)
      } catch (thrown) {
        throw faultOf(thrown, signal.aborted)
      }
    })
  }
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    // The loop destroys the body, and undici closes the connection.
    if (length > MAX_BYTES) throw new ProviderFault('more than 1 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function toResponse(status: number, contentType: string, bytes: Buffer): Response {
  if (status >= 300 && status < 400) throw new ProviderFault('redirect')
  // A Response can have no other status, and none of these has a body.
  if (status < 200 || status > 599 || status === 204 || status === 205) {
    throw new ProviderFault('unexpected status')
  }
  // Rejects a userinfo response that is a JWT too: only a client that has registered for it receives one.
  if (status === 200 && !JSON_TYPE.test(contentType)) throw new ProviderFault('no JSON')
  return new Response(new Uint8Array(bytes), { status, headers: { 'content-type': contentType } })
}

function faultOf(thrown: unknown, isAborted: boolean): ProviderFault {
  if (thrown instanceof ProviderFault) return thrown
  const { code } = thrown as { readonly code?: unknown }
  if (isAborted || LATE_CODES.includes(code)) return new ProviderFault('too late', 504)
  // The code, such as ENOTFOUND, is safe to report: Node or undici has chosen it, and not the provider.
  return new ProviderFault(code === undefined ? 'unreachable' : `unreachable, ${code}`)
}
