import { HttpError, HttpRequest, HttpResponse } from 'portico'
import { errors, Pool } from 'undici'

/** @import { Controllers, FrontController, Handler } from 'portico' */
/** @import { Dispatcher } from 'undici' */

/**
 * @typedef {object} StranglerOptions
 * @property {string} origin Where the old server listens, such as `http://127.0.0.1:8000`.
 * @property {ReadonlySet<string>} moved What is answered here: `news` is a controller, `admin/report` one of
 * a module, `news/list` a single action.
 * @property {boolean} [behindProxy] Whether a proxy stands in front, and nobody else can reach this server:
 * what it says in `X-Forwarded-*` is then passed on (default: it is replaced).
 * @property {number} [timeoutMs] Milliseconds until the old server must begin to answer, and between two
 * pieces of an answer (default 25,000: below the `socketTimeoutMs` of `serve()`).
 */

/**
 * A handler for a site on the move: what has moved is answered by the front controller, all else by
 * the old server. Around the front controller and not inside of it, so that what the old server is
 * asked was not read, decoded or refused here: a path in Latin-1, a huge upload, a form of any kind.
 *
 * @param {FrontController} front
 * @param {StranglerOptions} options
 * @returns {Handler & { close(): Promise<void> }}
 */
export function createStrangler(front, { origin, moved, behindProxy = false, timeoutMs = 25_000 }) {
  const old = new Pool(origin, {
    connect: { timeout: 5_000 },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })
  return {
    async handle(request) {
      if (staysHere(request, moved)) return front.handle(request)
      try {
        return await ask(old, request, headersFor(request, behindProxy))
      } catch (error) {
        return front.handle(failed(request, error))
      }
    },
    report: (error, about) => front.report(error, about),
    flush: () => front.flush(),
    close: () => old.close(),
  }
}

/**
 * The names of all controllers that can be asked for, as {@link createStrangler} takes them.
 *
 * @param {{ controllers: Controllers, modules: ReadonlyMap<string, Controllers> }} directory
 * @returns {Set<string>}
 */
export function namesOf({ controllers, modules }) {
  const own = [...controllers.keys()].filter((name) => name !== 'error')
  const others = [...modules].flatMap(([module, each]) =>
    [...each.keys()].map((name) => `${module}/${name}`),
  )
  return new Set([...own, ...others])
}

/**
 * @param {HttpRequest} request
 * @param {ReadonlySet<string>} moved
 */
function staysHere({ rejection, method, target }, moved) {
  // Two servers might not agree on where a message of doubtful framing ends; TRACE would mirror our headers.
  if (rejection !== undefined || method === 'TRACE' || !target.startsWith('/')) return true
  // Slashes at the start and an empty name mean what they mean to the router.
  const [path = ''] = target.split('?', 1)
  const [first = '', second = ''] = path.replace(/^\/+/, '').split('/', 2)
  return moved.has(first || 'index') || moved.has(`${first}/${second || 'index'}`)
}

/**
 * @param {Dispatcher} old
 * @param {HttpRequest} request
 * @param {Record<string, string | string[]>} headers
 */
async function ask(old, request, headers) {
  const answer = await old.request({
    path: request.target,
    method: /** @type {Dispatcher.HttpMethod} */ (request.method),
    headers,
    body: hasBody(request) ? request.body : null,
    signal: request.signal,
  })
  const response = new HttpResponse()
  response.body = answer.body
  response.status = answer.statusCode
  for (const [name, value] of Object.entries(endToEnd(answer.headers))) {
    response.headers.set(name, value)
  }
  return response
}

/** @param {HttpRequest} request */
function hasBody({ headers }) {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * `Host` stays as it came: the old site makes its links and cookies of it.
 *
 * @param {HttpRequest} request
 * @param {boolean} behindProxy
 */
function headersFor({ headers, client }, behindProxy) {
  const { forwarded: _, expect: __, ...sent } = endToEnd(headers)
  if (!behindProxy) {
    sent['x-forwarded-for'] = client.address
    sent['x-forwarded-proto'] = client.protocol
    sent['x-forwarded-host'] = client.host
  }
  return sent
}

// RFC 9110, section 7.6.1: what is meant for this connection alone, and what `Connection` names besides.
const HOP_BY_HOP = [
  ...['connection', 'proxy-connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding'],
  ...['upgrade', 'proxy-authenticate', 'proxy-authorization'],
]

/**
 * @param {Readonly<Record<string, string | readonly string[] | undefined>>} headers
 * @returns {Record<string, string | string[]>}
 */
function endToEnd(headers) {
  const named = String(headers.connection ?? '').split(',')
  const dropped = new Set([...HOP_BY_HOP, ...named.map((name) => name.trim().toLowerCase())])
  const kept = Object.entries(headers).filter(([name]) => !dropped.has(name))
  return Object.fromEntries(kept.map(([name, value = '']) => [name, unfrozen(value)]))
}

/** @param {string | readonly string[]} value */
function unfrozen(value) {
  return typeof value === 'string' ? value : [...value]
}

/**
 * The same request, for the front controller to refuse: so `error/error` answers, and it is reported.
 *
 * @param {HttpRequest} request
 * @param {unknown} error
 */
function failed({ method, target, headers, client, signal }, error) {
  const { address: remoteAddress } = client
  const rejection = signal.aborted ? signal.reason : toHttpError(error)
  return new HttpRequest({ method, target, headers, signal, remoteAddress, rejection })
}

/** @param {unknown} cause */
function toHttpError(cause) {
  if (cause instanceof HttpError) return cause
  const isLate =
    cause instanceof errors.HeadersTimeoutError || cause instanceof errors.ConnectTimeoutError
  return isLate
    ? new HttpError(504, 'The old server did not answer in time', { cause })
    : new HttpError(502, 'The old server did not answer', { cause })
}
