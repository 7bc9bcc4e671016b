import { BlockList, isIP } from 'node:net'
import type { RequestHeaders } from './message.ts'
import { isHost } from './request-line.ts'

/** The client of a request, as the connection or a trusted proxy describes it. */
export interface Client {
  /** The address of the peer, or the one that a trusted proxy reports. */
  readonly address: string
  /** The protocol between the client and the outermost trusted proxy. */
  readonly protocol: 'http' | 'https'
  /** The host that the client requested, with its port. */
  readonly host: string
}

/** The ids that a trusted proxy has given to a request. */
export interface ProxyIds {
  /** The `X-Request-Id` of a trusted proxy. */
  readonly requestId?: string
  /** The trace id in the `traceparent` (W3C Trace Context) of a trusted proxy: 32 hexadecimal digits. */
  readonly traceId?: string
}

// Maximum number of hops that are read, counted from the last one. No service has so many proxies.
const MAX_HOPS = 100

type Hop = Pick<Client, 'address' | 'host'> & { readonly protocol: Client['protocol'] | undefined }

/** Reports whether text is an address or a network, such as `10.0.0.0/8` or `::1`. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix = '0', ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0 || !/^\d{1,3}$/.test(prefix)) return false
  return Number(prefix) <= (family === 4 ? 32 : 128)
}

/**
 * Creates a list of addresses and networks.
 *
 * @throws {TypeError} If a text is neither an address nor a network.
 */
export function networks(texts: readonly string[]): BlockList {
  const blocks = new BlockList()
  for (const text of texts) {
    if (!isNetwork(text)) throw new TypeError(`Expected an address or a network, got "${text}"`)
    const [address = '', prefix] = text.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (prefix === undefined) blocks.addAddress(address, family)
    else blocks.addSubnet(address, Number(prefix), family)
  }
  return blocks
}

/**
 * Returns the client of a request. This is the peer of the connection, with its protocol. If the peer is a trusted
 * proxy, it is the rightmost untrusted address in `X-Forwarded-For` or `Forwarded` (RFC 7239). If a request has both
 * headers, the client sent one of them, so neither is used.
 */
export function clientOf(
  peer: string,
  headers: RequestHeaders,
  trusted: BlockList,
  protocol: Client['protocol'] = 'http',
): Client {
  let client: Client = { address: withoutPort(peer), protocol, host: String(headers.host ?? '') }
  const hasForwarded = headers.forwarded !== undefined
  const hasXForwarded = headers['x-forwarded-for'] !== undefined
  if (!isInNetworks(client.address, trusted) || hasForwarded === hasXForwarded) return client
  const hops = hasForwarded
    ? parseForwarded(String(headers.forwarded ?? ''))
    : parseXForwarded(headers)
  // Reads from right to left: the part before an untrusted address may be forged.
  for (const hop of hops.slice(-MAX_HOPS).reverse()) {
    const address = withoutPort(hop.address)
    if (isIP(address) === 0) return client
    // A hop without a valid host or protocol keeps the one of the hop to its right.
    const host = isHost(hop.host) ? hop.host : client.host
    client = { address, protocol: hop.protocol ?? client.protocol, host }
    if (!isInNetworks(address, trusted)) return client
  }
  return client
}

// Excludes white space, quotes, commas and `@`: an id is neither a list nor an e-mail address.
const REQUEST_ID = /^[\w.:/+=-]{1,128}$/

// Only later versions than 00 may have further fields; ff is not a version (W3C Trace Context, section 3.2).
const TRACEPARENT =
  /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:$|-)/

/**
 * Returns the ids in `X-Request-Id` and `traceparent`. Omits a malformed one. Omits both if the peer of the connection is not
 * a trusted proxy, because they are the only values of a request that reports and access lines show.
 */
export function proxyIdsOf(
  peer: string,
  header: (name: string) => string | undefined,
  trusted: BlockList,
): ProxyIds {
  const [requestId] = REQUEST_ID.exec(header('x-request-id') ?? '') ?? []
  const [, traceId] = TRACEPARENT.exec(header('traceparent') ?? '') ?? []
  // Checks the peer last: that takes longest, and most requests have neither header.
  if (!(requestId || traceId) || !isInNetworks(withoutPort(peer), trusted)) return {}
  return { ...(requestId && { requestId }), ...(traceId && { traceId }) }
}

function parseXForwarded(headers: RequestHeaders): Hop[] {
  const listOf = (name: string): string[] => String(headers[`x-forwarded-${name}`] ?? '').split(',')
  const host = listOf('host').at(-1)?.trim() ?? ''
  const protocol = protocolIn(listOf('proto').at(-1))
  return listOf('for').map((address) => ({ address, host, protocol }))
}

// Matches the name and the value of a pair, and the delimiter after it. The value may be quoted (RFC 7239, section 4).
const PAIR = / ?([^ =;,"]*) ?(?:= ?(?:"((?:[^"\\]|\\.)*)"|([^ ;,"]*)))? ?([;,]|$)/y

// Does not use split(): the client chooses the host, and a quoted host may hold a comma and an address.
function parseForwarded(value: string): Hop[] {
  const line = value.replace(/\s+/g, ' ')
  const hops: { for?: string; host?: string; proto?: string }[] = [{}]
  for (PAIR.lastIndex = 0; PAIR.lastIndex < line.length; ) {
    const [, name = '', quoted, plain, end] = PAIR.exec(line) ?? []
    // The header is malformed: none of its hops is reliable.
    if (end === undefined) return []
    const hop = hops.at(-1) ?? {}
    const key = name.toLowerCase()
    if (key === 'for' || key === 'host' || key === 'proto')
      hop[key] ??= quoted?.replace(/\\(.)/g, '$1') ?? plain ?? ''
    if (end === ',') hops.push({})
  }
  return hops.map(({ for: address = '', host = '', proto }) => ({
    address,
    host,
    protocol: protocolIn(proto),
  }))
}

function protocolIn(value = ''): Client['protocol'] | undefined {
  const protocol = value.trim().toLowerCase()
  return protocol === 'http' || protocol === 'https' ? protocol : undefined
}

// Removes a port and the brackets of an IPv6 address, and the prefix of an IPv4 address mapped to IPv6.
function withoutPort(address: string): string {
  const text = address.trim()
  const bare = /^\[([^\]]*)\]/.exec(text)?.[1] ?? text
  return bare.replace(/^::ffff:(?=\d+\.)/i, '').replace(/^([\d.]+):\d+$/, '$1')
}

/** Reports whether a text is an address in one of the networks. */
export function isInNetworks(address: string, networks: BlockList): boolean {
  const family = isIP(address)
  return family !== 0 && networks.check(address, family === 4 ? 'ipv4' : 'ipv6')
}
