import type { IncomingMessage } from 'node:http'
import { type HttpError, rejectionWith } from '../http/errors.ts'
import { isHost, originOf } from '../http/request-line.ts'

/** Limits of the request line and the header section. */
export interface HeaderLimits {
  /** Maximum bytes of all field lines (default 16,384); beyond it 431. */
  readonly maxHeaderBytes: number
  /** Maximum field lines (default 100); beyond it 431. */
  readonly maxHeaderFields: number
  /** Maximum bytes of a request target (default: only that of the handler); beyond it 414. */
  readonly maxTargetBytes?: number | undefined
}

export const DEFAULT_HEADER_LIMITS: HeaderLimits = {
  maxHeaderBytes: 16_384,
  maxHeaderFields: 100,
  maxTargetBytes: undefined,
}

type Head = Pick<IncomingMessage, 'httpVersion' | 'rawHeaders' | 'url'>

/** The facts about the end of a message that its header section states. */
export interface Framing {
  /** The error that rejects a message that `node:http` has parsed; undefined if it is valid. */
  readonly rejection: HttpError | undefined
  /** Whether another protocol may follow the message on its connection. */
  readonly upgrades: boolean
  /** Length of the body in bytes; undefined for a chunked body, and after too many fields. */
  readonly bodyBytes: number | undefined
  /** Whether the client waits for a 100 (Continue) that `node:http` has left to the listener. */
  readonly expectsContinue: boolean
}

// The messages of the event `checkContinue`. One set for all listeners: a handler may pass a message to another one.
const expecting = new WeakSet<Head>()

/** Records that `node:http` has left the 100 (Continue) for a message to its listener. */
export function recordExpectation(message: IncomingMessage): void {
  expecting.add(message)
}

/**
 * Checks the framing of a message that `node:http` has parsed.
 *
 * `node:http` accepts some messages that a server must reject (RFC 9112), and that a proxy in front
 * may have read differently.
 */
export function readFraming(message: Head, limits: HeaderLimits): Framing {
  const { rawHeaders } = message
  const fields = new Fields()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    recordField(fields, rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '')
  }
  // If there are too many fields, node:http may have dropped the one with the length.
  const isUnknown = fields.codings > 0 || rawHeaders.length / 2 > limits.maxHeaderFields
  return {
    rejection: rejectionOf(message, fields, limits),
    upgrades: fields.upgrades,
    // Number('') is 0 too, but V8 calls its runtime for it.
    bodyBytes: isUnknown ? undefined : Number(fields.length || 0),
    expectsContinue: expecting.has(message),
  }
}

/** Reports whether a trailer closes the connection: the parser of `node:http` then accepts no further message. */
export function closesByTrailer({ rawTrailers }: Pick<IncomingMessage, 'rawTrailers'>): boolean {
  // Creates no function for a message without trailers, as most are.
  if (rawTrailers.length === 0) return false
  return rawTrailers.some(
    (name, i) =>
      i % 2 === 0 &&
      /^(?:proxy-)?connection$/i.test(name) &&
      /close/i.test(rawTrailers[i + 1] ?? ''),
  )
}

// Stores the number of occurrences and the last value of a field that may occur only once.
class Fields {
  bytes = 0
  hosts = 0
  host = ''
  lengths = 0
  length = ''
  codings = 0
  coding = ''
  upgrades = false
  hasUnknownExpectation = false
}

// Compares the first letter before it creates a lower-case string. The caller has compared the length: this leaves nearly no other name.
function isNamed(name: string, lower: string): boolean {
  const first = name.charCodeAt(0) | 0x20
  return first === lower.charCodeAt(0) && name.toLowerCase() === lower
}

function recordField(fields: Fields, name: string, value: string): void {
  // The 4 bytes are the colon, the space, CR and LF.
  fields.bytes += name.length + value.length + 4
  switch (name.length) {
    case 4:
      if (name === 'Host' || isNamed(name, 'host')) {
        fields.hosts++
        fields.host = value
      }
      break
    case 6:
      if (isNamed(name, 'expect') && value.toLowerCase() !== '100-continue') {
        fields.hasUnknownExpectation = true
      }
      break
    case 7:
      if (isNamed(name, 'upgrade')) fields.upgrades = true
      break
    case 14:
      if (name === 'Content-Length' || isNamed(name, 'content-length')) {
        fields.lengths++
        fields.length = value
      }
      break
    case 17:
      if (isNamed(name, 'transfer-encoding')) {
        fields.codings++
        fields.coding = value
      }
  }
}

// Returns the error for the first rule that a message violates; undefined if it is valid.
function rejectionOf(
  { httpVersion, rawHeaders, url = '' }: Head,
  { bytes, hosts, host, lengths, codings, coding, hasUnknownExpectation }: Fields,
  { maxHeaderFields, maxHeaderBytes }: HeaderLimits,
): HttpError | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return rejectionWith(505, 'Expected HTTP/1.1 or HTTP/1.0')
  }
  // node:http drops fields past its own limit silently, so that of serve() is higher.
  if (rawHeaders.length / 2 > maxHeaderFields) {
    return rejectionWith(431, `The request has more than ${maxHeaderFields} header fields`)
  }
  if (bytes > maxHeaderBytes) {
    return rejectionWith(431, `The header section is larger than ${maxHeaderBytes} bytes`)
  }
  if (hosts > 1) return rejectionWith(400, 'More than one header "Host"')
  if (hosts === 1 && !isHost(host)) return rejectionWith(400, 'The header "Host" is malformed')
  if (hosts === 0 && httpVersion === '1.1') {
    return rejectionWith(400, 'The header "Host" is missing')
  }
  const origin = originOf(url)
  // User information is not allowed either (RFC 9110, section 4.2.4).
  if (origin !== undefined && !isHost(origin.replace(/^https?:\/\//i, ''))) {
    return rejectionWith(400, 'The host of the request target is malformed')
  }
  // An HTTP/1.0 proxy does not know this field: it forwards it, and reads the chunks as a request.
  if (codings > 0 && httpVersion === '1.0') {
    return rejectionWith(400, 'HTTP/1.0 has no transfer codings')
  }
  if (codings > 0 && lengths > 0) {
    return rejectionWith(400, 'The request has both "Content-Length" and "Transfer-Encoding"')
  }
  if (codings > 1 || (codings === 1 && coding.toLowerCase() !== 'chunked')) {
    return rejectionWith(501, 'Expected the transfer coding "chunked"')
  }
  return hasUnknownExpectation
    ? rejectionWith(417, 'Expected the header "Expect" to be "100-continue"')
    : undefined
}
