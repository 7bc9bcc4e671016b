import { BlockList } from 'node:net'
import { isInNetworks } from './forwarded.ts'
import { type HttpRequest, stateOf } from './request.ts'
import { authorityOf } from './request-line.ts'

// Does not use networks(): it calls isIP(), whose regular expressions take 4 ms of the start.
const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

// Matches the name of a header that a proxy adds.
const PROXY_HEADER =
  /forwarded|client-?ip|(?:connecting|real|user)-ip|^(?:via|cdn-loop|x-(?:envoy|original|scheme).*)$/

/** Reports whether a host is this machine: `localhost`, a name below it, or a loopback address. */
export function isLoopback(host: string): boolean {
  const address = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/^::ffff:(?=\d)/, '')
  return isInNetworks(address, LOOPBACK) || /^(?:[a-z0-9-]+\.)*localhost$/.test(address)
}

/**
 * Reports whether a request was sent on this machine: from a loopback address, not through a proxy, and for a loopback
 * host. Another host means a tunnel, or a name of a foreign site that points to this machine (DNS rebinding).
 */
export function isLocal(request: HttpRequest): boolean {
  const { source, headers, target } = stateOf(request).message
  if (!isLoopback(source.remoteAddress ?? '')) return false
  if (Object.keys(headers).some((name) => PROXY_HEADER.test(name))) return false
  return isLoopback(String(authorityOf(target) ?? headers.host ?? '').replace(/:\d*$/, ''))
}
