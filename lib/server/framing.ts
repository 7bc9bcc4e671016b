import type { IncomingMessage } from 'node:http'
import { HttpError } from '../http/errors.ts'

/** How much a header section may hold. */
export interface HeaderLimits {
  /** Bytes of all field lines (default 16,384); beyond it 431. */
  readonly maxHeaderBytes: number
  /** Field lines (default 100); beyond it 431. */
  readonly maxHeaderFields: number
}

export const DEFAULT_HEADER_LIMITS: HeaderLimits = { maxHeaderBytes: 16_384, maxHeaderFields: 100 }

// RFC 9110, section 7.2; what a registered name or an address may be written with.
const HOST = /^(?:[\w.~%!$&'()*+,;=-]+|\[[0-9a-f:.]+\])(?::\d{0,5})?$/i

// Clients name the same host again and again: to look at it anew took 1 % of the time of a small request.
let knownHost = ''

/** What the header section of a message says about where it ends, and what follows it. */
export interface Framing {
  /** Why it must not be served although `node:http` parsed it; undefined where all is well. */
  readonly rejection: HttpError | undefined
  /** Whether another protocol may follow it on the connection. */
  readonly upgrades: boolean
  /** How long the body is that follows it; undefined where only its end will tell. */
  readonly bodyBytes: number | undefined
}

/**
 * Reads the framing of a message again: RFC 9112 tells a server to refuse some of what `node:http`
 * parses, and a proxy in front may have read it differently.
 */
export function readFraming(
  { httpVersion, rawHeaders }: Pick<IncomingMessage, 'httpVersion' | 'rawHeaders'>,
  limits: HeaderLimits,
): Framing {
  const fields: Fields = {
    bytes: 0,
    hosts: 0,
    host: '',
    lengths: 0,
    length: '',
    codings: 0,
    coding: '',
    upgrades: false,
    isUnexpected: false,
  }
  for (let i = 0; i < rawHeaders.length; i += 2) {
    count(fields, rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '')
  }
  return {
    rejection:
      versionError(httpVersion) ??
      sizeError(rawHeaders.length / 2, fields.bytes, limits) ??
      hostError(fields, httpVersion) ??
      codingError(fields, httpVersion) ??
      expectationError(fields),
    upgrades: fields.upgrades,
    bodyBytes: fields.codings > 0 ? undefined : Number(fields.length),
  }
}

// Of what may stand there once: how often it did, and the last one.
interface Fields {
  bytes: number
  hosts: number
  host: string
  lengths: number
  length: string
  codings: number
  coding: string
  upgrades: boolean
  isUnexpected: boolean
}

// The length first: most names are told apart by it, without a string being made.
function count(fields: Fields, name: string, value: string): void {
  // Each line has a colon, a space, CR and LF besides.
  fields.bytes += name.length + value.length + 4
  switch (name.length) {
    case 4:
      if (name === 'Host' || name.toLowerCase() === 'host') {
        fields.hosts++
        fields.host = value
      }
      break
    case 6:
      if (name.toLowerCase() === 'expect' && value.toLowerCase() !== '100-continue') {
        fields.isUnexpected = true
      }
      break
    case 7:
      if (name.toLowerCase() === 'upgrade') fields.upgrades = true
      break
    case 14:
      if (name === 'Content-Length' || name.toLowerCase() === 'content-length') {
        fields.lengths++
        fields.length = value
      }
      break
    case 17:
      if (name.toLowerCase() === 'transfer-encoding') {
        fields.codings++
        fields.coding = value
      }
  }
}

function versionError(httpVersion: string): HttpError | undefined {
  return httpVersion === '1.1' || httpVersion === '1.0'
    ? undefined
    : new HttpError(505, 'Expected HTTP/1.1 or HTTP/1.0')
}

// Node drops the fields past its own limit in silence, so that limit is off and this one counts.
function sizeError(
  fields: number,
  bytes: number,
  { maxHeaderFields, maxHeaderBytes }: HeaderLimits,
): HttpError | undefined {
  if (fields > maxHeaderFields) {
    return new HttpError(431, `The request has more than ${maxHeaderFields} header fields`)
  }
  return bytes > maxHeaderBytes
    ? new HttpError(431, `The header section is larger than ${maxHeaderBytes} bytes`)
    : undefined
}

function hostError({ hosts, host }: Fields, httpVersion: string): HttpError | undefined {
  if (hosts > 1) return new HttpError(400, 'More than one header "Host"')
  if (hosts === 0) {
    return httpVersion === '1.1' ? new HttpError(400, 'The header "Host" is missing') : undefined
  }
  if (host !== knownHost && !HOST.test(host)) {
    return new HttpError(400, 'The header "Host" is malformed')
  }
  knownHost = host
  return undefined
}

function codingError(
  { codings, coding, lengths }: Fields,
  httpVersion: string,
): HttpError | undefined {
  if (codings === 0) return undefined
  // A proxy of HTTP/1.0 passes the field on without knowing it, and takes the chunks for a request.
  if (httpVersion === '1.0') return new HttpError(400, 'HTTP/1.0 has no transfer codings')
  if (lengths > 0) return new HttpError(400, 'The body has two lengths')
  return codings === 1 && coding.toLowerCase() === 'chunked'
    ? undefined
    : new HttpError(501, 'Expected the transfer coding "chunked"')
}

function expectationError({ isUnexpected }: Fields): HttpError | undefined {
  return isUnexpected ? new HttpError(417, 'Expected the expectation "100-continue"') : undefined
}
