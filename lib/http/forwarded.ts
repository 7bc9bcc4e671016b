import { BlockList, isIP } from 'node:net'

/** Who asks, as far as it can be known. */
export interface Client {
  /** The address of the client: of the peer, or as a trusted proxy tells it. */
  readonly address: string
  /** What the client speaks to the outermost trusted proxy. */
  readonly protocol: 'http' | 'https'
  /** The host that the client asked for, port and all. */
  readonly host: string
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** Whether text is an address or a network, such as `10.0.0.0/8` or `::1`. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more !== undefined) return false
  return (
    prefix === undefined ||
    (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128))
  )
}

/** @throws {TypeError} If one is neither an address nor a network. */
export function networks(texts: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of texts) {
    if (!isNetwork(text)) throw new TypeError(`Expected an address or a network, got "${text}"`)
    const [address = '', prefix] = text.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

/**
 * Who asks: the peer of the connection, or, where that is a trusted proxy, the last address before the
 * trusted ones in `X-Forwarded-For` or in `Forwarded` (RFC 7239). Where both are there, one of them came
 * from the client, so neither counts.
 */
export function clientOf(peer: string, headers: Headers, trusted: BlockList): Client {
  const direct: Client = { address: bare(peer), protocol: 'http', host: text(headers.host) }
  const hasForwarded = headers.forwarded !== undefined
  const hasOthers = headers['x-forwarded-for'] !== undefined
  if (!isTrusted(direct.address, trusted) || hasForwarded === hasOthers) return direct
  const hops = hasForwarded ? readForwarded(text(headers.forwarded)) : readOthers(headers)
  // From the right: what stands left of an untrusted address was written by anybody.
  let client = direct
  for (const hop of hops.reverse()) {
    if (isIP(hop.address) === 0) return client
    client = { ...client, ...hop }
    if (!isTrusted(hop.address, trusted)) return client
  }
  return client
}

type Hop = Pick<Client, 'address'> & Partial<Client>

function readOthers(headers: Headers): Hop[] {
  const addresses = text(headers['x-forwarded-for']).split(',')
  const host = text(headers['x-forwarded-host']).split(',').at(-1)?.trim()
  const protocol = protocolOf(text(headers['x-forwarded-proto']).split(',').at(-1))
  return addresses.map((address) => hopOf(address, host, protocol))
}

// What it does not tell is left to the hop before it.
function hopOf(address: string, host: string | undefined, protocol: Hop['protocol']): Hop {
  return {
    address: bare(address),
    ...(host ? { host } : {}),
    ...(protocol ? { protocol } : {}),
  }
}

// Name and value of a pair, the value quoted or not, and what stands behind it (RFC 7239, section 4).
const PAIR = / ?([^ =;,"]*) ?(?:= ?(?:"((?:[^"\\]|\\.)*)"|([^ ;,"]*)))? ?([;,]|$)/y

// Not by split(): a client chooses the host, and a quoted one may hold a comma and an address.
function readForwarded(value: string): Hop[] {
  const line = value.replace(/\s+/g, ' ')
  const hops: Map<string, string>[] = [new Map()]
  for (PAIR.lastIndex = 0; PAIR.lastIndex < line.length; ) {
    const [, name = '', quoted, plain, end] = PAIR.exec(line) ?? []
    // Malformed: nobody knows what it says.
    if (end === undefined) return []
    const pairs = hops.at(-1)
    const key = name.toLowerCase()
    if (!pairs?.has(key)) pairs?.set(key, quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '')
    if (end === ',') hops.push(new Map())
  }
  return hops.map((pairs) =>
    hopOf(pairs.get('for') ?? '', pairs.get('host'), protocolOf(pairs.get('proto'))),
  )
}

function protocolOf(value = ''): Client['protocol'] | undefined {
  const protocol = value.trim().toLowerCase()
  return protocol === 'http' || protocol === 'https' ? protocol : undefined
}

// Without the port and the brackets that an IPv6 address is written with beside one, and without what
// makes an IPv4 address one of IPv6.
function bare(address: string): string {
  const text = address.trim().replace(/^::ffff:(?=\d+\.)/i, '')
  return (
    /^\[([^\]]*)\]/.exec(text)?.[1] ?? (/^[\d.]+:\d+$/.test(text) ? text.split(':')[0] : text) ?? ''
  )
}

function isTrusted(address: string, trusted: BlockList): boolean {
  const family = isIP(address)
  return family !== 0 && trusted.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

function text(value: string | readonly string[] | undefined): string {
  return value === undefined ? '' : typeof value === 'string' ? value : value.join(',')
}
