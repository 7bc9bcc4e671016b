import http from 'node:http'
import https from 'node:https'
import { ClientGoneError, HttpError, HttpRequest, HttpResponse } from 'portico'

// The start of the absolute form of a target, which contains the host (RFC 9112, section 3.2.2).
const ORIGIN = /^https?:\/\/[^/?]*\/?/i

/** @import { IncomingMessage } from 'node:http' */
/** @import { Controllers, FrontController, Handler } from 'portico' */

/**
 * @typedef {object} StranglerOptions
 * @property {string} origin URL of the old server, such as `http://127.0.0.1:8000`.
 * @property {ReadonlySet<string>} moved The names that the front controller handles: `news` is a controller,
 * `admin/report` a controller of a module, `news/list` a single action.
 * @property {boolean} [behindProxy] Whether every request comes through a trusted proxy, so that no other client can reach this server.
 * `X-Forwarded-*` headers are then passed on (default: they are replaced). Other headers about the client, such as
 * `X-Real-IP`, never are: a proxy usually leaves those of the client in place.
 * @property {number} [timeoutMs] Milliseconds to wait for the old server: for the start of its response, and
 * between two chunks (default 25,000; it must be below `socketTimeoutMs` of `serve()`).
 */

/**
 * Creates a handler for a site that moves to Portico step by step.
 *
 * The front controller handles the requests in `moved`; the old server handles all others. The handler wraps
 * the front controller, so Portico does not read, decode or reject a request for the old server: a path in
 * Latin-1, a huge upload and every kind of form pass through.
 *
 * @param {FrontController} front
 * @param {StranglerOptions} options
 * @returns {Handler}
 */
export function createStrangler(front, { origin, moved, behindProxy = false, timeoutMs = 25_000 }) {
  return {
    async handle(request) {
      if (isHandledHere(request, moved)) return front.handle(request)
      try {
        const headers = headersFor(request, behindProxy)
        const received = await forwardTo(origin, request, headers, timeoutMs)
        try {
          return toResponse(received)
        } catch (error) {
          received.destroy()
          throw error
        }
      } catch (error) {
        return front.handle(withRejection(request, error))
      }
    },
    report: (error, about) => front.report(error, about),
    flush: () => front.flush(),
  }
}

/**
 * Returns the names of all controllers that a client can request, in the form that {@link createStrangler} takes.
 *
 * @param {{ controllers: Controllers, modules: ReadonlyMap<string, Controllers> }} directory
 * @returns {Set<string>}
 */
export function controllerNames({ controllers, modules }) {
  const ofDefaultModule = [...controllers.keys()].filter((name) => name !== 'error')
  const ofModules = [...modules].flatMap(([module, each]) =>
    [...each.keys()].map((name) => `${module}/${name}`),
  )
  return new Set([...ofDefaultModule, ...ofModules])
}

/**
 * @param {HttpRequest} request
 * @param {ReadonlySet<string>} moved
 */
function isHandledHere({ rejection, method, target }, moved) {
  // With ambiguous framing, two servers may disagree where a message ends. A response to TRACE would contain the
  // headers that this server adds.
  if (rejection !== undefined || method === 'TRACE') return true
  const local = target.replace(ORIGIN, '/')
  if (!local.startsWith('/')) return true
  // Reads leading slashes and empty names as the router does.
  const [path = ''] = local.split('?', 1)
  const [first = '', second = ''] = path.replace(/^\/+/, '').split('/', 2)
  return moved.has(first || 'index') || moved.has(`${first}/${second || 'index'}`)
}

/**
 * Sends a request to the old server. Each request has its own connection: the old server may close an idle one at
 * the moment of the next request, and that request would fail.
 *
 * @param {string} origin
 * @param {HttpRequest} request
 * @param {Record<string, string | string[]>} headers
 * @param {number} timeoutMs
 * @returns {Promise<IncomingMessage>}
 */
function forwardTo(origin, request, headers, timeoutMs) {
  const { method, target, signal } = request
  const { request: send } = origin.startsWith('https:') ? https : http
  return new Promise((resolve, reject) => {
    const options = {
      method,
      path: target.replace(ORIGIN, '/'),
      headers,
      signal,
      agent: false,
      timeout: timeoutMs,
      setHost: false,
    }
    const outgoing = send(origin, options).on('error', reject)
    /** @type {IncomingMessage | undefined} */
    let received
    /** @param {Error} error */
    const fail = (error) => void (received ?? outgoing).destroy(error)
    outgoing.once('response', (response) => {
      received = response
      resolve(response)
    })
    // The request has no `Upgrade`, and without this listener node:http would not report a 101.
    outgoing.once('upgrade', (_response, socket) => {
      socket.destroy()
      reject(new HttpError(502, 'The old server changed the protocol'))
    })
    outgoing.on('timeout', () => {
      // If bytes are left, the client is late, and not the old server.
      if (received !== undefined && received.readableLength > 0) return
      fail(new HttpError(504, 'The old server did not answer in time'))
    })
    if (hasBody(request)) request.body.once('error', fail).pipe(outgoing)
    else outgoing.end()
  })
}

/** @param {IncomingMessage} received */
function toResponse(received) {
  const response = new HttpResponse()
  response.body = received
  response.status = received.statusCode ?? 502
  for (const [name, value] of Object.entries(endToEndHeaders(headersOf(received)))) {
    response.headers.set(name, value)
  }
  return response
}

/**
 * Does the same as `headersDistinct`, but also for a header with the name of a property of all objects, such as `constructor`.
 *
 * @param {IncomingMessage} received
 */
function headersOf({ rawHeaders }) {
  /** @type {Record<string, string[]>} */
  const headers = Object.create(null)
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = `${rawHeaders[i]}`.toLowerCase()
    headers[name] = [...(headers[name] ?? []), `${rawHeaders[i + 1]}`]
  }
  return headers
}

/** @param {HttpRequest} request */
function hasBody({ headers }) {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

// ZF1 routes by the first two. Libraries of PHP read `Proxy` as the proxy of their own requests (CVE-2016-5385).
const NOT_FORWARDED = ['x-original-url', 'x-rewrite-url', 'proxy', 'expect']
// Headers about the client: libraries of PHP believe them. ZF1 prefers `Client-IP` to `X-Forwarded-For`.
const ABOUT_CLIENT =
  /forwarded|-ips?$|-addr$|^(?:x-)?remote-|^(?:x-)?(?:front-end-)?https$|^x-(?:(?:url-)?scheme|client|coming-from|host)$|^cf-visitor$/
// A trusted proxy replaces these. It may pass on others, such as X-Forwarded-Port, as the client sent them.
const BY_PROXY = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host']

/**
 * Keeps the host as the client sent it: the old site builds links and cookies from it.
 *
 * @param {HttpRequest} request
 * @param {boolean} behindProxy
 */
function headersFor(request, behindProxy) {
  const { headers, client } = request
  const kept = Object.entries(endToEndHeaders(headers)).filter(
    ([name]) =>
      isUnambiguous(name) &&
      (BY_PROXY.includes(name)
        ? behindProxy
        : !NOT_FORWARDED.includes(name) && !ABOUT_CLIENT.test(name)),
  )
  const sent = Object.fromEntries(kept)
  // HTTP/1.0 has no Host, and the absolute form replaces it. Without this, node:http would send the address of the old server.
  if (sent.host === undefined || ORIGIN.test(request.target)) sent.host = client.host
  // For some methods, node:http would send a body of unknown length without framing.
  if (hasBody(request) && sent['content-length'] === undefined) {
    sent['transfer-encoding'] = 'chunked'
  }
  if (!behindProxy) {
    sent['x-forwarded-for'] = client.address
    sent['x-forwarded-proto'] = client.protocol
    sent['x-forwarded-host'] = client.host
  }
  return sent
}

// PHP has one variable for `X-Forwarded-For`, `X_Forwarded_For` and `X.Forwarded.For`: HTTP_X_FORWARDED_FOR.
// nginx ignores such names too (ignore_invalid_headers).
/** @param {string} name */
function isUnambiguous(name) {
  return /^[a-z0-9-]+$/.test(name)
}

// A client must not remove what a proxy has set, or what decides about the request.
const NOT_REMOVABLE = /^(?:host|cookie|set-cookie|authorization|content-.*|x-forwarded-.*)$/

// RFC 9110, section 7.6.1: these headers, and those that `Connection` names, belong to one connection only.
const HOP_BY_HOP = [
  ...['connection', 'proxy-connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding'],
  ...['upgrade', 'proxy-authenticate', 'proxy-authorization'],
]

/**
 * @param {Readonly<Record<string, string | readonly string[] | undefined>>} headers
 * @returns {Record<string, string | string[]>}
 */
function endToEndHeaders(headers) {
  const named = String(headers.connection ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !NOT_REMOVABLE.test(name))
  const dropped = new Set([...HOP_BY_HOP, ...named])
  const kept = Object.entries(headers).filter(([name]) => !dropped.has(name))
  return Object.fromEntries(kept.map(([name, value = '']) => [name, mutableCopy(value)]))
}

/** @param {string | readonly string[]} value */
function mutableCopy(value) {
  return typeof value === 'string' ? value : [...value]
}

/**
 * Returns the same request with a rejection. The front controller then dispatches `error/error` and reports
 * the error.
 *
 * @param {HttpRequest} request
 * @param {unknown} error
 */
function withRejection({ method, target, headers, client, signal }, error) {
  const { address: remoteAddress, protocol } = client
  const rejection = signal.aborted ? signal.reason : toHttpError(error)
  // Else the front controller, which gets no body, would report a client that leaves within its upload.
  const aborted = rejection instanceof ClientGoneError || undefined
  const init = { method, target, headers, signal, aborted, remoteAddress, protocol, rejection }
  return new HttpRequest(init)
}

/** @param {unknown} cause */
function toHttpError(cause) {
  return cause instanceof HttpError
    ? cause
    : new HttpError(502, 'The old server did not answer', { cause })
}
